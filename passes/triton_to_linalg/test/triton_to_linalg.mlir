// RUN: triton-linalg-opt %s -triton-to-linalg -split-input-file | FileCheck %s
// RUN: triton-linalg-opt %s -triton-to-linalg -split-input-file | triton-linalg-opt -split-input-file | FileCheck %s
// RUN: triton-ext-opt %s -triton-to-linalg -split-input-file | FileCheck %s

// The kernel in triton-linalg's documentation.
// CHECK-LABEL: func.func @add_kernel
// CHECK-SAME: (%[[A:[^:]*]]: i64, %[[B:[^:]*]]: i64, %[[C:[^:]*]]: i64, %[[N:[^:]*]]: i32)
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[C1024:.*]] = arith.constant 1024 : index
// CHECK-DAG: %[[C1024_I32:.*]] = arith.constant 1024 : i32
// CHECK-NEXT: %[[PID:.*]] = tt.get_program_id x : i32
// CHECK-NEXT: %[[START32:.*]] = arith.muli %[[PID]], %[[C1024_I32]] : i32
// CHECK-NEXT: %[[START:.*]] = arith.index_cast %[[START32]] : i32 to index
// CHECK-NEXT: %[[NI:.*]] = arith.index_cast %[[N]] : i32 to index
// CHECK-NEXT: %[[END:.*]] = arith.addi %[[START]], %[[C1024]] : index
// CHECK-NEXT: %[[MAX:.*]] = arith.maxsi %[[NI]], %[[START]] : index
// CHECK-NEXT: %[[MIN:.*]] = arith.minsi %[[END]], %[[MAX]] : index
// CHECK-NEXT: %[[SIZE:.*]] = arith.subi %[[MIN]], %[[START]] : index
// CHECK-NEXT: %[[PA:.*]] = llvm.inttoptr %[[A]] : i64 to !llvm.ptr
// CHECK-NEXT: %[[VA:.*]] = aux.view %[[PA]] to offset: [%[[START]]], sizes: [%[[SIZE]]], strides: [1] : !llvm.ptr to memref<?xf32, strided<[1], offset: ?>>
// CHECK-NEXT: %[[TA:.*]] = bufferization.to_tensor %[[VA]] restrict writable : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
// CHECK-NEXT: %[[E:.*]] = tensor.empty(%[[SIZE]]) : tensor<?xf32>
// CHECK-NEXT: %[[CA:.*]] = linalg.copy ins(%[[TA]] : tensor<?xf32>) outs(%[[E]] : tensor<?xf32>) -> tensor<?xf32>
// CHECK-NEXT: %[[O:.*]] = tensor.empty() : tensor<1024xf32>
// CHECK-NEXT: %[[REST:.*]] = arith.subi %[[C1024]], %[[SIZE]] : index
// CHECK-NEXT: %[[LA:.*]] = linalg_ext.pad ins(%[[CA]] : tensor<?xf32>) outs(%[[O]] : tensor<1024xf32>) pvalue(%[[ZERO]] : f32) low = [0] high = [%[[REST]]] {
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32):
// CHECK-NEXT:   linalg_ext.yield %[[X]] : f32
// CHECK-NEXT: } -> tensor<1024xf32>
// CHECK-NEXT: %[[PB:.*]] = llvm.inttoptr %[[B]] : i64 to !llvm.ptr
// CHECK-NEXT: %[[VB:.*]] = aux.view %[[PB]] to offset: [%[[START]]], sizes: [%[[SIZE]]], strides: [1]
// CHECK-NEXT: %[[TB:.*]] = bufferization.to_tensor %[[VB]] restrict writable
// CHECK-NEXT: %[[CB:.*]] = linalg.copy ins(%[[TB]] : tensor<?xf32>) outs(%[[E]] : tensor<?xf32>) -> tensor<?xf32>
// CHECK-NEXT: %[[LB:.*]] = linalg_ext.pad ins(%[[CB]] : tensor<?xf32>) outs(%[[O]] : tensor<1024xf32>) pvalue(%[[ZERO]] : f32) low = [0] high = [%[[REST]]] {
// CHECK-NEXT: ^bb0(%[[Y:.*]]: f32):
// CHECK-NEXT:   linalg_ext.yield %[[Y]] : f32
// CHECK-NEXT: } -> tensor<1024xf32>
// CHECK-NEXT: %[[SUM:.*]] = linalg.map { arith.addf } ins(%[[LA]], %[[LB]] : tensor<1024xf32>, tensor<1024xf32>) outs(%[[O]] : tensor<1024xf32>)
// CHECK-NEXT: %[[PC:.*]] = llvm.inttoptr %[[C]] : i64 to !llvm.ptr
// CHECK-NEXT: %[[VC:.*]] = aux.view %[[PC]] to offset: [%[[START]]], sizes: [%[[SIZE]]], strides: [1]
// CHECK-NEXT: %[[S:.*]] = tensor.extract_slice %[[SUM]][0] [%[[SIZE]]] [1] : tensor<1024xf32> to tensor<?xf32>
// CHECK-NEXT: bufferization.materialize_in_destination %[[S]] in writable %[[VC]] : (tensor<?xf32>, memref<?xf32, strided<[1], offset: ?>>) -> ()
// CHECK-NEXT: return
tt.func public @add_kernel(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<f32>, %arg3: i32) {
  %c1024_i32 = arith.constant 1024 : i32
  %0 = tt.get_program_id x : i32
  %1 = arith.muli %0, %c1024_i32 : i32
  %2 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %3 = tt.splat %1 : i32 -> tensor<1024xi32>
  %4 = arith.addi %3, %2 : tensor<1024xi32>
  %5 = tt.splat %arg3 : i32 -> tensor<1024xi32>
  %6 = arith.cmpi slt, %4, %5 : tensor<1024xi32>
  %7 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %8 = tt.addptr %7, %4 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %9 = tt.load %8, %6 : tensor<1024x!tt.ptr<f32>>
  %10 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %11 = tt.addptr %10, %4 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %12 = tt.load %11, %6 : tensor<1024x!tt.ptr<f32>>
  %13 = arith.addf %9, %12 : tensor<1024xf32>
  %14 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %15 = tt.addptr %14, %4 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %15, %13, %6 : tensor<1024x!tt.ptr<f32>>
  tt.return
}

