// What libtriton's passes, and a utility of the library of MLIR's dialects, make of the effects of a third party's
// operations. Each RUN line of test_singletons.py checks its own prefix.

// CSE-LABEL: func.func @memory
// CSE: %[[A:.*]] = memref.load
// CSE: tank.fill
// CSE: %[[B:.*]] = memref.load
// CSE-NOT: memref.load
// CSE: %[[C:.*]] = tank.sum
// CSE: memref.store
// CSE: %[[D:.*]] = tank.sum
// CSE-NOT: tank.sum
// CSE: return %[[A]], %[[B]], %[[B]], %[[C]], %[[D]], %[[D]]
func.func @memory(%m: memref<4xf32>, %v: f32) -> (f32, f32, f32, f32, f32, f32) {
  %i = arith.constant 0 : index
  %a = memref.load %m[%i] : memref<4xf32>
  tank.fill %v, %m : memref<4xf32>
  %b = memref.load %m[%i] : memref<4xf32>
  %c = memref.load %m[%i] : memref<4xf32>
  %d = tank.sum %m : memref<4xf32>
  memref.store %v, %m[%i] : memref<4xf32>
  %e = tank.sum %m : memref<4xf32>
  %f = tank.sum %m : memref<4xf32>
  return %a, %b, %c, %d, %e, %f : f32, f32, f32, f32, f32, f32
}

// The dialect's resources are disjoint from each other, and part of the default one.
// CSE-LABEL: func.func @resources
// CSE: %[[A:.*]] = tank.level
// CSE: tank.light
// CSE-NOT: tank.level
// CSE: tank.pour
// CSE: %[[B:.*]] = tank.level
// CSE: memref.store
// CSE: %[[C:.*]] = tank.level
// CSE: tank.flood
// CSE: %[[D:.*]] = tank.level
// CSE: return %[[A]], %[[A]], %[[B]], %[[C]], %[[D]]
func.func @resources(%m: memref<4xf32>, %v: f32) -> (f32, f32, f32, f32, f32) {
  %i = arith.constant 0 : index
  %a = tank.level
  tank.light
  %b = tank.level
  tank.pour %v
  %c = tank.level
  memref.store %v, %m[%i] : memref<4xf32>
  %d = tank.level
  tank.flood
  %e = tank.level
  return %a, %b, %c, %d, %e : f32, f32, f32, f32, f32
}

// CSE-LABEL: func.func @triton
// CSE: %[[A:.*]] = tt.load
// CSE: tank.flood
// CSE: %[[B:.*]] = tt.load
// CSE-NOT: tt.load
// CSE: return %[[A]], %[[B]], %[[B]]
func.func @triton(%p: !tt.ptr<f32>) -> (f32, f32, f32) {
  %a = tt.load %p : !tt.ptr<f32>
  tank.flood
  %b = tt.load %p : !tt.ptr<f32>
  %c = tt.load %p : !tt.ptr<f32>
  return %a, %b, %c : f32, f32, f32
}

// What only reads or allocates goes where nobody asks for it; what writes or frees stays, as does what it frees.
// DCE-LABEL: func.func @dead
// DCE-NEXT: %[[M:.*]] = tank.make
// DCE-NEXT: tank.drop %[[M]]
// DCE-NEXT: tank.pour
// DCE-NEXT: tank.fill
// DCE-NEXT: return
func.func @dead(%m: memref<4xf32>, %v: f32) {
  %0 = tank.make : memref<4xf32>
  %1 = tank.sum %m : memref<4xf32>
  %2 = tank.level
  %3 = tank.make : memref<4xf32>
  tank.drop %3 : memref<4xf32>
  tank.pour %v
  tank.fill %v, %m : memref<4xf32>
  return
}

// Only arithmetic leaves the loop.
// LICM-LABEL: func.func @loop
// LICM: arith.addf
// LICM: scf.for
// LICM-NEXT: tank.sum
// LICM-NEXT: tank.level
// LICM-NEXT: memref.load
// LICM-NEXT: tt.load
// LICM-NEXT: tank.fill
// LICM-NEXT: tank.pour
// LICM-NEXT: tank.flood
// LICM-NEXT: memref.store
func.func @loop(%m: memref<4xf32>, %k: memref<4xf32>, %p: !tt.ptr<f32>, %v: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = tank.sum %m : memref<4xf32>
    %l = tank.level
    %x = memref.load %m[%c0] : memref<4xf32>
    %t = tt.load %p : !tt.ptr<f32>
    %y = arith.addf %v, %v : f32
    tank.fill %s, %m : memref<4xf32>
    tank.pour %y
    tank.flood
    memref.store %l, %k[%c0] : memref<4xf32>
    memref.store %x, %k[%c1] : memref<4xf32>
    memref.store %t, %k[%i] : memref<4xf32>
  }
  return
}

// A stored value reaches the load before the tank is filled, not the one after it; nor the one after a flood.
// FORWARD-LABEL: func.func @forwarded
// FORWARD-SAME: (%[[V:.*]]: f32, %[[W:.*]]: f32, %[[M:.*]]: memref<4xf32>)
// FORWARD: tank.fill
// FORWARD-NEXT: %[[B:.*]] = affine.load
// FORWARD: tank.pour
// FORWARD-NOT: affine.load
// FORWARD: tank.flood
// FORWARD-NEXT: %[[D:.*]] = affine.load
// FORWARD: return %[[V]], %[[B]], %[[D]]
func.func @forwarded(%v: f32, %w: f32, %m: memref<4xf32>) -> (f32, f32, f32) {
  affine.store %v, %m[0] : memref<4xf32>
  %a = affine.load %m[0] : memref<4xf32>
  tank.fill %w, %m : memref<4xf32>
  %b = affine.load %m[0] : memref<4xf32>
  tank.pour %b
  affine.store %w, %m[0] : memref<4xf32>
  tank.flood
  %d = affine.load %m[0] : memref<4xf32>
  return %a, %b, %d : f32, f32, f32
}

// Of each effect: what it does, and on which of the resources that a pass of a third library knows.
// NAME-DAG: remark: reads default{{$}}
// NAME-DAG: remark: writes default{{$}}
// NAME-DAG: remark: reads global{{$}}
// NAME-DAG: remark: writes global{{$}}
// NAME-DAG: remark: other default{{$}}
// NAME-DAG: remark: other stack{{$}}
// NAME-DAG: remark: reads water{{$}}
// NAME-DAG: remark: writes water{{$}}
// NAME-DAG: remark: writes lamp{{$}}
// NAME-NOT: unknown
func.func @scope() -> memref<4xf32> {
  %0 = memref.alloca() : memref<4xf32>
  return %0 : memref<4xf32>
}

// A scope stays around what is on the stack, which would be there once for each time around the loop, and goes around
// what is not.
// SCOPE-LABEL: func.func @cups
// SCOPE: scf.for
// SCOPE-NEXT: memref.alloca_scope
// SCOPE-NEXT: tank.cup
// SCOPE: scf.for
// SCOPE-NEXT: tank.make
func.func @cups(%v: f32, %n: index, %m: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    memref.alloca_scope {
      %cup = tank.cup : memref<4xf32>
      tank.fill %v, %cup : memref<4xf32>
    }
    tank.flood
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.alloca_scope {
      %made = tank.make : memref<4xf32>
      tank.drop %made : memref<4xf32>
    }
    tank.flood
  }
  return
}
