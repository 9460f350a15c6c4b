// RUN: triton-ext-opt %s -triton-ext-triton-to-linalg-structured -split-input-file | FileCheck %s
// RUN: triton-ext-opt %s -triton-ext-triton-to-linalg-structured="program-arguments=true" -split-input-file | FileCheck %s --check-prefix=ARGUMENTS
// RUN: triton-ext-opt %s -triton-ext-triton-to-linalg-structured="memref-arguments=true" -split-input-file | FileCheck %s --check-prefix=MEMREFS

// Rows at loaded indices are read one by one; an atomic has a view, too; a scalar is loaded from memory.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: tt{{s?}}.
// CHECK: memref.load
// CHECK: scf.for
// CHECK:   aux.view %{{.*}} sizes: [1, 16]
// CHECK:   linalg.copy
// CHECK: linalg_ext.atomic_rmw
// CHECK-NOT: linalg_ext.gather
// ARGUMENTS: func.func @rows(%arg0: i64, %arg1: i64, %arg2: i64, %arg3: i32 {{.*}}, %arg8: i32 {tt.program_argument})
// MEMREFS: func.func @rows(%[[X:.*]]: memref<*xf32>, %[[I:.*]]: memref<*xi32>, %[[O:.*]]: memref<*xf32>)
// MEMREFS: %[[C:.*]] = memref.cast %[[X]] : memref<*xf32> to memref<1xf32>
// MEMREFS: %[[P:.*]] = memref.extract_aligned_pointer_as_index %[[C]] : memref<1xf32> -> index
// MEMREFS: arith.index_cast %[[P]] : index to i64
// MEMREFS-NOT: {{tptr[.]|unrealized}}
// MEMREFS: aux.view %{{.*}} sizes: [1, 16]
tt.func public @rows(%x: !tt.ptr<f32>, %idx: !tt.ptr<i32>, %out: !tt.ptr<f32>) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %j = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %is = tt.splat %idx : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %ip = tt.addptr %is, %i : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %at = tt.load %ip : tensor<8x!tt.ptr<i32>>
  %first = tt.load %idx : !tt.ptr<i32>
  %rows = tt.expand_dims %at {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %lines = tt.expand_dims %i {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %columns = tt.expand_dims %j {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %wide = arith.constant dense<16> : tensor<8x1xi32>
  %firsts = tt.splat %first : i32 -> tensor<8x1xi32>
  %moved = arith.addi %rows, %firsts : tensor<8x1xi32>
  %scaled = arith.muli %moved, %wide : tensor<8x1xi32>
  %down = arith.muli %lines, %wide : tensor<8x1xi32>
  %r = tt.broadcast %scaled : tensor<8x1xi32> -> tensor<8x16xi32>
  %d = tt.broadcast %down : tensor<8x1xi32> -> tensor<8x16xi32>
  %c = tt.broadcast %columns : tensor<1x16xi32> -> tensor<8x16xi32>
  %rc = arith.addi %r, %c : tensor<8x16xi32>
  %dc = arith.addi %d, %c : tensor<8x16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %p = tt.addptr %xs, %rc : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
  %v = tt.load %p : tensor<8x16x!tt.ptr<f32>>
  %os = tt.splat %out : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %q = tt.addptr %os, %dc : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
  %old = tt.atomic_rmw fadd, acq_rel, gpu, %q, %v : (tensor<8x16x!tt.ptr<f32>>, tensor<8x16xf32>) -> tensor<8x16xf32>
  tt.return
}