// -----

// A loop that carries a tensor of pointers becomes one that carries an integer; its loads are views.
// CHECK-LABEL: func.func @loop
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[OFF:.*]] = %{{.*}}) -> (tensor<64xf32>, i64)
// CHECK: %[[I:.*]] = arith.index_cast %[[OFF]] : i64 to index
// CHECK: aux.view %{{.*}} to offset: [%[[I]]], sizes: [64], strides: [1]
// CHECK: bufferization.to_tensor
// CHECK: linalg.map { arith.addf }
// CHECK: arith.addi %[[OFF]], %{{.*}} : i64
// CHECK-NOT: linalg_ext.gather
tt.func @loop(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %s = tt.splat %stride : i32 -> tensor<64xi32>
  %l:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %ptr = %pp) -> (tensor<64xf32>, tensor<64x!tt.ptr<f32>>) : i32 {
    %v = tt.load %ptr : tensor<64x!tt.ptr<f32>>
    %sum = arith.addf %acc, %v : tensor<64xf32>
    %next = tt.addptr %ptr, %s : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    scf.yield %sum, %next : tensor<64xf32>, tensor<64x!tt.ptr<f32>>
  }
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %qq = tt.addptr %qs, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %qq, %l#0 : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// A loop stores a value and loads it again: no access is hoisted or merged.
// CHECK-LABEL: func.func @load_after_store
// CHECK: scf.for
// CHECK: bufferization.to_tensor
// CHECK: linalg.copy
// CHECK: bufferization.materialize_in_destination
// CHECK: bufferization.to_tensor
// CHECK: linalg.copy
// CHECK: bufferization.materialize_in_destination
tt.func @load_after_store(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %qq = tt.addptr %qs, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %v = tt.load %pp : tensor<64x!tt.ptr<f32>>
    %w = arith.addf %v, %v : tensor<64xf32>
    tt.store %pp, %w : tensor<64x!tt.ptr<f32>>
    %x = tt.load %pp : tensor<64x!tt.ptr<f32>>
    tt.store %qq, %x : tensor<64x!tt.ptr<f32>>
  }
  tt.return
}

// -----

// A call of a function with an early return is inlined; the caller still has one block.
// CHECK-LABEL: func.func @calls
// CHECK-NOT: call
// CHECK: scf.execute_region
// CHECK: cf.cond_br
// CHECK: memref.store
// CHECK: return
// CHECK-NOT: @early
tt.func private @early(%p: !tt.ptr<f32>, %c: i1, %x: f32) attributes {noinline = false} {
  cf.cond_br %c, ^out, ^in
^out:
  tt.return
^in:
  tt.store %p, %x : !tt.ptr<f32>
  tt.return
}
tt.func public @calls(%p: !tt.ptr<f32>, %c: i1, %x: f32) {
  tt.call @early(%p, %c, %x) : (!tt.ptr<f32>, i1, f32) -> ()
  tt.return
}

// -----

// A tensor descriptor becomes a pointer, a shape and strides.
// CHECK-LABEL: func.func @descriptor
// CHECK-NOT: tt.
// CHECK: aux.view
// CHECK: linalg.copy
// CHECK: linalg_ext.pad
// CHECK: bufferization.materialize_in_destination
// CHECK-NOT: tt.
tt.func @descriptor(%p: !tt.ptr<f32>, %m: i32, %n: i32, %s: i64, %i: i32) {
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%m, %n], [%s, %c1] : !tt.ptr<f32>, !tt.tensordesc<8x16xf32>
  %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<8x16xf32> -> tensor<8x16xf32>
  %w = arith.addf %v, %v : tensor<8x16xf32>
  tt.descriptor_store %d[%i, %i], %w : !tt.tensordesc<8x16xf32>, tensor<8x16xf32>
  tt.return
}
