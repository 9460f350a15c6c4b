// What MLIR's buffer deallocation makes of memory that a third party's operations allocate, free and write. As in
// effects.mlir.

// What is allocated is freed once, at the end; what is on the stack never is. Nothing else about memory changes.
// FREE-LABEL: func.func @own
// FREE-NEXT: arith.constant
// FREE-NEXT: %[[MADE:.*]] = tank.make
// FREE-NEXT: %[[CUP:.*]] = tank.cup
// FREE-NEXT: tank.fill %{{.*}}, %[[MADE]]
// FREE-NEXT: tank.fill %{{.*}}, %[[CUP]]
// FREE-NEXT: %[[A:.*]] = memref.load %[[CUP]]
// FREE-NEXT: tank.fill %{{.*}}, %[[CUP]]
// FREE-NEXT: %[[B:.*]] = memref.load %[[CUP]]
// FREE-NEXT: %[[S:.*]] = tank.sum %[[MADE]]
// FREE-NEXT: memref.dealloc %[[MADE]]
// FREE-NEXT: return %[[A]], %[[B]], %[[S]]
func.func @own(%v: f32) -> (f32, f32, f32) {
  %i = arith.constant 0 : index
  %made = tank.make : memref<4xf32>
  %cup = tank.cup : memref<4xf32>
  tank.fill %v, %made : memref<4xf32>
  tank.fill %v, %cup : memref<4xf32>
  %a = memref.load %cup[%i] : memref<4xf32>
  tank.fill %a, %cup : memref<4xf32>
  %b = memref.load %cup[%i] : memref<4xf32>
  %s = tank.sum %made : memref<4xf32>
  return %a, %b, %s : f32, f32, f32
}

// Each time around, in the loop.
// FREE-LABEL: func.func @loop
// FREE: scf.for
// FREE-NEXT: %[[M:.*]] = tank.make
// FREE-NEXT: tank.fill %{{.*}}, %[[M]]
// FREE-NEXT: tank.sum %[[M]]
// FREE-NEXT: memref.store
// FREE-NEXT: memref.dealloc %[[M]]
// FREE-NEXT: }
// FREE-NEXT: return
func.func @loop(%v: f32, %n: index, %out: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %m = tank.make : memref<4xf32>
    tank.fill %v, %m : memref<4xf32>
    %s = tank.sum %m : memref<4xf32>
    memref.store %s, %out[%i] : memref<?xf32>
  }
  return
}

// The caller owns what is returned: what was allocated as it is, of what is on the stack a copy.
// FREE-LABEL: func.func @returned
// FREE-NEXT: %[[M:.*]] = tank.make
// FREE-NEXT: return %[[M]]
func.func @returned() -> memref<4xf32> {
  %m = tank.make : memref<4xf32>
  return %m : memref<4xf32>
}

// FREE-LABEL: func.func @copied
// FREE-NEXT: %[[CUP:.*]] = tank.cup
// FREE-NEXT: %[[COPY:.*]] = bufferization.clone %[[CUP]]
// FREE-NEXT: return %[[COPY]]
func.func @copied() -> memref<4xf32> {
  %cup = tank.cup : memref<4xf32>
  return %cup : memref<4xf32>
}

// Freed only where the branch was taken that has allocated it.
// FREE-LABEL: func.func @branch
// FREE-SAME: (%[[C:.*]]: i1, %[[M:.*]]: memref<4xf32>)
// FREE: %[[R:.*]] = scf.if %[[C]]
// FREE-NEXT: %[[T:.*]] = tank.make
// FREE-NEXT: scf.yield %[[T]]
// FREE-NEXT: } else {
// FREE-NEXT: scf.yield %[[M]]
// FREE: tank.sum %[[R]]
// FREE: scf.if %[[C]]
// FREE-NEXT: memref.dealloc
// FREE-NOT: dealloc
func.func @branch(%c: i1, %m: memref<4xf32>) -> f32 {
  %r = scf.if %c -> memref<4xf32> {
    %t = tank.make : memref<4xf32>
    scf.yield %t : memref<4xf32>
  } else {
    scf.yield %m : memref<4xf32>
  }
  %s = tank.sum %r : memref<4xf32>
  return %s : f32
}

// The same with blocks, and through operations that MLIR knows more of than their effects.
// FREE-LABEL: func.func @blocks
// FREE: tank.make
// FREE: cf.cond_br
// FREE: memref.dealloc
// FREE: return
func.func @blocks(%c: i1, %d: i1, %m: memref<4xf32>) -> f32 {
  %made = tank.make : memref<4xf32>
  %x = arith.select %d, %made, %m : memref<4xf32>
  cf.cond_br %c, ^then, ^end(%m : memref<4xf32>)
^then:
  tank.flood
  cf.br ^end(%x : memref<4xf32>)
^end(%r: memref<4xf32>):
  %s = tank.sum %r : memref<4xf32>
  return %s : f32
}

// FREE-LABEL: func.func @parallel
// FREE: scf.forall
// FREE: tank.make
// FREE: memref.dealloc
// FREE: scf.parallel
// FREE: tank.make
// FREE: memref.dealloc
// FREE: scf.reduce
func.func @parallel(%v: f32, %n: index, %out: memref<?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%i) in (%n) {
    %m = tank.make : memref<4xf32>
    tank.fill %v, %m : memref<4xf32>
    %s = tank.sum %m : memref<4xf32>
    memref.store %s, %out[%i] : memref<?xf32>
  }
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%v) -> f32 {
    %m = tank.make : memref<4xf32>
    %s = tank.sum %m : memref<4xf32>
    scf.reduce(%s : f32) {
    ^bb0(%a: f32, %b: f32):
      %t = tank.make : memref<4xf32>
      tank.fill %b, %t : memref<4xf32>
      %u = tank.sum %t : memref<4xf32>
      %sum = arith.addf %a, %u : f32
      scf.reduce.return %sum : f32
    }
  }
  return %r : f32
}

// What is freed by hand stays so.
// FREE-LABEL: func.func @by_hand
// FREE-NEXT: %[[M:.*]] = tank.make
// FREE-NEXT: tank.fill
// FREE-NEXT: tank.drop %[[M]]
// FREE-NEXT: return
func.func @by_hand(%v: f32) {
  %m = tank.make {bufferization.manual_deallocation} : memref<4xf32>
  tank.fill %v, %m : memref<4xf32>
  tank.drop %m {bufferization.manual_deallocation} : memref<4xf32>
  return
}

// FREE-LABEL: func.func @launched
// FREE: gpu.launch
// FREE-NEXT: tank.make
// FREE-NEXT: tank.fill
// FREE-NEXT: memref.dealloc
// FREE-NEXT: gpu.terminator
func.func @launched(%v: f32, %n: index) {
  gpu.launch blocks(%a, %b, %c) in (%d = %n, %e = %n, %f = %n) threads(%g, %h, %i) in (%j = %n, %k = %n, %l = %n) {
    %m = tank.make : memref<4xf32>
    tank.fill %v, %m : memref<4xf32>
    gpu.terminator
  }
  return
}
