// RUN: triton-linalg-opt %s -lower-linalg-ext -split-input-file | FileCheck %s
// RUN: triton-linalg-opt %s -lower-linalg-ext -split-input-file | FileCheck %s --check-prefix=GONE
// GONE-NOT: {{(aux|linalg_ext|math_ext|tt)\.}}

// The pointer is wrapped in a memref descriptor, of which the view is taken.
// CHECK-LABEL: func.func @view
// CHECK-SAME: (%[[P:.*]]: !llvm.ptr, %[[O:.*]]: index, %[[N:.*]]: index
// CHECK: %[[D:.*]] = llvm.insertvalue %{{.*}}, %{{.*}}[2] : !llvm.struct<(ptr, ptr, i64)>
// CHECK: %[[B:.*]] = builtin.unrealized_conversion_cast %[[D]] : !llvm.struct<(ptr, ptr, i64)> to memref<f32>
// CHECK: %[[V:.*]] = memref.reinterpret_cast %[[B]] to offset: [%[[O]]], sizes: [%[[N]]], strides: [2]
// CHECK: return %[[V]]
func.func @view(%p: !llvm.ptr, %o: index, %n: index) -> memref<?xf32, strided<[2], offset: ?>> {
  %0 = aux.view %p to offset: [%o], sizes: [%n], strides: [2] : !llvm.ptr to memref<?xf32, strided<[2], offset: ?>>
  return %0 : memref<?xf32, strided<[2], offset: ?>>
}

// -----

// The result type is dynamic where the operands are static.
// CHECK-LABEL: func.func @vague_view
// CHECK: %[[V:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [10], strides: [1] : memref<f32> to memref<10xf32, strided<[1]>>
// CHECK: memref.cast %[[V]] : memref<10xf32, strided<[1]>> to memref<?xf32, strided<[?], offset: ?>>
func.func @vague_view(%p: !llvm.ptr) -> memref<?xf32, strided<[?], offset: ?>> {
  %0 = aux.view %p to offset: [0], sizes: [10], strides: [1] : !llvm.ptr to memref<?xf32, strided<[?], offset: ?>>
  return %0 : memref<?xf32, strided<[?], offset: ?>>
}

// -----

// A view for accesses by address begins at null, which LLVM must not see.
// CHECK-LABEL: func.func @everything
// CHECK: llvm.inline_asm "", "=r,0" %{{.*}} : (i64) -> i64
// CHECK: llvm.inttoptr
func.func @everything() -> memref<100xf32, strided<[1]>> {
  %p = llvm.mlir.zero : !llvm.ptr
  %0 = aux.view %p to offset: [0], sizes: [100], strides: [1] : !llvm.ptr to memref<100xf32, strided<[1]>>
  return %0 : memref<100xf32, strided<[1]>>
}

// -----

// A load copies the memory at its place in the program.
// CHECK-LABEL: func.func @load
// CHECK-SAME: (%[[M:.*]]: memref<?xf32>, %[[N:.*]]: index
// CHECK: %[[A:.*]] = memref.alloc(%[[N]]) : memref<?xf32>
// CHECK: linalg.copy ins(%[[M]] : memref<?xf32>) outs(%[[A]] : memref<?xf32>)
// CHECK: bufferization.to_tensor %[[A]] restrict writable
func.func @load(%m: memref<?xf32>, %n: index) -> tensor<?xf32> {
  %0 = bufferization.to_tensor %m restrict writable : memref<?xf32> to tensor<?xf32>
  %1 = tensor.empty(%n) : tensor<?xf32>
  %2 = linalg.copy ins(%0 : tensor<?xf32>) outs(%1 : tensor<?xf32>) -> tensor<?xf32>
  return %2 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @pad
// CHECK-SAME: (%[[T:.*]]: tensor<?xf32>, %[[N:.*]]: index, %[[V:.*]]: f32, %[[O:.*]]: tensor<64xf32>
// CHECK: %[[F:.*]] = linalg.fill ins(%[[V]] : f32) outs(%[[O]] : tensor<64xf32>)
// CHECK: tensor.insert_slice %[[T]] into %[[F]][3] [%{{.*}}] [1]
func.func @pad(%t: tensor<?xf32>, %n: index, %v: f32, %o: tensor<64xf32>) -> tensor<64xf32> {
  %0 = linalg_ext.pad ins(%t : tensor<?xf32>) outs(%o : tensor<64xf32>) pvalue(%v : f32) low = [3] high = [%n] {
  ^bb0(%a: f32):
    linalg_ext.yield %a : f32
  } -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// An operation on memrefs is lowered like one on tensors.
// CHECK-LABEL: func.func @make_range
// CHECK: %[[T:.*]] = bufferization.to_tensor %{{.*}} restrict writable
// CHECK: %[[R:.*]] = linalg.map outs(%[[T]] : tensor<8xi32>)
// CHECK: linalg.index 0
// CHECK: bufferization.materialize_in_destination %[[R]] in restrict writable
func.func @make_range(%a: i32, %b: i32, %o: memref<8xi32>) {
  linalg_ext.make_range ins(%a, %b : i32, i32) outs(%o : memref<8xi32>)
  return
}

// -----

// Memory is not read where the mask is false.
// CHECK-LABEL: func.func @gather
// CHECK-SAME: (%[[M:.*]]: memref<?xf32>, %[[I:.*]]: tensor<4x1xi32>, %[[MASK:.*]]: tensor<4xi1>
// CHECK: linalg.generic
// CHECK: %[[C:.*]] = tensor.extract %[[MASK]]
// CHECK: scf.if %[[C]] -> (f32) {
// CHECK: memref.load %[[M]]
// CHECK: } else {
func.func @gather(%m: memref<?xf32>, %i: tensor<4x1xi32>, %mask: tensor<4xi1>, %o: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %t = bufferization.to_tensor %m restrict writable : memref<?xf32> to tensor<?xf32>
  %0 = linalg_ext.gather dimension_map = [0] ranged_data(false) signed_indice(true)
      ins(%t, %i, %mask : tensor<?xf32>, tensor<4x1xi32>, tensor<4xi1>) outs(%o : tensor<4x1xf32>) {
  ^bb0(%read: f32, %old: f32):
    linalg_ext.yield %read : f32
  } -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// -----

// CHECK-LABEL: func.func @scatter
// CHECK: scf.for
// CHECK: %[[C:.*]] = tensor.extract %{{.*}} : tensor<4xi1>
// CHECK-NEXT: scf.if %[[C]] {
// CHECK-NOT: memref.load
// CHECK: memref.store
func.func @scatter(%m: memref<?xf32>, %u: tensor<4x1xf32>, %i: tensor<4x1xi64>, %mask: tensor<4xi1>) {
  linalg_ext.scatter dimension_map = [0] ranged_data(false) overlap_window(true) signed_indice(true)
      ins(%u, %i, %mask : tensor<4x1xf32>, tensor<4x1xi64>, tensor<4xi1>) outs(%m : memref<?xf32>) {
  ^bb0(%new: f32, %old: f32):
    linalg_ext.yield %new : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @scan
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: arith.addf
// CHECK: scf.for
// CHECK: arith.addf
func.func @scan(%t: tensor<4x8xf32>, %o: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = linalg_ext.scan dimension = 1 reverse(true) ins(%t : tensor<4x8xf32>) outs(%o : tensor<4x8xf32>) {
  ^bb0(%acc: f32, %in: f32):
    %0 = arith.addf %acc, %in : f32
    linalg_ext.yield %0 : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @histogram_and_flip
// CHECK: arith.cmpi ult
// CHECK: linalg.map
func.func @histogram_and_flip(%t: tensor<128xi32>, %o: tensor<16xi32>, %e: tensor<16xi32>) -> tensor<16xi32> {
  %0 = linalg_ext.histogram ins(%t : tensor<128xi32>) outs(%o : tensor<16xi32>) -> tensor<16xi32>
  %1 = linalg_ext.flip dimension = 0 ins(%0 : tensor<16xi32>) outs(%e : tensor<16xi32>) -> tensor<16xi32>
  return %1 : tensor<16xi32>
}

// -----

// CHECK-LABEL: func.func @atomics
// CHECK: memref.atomic_rmw addi
// CHECK: llvm.call @triton_ext_compare_and_swap_32(
func.func @atomics(%m: memref<?xi32>, %v: tensor<4x1xi32>, %i: tensor<4x1xi64>, %o: tensor<4x1xi32>) -> tensor<4x1xi32> {
  %0 = linalg_ext.gather_atomic_rmw addi relaxed ins(%v, %i : tensor<4x1xi32>, tensor<4x1xi64>)
      outs(%m, %o : memref<?xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
  %1 = linalg_ext.gather_atomic_cas acq_rel ins(%0, %v, %i : tensor<4x1xi32>, tensor<4x1xi32>, tensor<4x1xi64>)
      outs(%m, %o : memref<?xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
  return %1 : tensor<4x1xi32>
}

// -----

// CHECK: func.func private @powf(f32, f32) -> f32
// CHECK-LABEL: func.func @library
// CHECK: linalg.map
// CHECK: func.call @powf(%{{.*}}, %{{.*}}) : (f32, f32) -> f32
// CHECK: call @powf
func.func @library(%t: tensor<8xf32>, %x: f32, %o: tensor<8xf32>) -> (tensor<8xf32>, f32) {
  %0 = linalg_ext.libdevice_call ins(%t, %x : tensor<8xf32>, f32) outs(%o : tensor<8xf32>) symbol = "powf" -> tensor<8xf32>
  %1 = linalg_ext.scalar_libdevice_call ins(%x, %x : f32, f32) symbol = "powf" -> f32
  return %0, %1 : tensor<8xf32>, f32
}

// -----

// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("x[%lld] %lld\0A\00")
// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("%g\0A\00")
// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("100%% of x[%lld] %lld\0A\00")
// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("%%%g%%\0A\00")
// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("100%%\0A\00")
// CHECK-DAG: llvm.func @printf(!llvm.ptr, ...) -> i32
// CHECK-LABEL: func.func @prints
// CHECK: llvm.call @printf(%{{.*}}, %{{.*}}, %{{.*}}) vararg
// CHECK: arith.extf %{{.*}} : f32 to f64
// CHECK-COUNT-4: llvm.call @printf
// CHECK: cf.assert %{{.*}}, "positive"
// CHECK: cf.assert %{{.*}}, "all"
func.func @prints(%t: tensor<8xi8>, %x: f32, %c: i1, %all: tensor<8xi1>) {
  aux.print(%t : tensor<8xi8>) {format = "x"}
  aux.scalar.print(%x : f32) {format = "%g"}
  aux.print(%t : tensor<8xi8>) {format = "100%% of x"}
  aux.scalar.print(%x : f32) {format = "%%%g%%"}
  aux.scalar.print {format = "100%%"}
  linalg_ext.scalar_assert "positive" %c
  linalg_ext.assert "all" ins(%all : tensor<8xi1>)
  return
}

// -----

// A print that names its program takes the program's index from the target, or from the arguments of the kernel.
// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("pid (%d, %d, %d) idx (%2lld, %lld, %1lld) x: %lld\0A\00")
// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("pid (%d, %d, %d) idx () y: 0x%llx\0A\00")
// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("pid (%d, %d, %d) here\0A\00")
// CHECK-LABEL: func.func @programs
// CHECK-SAME: %[[X:[^:]*]]: i32, %[[Y:[^:]*]]: i32, %[[Z:[^:]*]]: i32) {
// CHECK-COUNT-3: llvm.call @printf(%{{.*}}, %[[X]], %[[Y]], %[[Z]]
func.func @programs(%t: tensor<11x?x2xi8>, %x: i32) {
  aux.print(%t : tensor<11x?x2xi8>) {format = " x: ", program}
  aux.scalar.print(%x : i32) {format = " y: ", hex, program}
  aux.scalar.print {format = " here", program}
  return
}

// -----

// CHECK-LABEL: func.func @others
// CHECK: arith.extui %{{.*}} : i32 to i64
// CHECK: arith.shrui
// CHECK: llvm.ptrtoint
// CHECK: linalg.map
// CHECK: llvm.inttoptr
// CHECK: memref.store
// CHECK: llvm.inline_asm has_side_effects {{.*}} "r,~{memory}"
func.func @others(%a: i32, %p: !llvm.ptr, %t: tensor<4xi64>, %m: memref<4xi32>, %i: index)
    -> (i32, f64, tensor<4x!llvm.ptr>) {
  %0 = math_ext.mulhiui %a, %a : i32
  %1 = aux.bitcast_ext %p : !llvm.ptr to f64
  %2 = aux.bitcast_ext %t : tensor<4xi64> to tensor<4x!llvm.ptr>
  aux.store %0, %m[%i] {cache_mode = "none"} : memref<4xi32>
  aux.optimization_barrier %t : tensor<4xi64>
  return %0, %1, %2 : i32, f64, tensor<4x!llvm.ptr>
}

// -----

// The numbers and ids of programs come after the other arguments, and calls pass them on.
// CHECK-LABEL: func.func @kernel
// CHECK-SAME: (%[[X:.*]]: i64, %[[NX:.*]]: i32, %[[NY:.*]]: i32, %[[NZ:.*]]: i32, %[[PX:.*]]: i32, %[[PY:.*]]: i32, %[[PZ:.*]]: i32)
// CHECK: call @inner(%[[PY]], %[[NX]], %[[NY]], %[[NZ]], %[[PX]], %[[PY]], %[[PZ]])
// CHECK: return %[[NZ]]
func.func @kernel(%x: i64 {tt.divisibility = 16 : i32}) -> i32 {
  %0 = tt.get_program_id y : i32
  func.call @inner(%0) : (i32) -> ()
  %1 = tt.get_num_programs z : i32
  return %1 : i32
}
func.func @inner(%x: i32) {
  return
}
