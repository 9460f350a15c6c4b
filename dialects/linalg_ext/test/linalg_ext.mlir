// RUN: triton-ext-opt %s --load-extension=linalg_ext -split-input-file | triton-ext-opt --load-extension=linalg_ext -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @pad
// CHECK: %[[R:.*]] = linalg_ext.pad ins(%{{.*}} : tensor<?xf32>) outs(%{{.*}} : tensor<1024xf32>) pvalue(%{{.*}} : f32) low = [0] high = [%{{.*}}] {
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32):
// CHECK-NEXT: linalg_ext.yield %[[A]] : f32
// CHECK-NEXT: } -> tensor<1024xf32>
// CHECK: linalg_ext.pad ins(%{{.*}} : memref<4x?xf16>) outs(%{{.*}} : memref<8x?xf16>) pvalue(%{{.*}} : f16) low = [1, %{{.*}}] high = [3, 0] {
// CHECK: }
func.func @pad(%t: tensor<?xf32>, %o: tensor<1024xf32>, %z: f32, %n: index, %m: memref<4x?xf16>, %p: memref<8x?xf16>, %h: f16) -> tensor<1024xf32> {
  %0 = linalg_ext.pad ins(%t : tensor<?xf32>) outs(%o : tensor<1024xf32>) pvalue(%z : f32) low = [0] high = [%n] {
  ^bb0(%a: f32):
    linalg_ext.yield %a : f32
  } -> tensor<1024xf32>
  linalg_ext.pad ins(%m : memref<4x?xf16>) outs(%p : memref<8x?xf16>) pvalue(%h : f16) low = [1, %n] high = [3, 0] {
  ^bb0(%a: f16):
    linalg_ext.yield %a : f16
  }
  return %0 : tensor<1024xf32>
}

// -----

// CHECK-LABEL: func.func @make_range
// CHECK: linalg_ext.make_range ins(%{{.*}}, %{{.*}} : i32, i32) outs(%{{.*}} : tensor<128xi32>) -> tensor<128xi32>
// CHECK: linalg_ext.make_range ins(%{{.*}}, %{{.*}} : i64, i64) outs(%{{.*}} : memref<?xi64>) {mine}
func.func @make_range(%a: i32, %b: i32, %o: tensor<128xi32>, %c: i64, %m: memref<?xi64>) -> tensor<128xi32> {
  %0 = linalg_ext.make_range ins(%a, %b : i32, i32) outs(%o : tensor<128xi32>) -> tensor<128xi32>
  linalg_ext.make_range ins(%c, %c : i64, i64) outs(%m : memref<?xi64>) {mine}
  return %0 : tensor<128xi32>
}

// -----

// CHECK-LABEL: func.func @gather
// CHECK: linalg_ext.gather dimension_map = [1] ranged_data(true) signed_indice(false) ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<16x8xf32>, tensor<4x1xi32>, tensor<4xi1>) outs(%{{.*}} : tensor<4x2x4xf32>) {
// CHECK: linalg_ext.yield
// CHECK: } -> tensor<4x2x4xf32>
// CHECK: linalg_ext.gather dimension_map = [0, 1] ranged_data(false) signed_indice(true) ins(%{{.*}}, %{{.*}} : memref<?x?xf32>, tensor<4x2xi64>) outs(%{{.*}} : tensor<4x1x1xf32>) {
func.func @gather(%d: tensor<16x8xf32>, %i: tensor<4x1xi32>, %m: tensor<4xi1>, %o: tensor<4x2x4xf32>,
                  %e: memref<?x?xf32>, %j: tensor<4x2xi64>, %p: tensor<4x1x1xf32>) {
  %0 = linalg_ext.gather dimension_map = [1] ranged_data(true) signed_indice(false)
      ins(%d, %i, %m : tensor<16x8xf32>, tensor<4x1xi32>, tensor<4xi1>) outs(%o : tensor<4x2x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg_ext.yield %a : f32
  } -> tensor<4x2x4xf32>
  %1 = linalg_ext.gather dimension_map = [0, 1] ranged_data(false) signed_indice(true)
      ins(%e, %j : memref<?x?xf32>, tensor<4x2xi64>) outs(%p : tensor<4x1x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg_ext.yield %a : f32
  } -> tensor<4x1x1xf32>
  return
}

// -----

// CHECK-LABEL: func.func @scatter
// CHECK: linalg_ext.scatter dimension_map = [0] ranged_data(false) overlap_window(true) signed_indice(true) ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<8x1xf32>, tensor<8x1xi64>, tensor<8xi1>) outs(%{{.*}} : memref<?xf32>) {
// CHECK: arith.addf
// CHECK: }
// CHECK: linalg_ext.scatter dimension_map = [0] ranged_data(true) overlap_window(false) signed_indice(true) ins(%{{.*}}, %{{.*}} : tensor<8x1xf32>, tensor<8x1xi64>) outs(%{{.*}} : tensor<32xf32>) {
// CHECK: } -> tensor<32xf32>
func.func @scatter(%u: tensor<8x1xf32>, %i: tensor<8x1xi64>, %m: tensor<8xi1>, %o: memref<?xf32>, %t: tensor<32xf32>) -> tensor<32xf32> {
  linalg_ext.scatter dimension_map = [0] ranged_data(false) overlap_window(true) signed_indice(true)
      ins(%u, %i, %m : tensor<8x1xf32>, tensor<8x1xi64>, tensor<8xi1>) outs(%o : memref<?xf32>) {
  ^bb0(%new: f32, %old: f32):
    %0 = arith.addf %new, %old : f32
    linalg_ext.yield %0 : f32
  }
  %1 = linalg_ext.scatter dimension_map = [0] ranged_data(true) overlap_window(false) signed_indice(true)
      ins(%u, %i : tensor<8x1xf32>, tensor<8x1xi64>) outs(%t : tensor<32xf32>) {
  ^bb0(%new: f32, %old: f32):
    linalg_ext.yield %new : f32
  } -> tensor<32xf32>
  return %1 : tensor<32xf32>
}

// -----

// CHECK-LABEL: func.func @scan
// CHECK: %{{.*}}:2 = linalg_ext.scan dimension = 1 reverse(true) ins(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4x8xi32>) outs(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4x8xi32>) {
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: i32):
// CHECK: } -> tensor<4x8xf32>, tensor<4x8xi32>
func.func @scan(%a: tensor<4x8xf32>, %b: tensor<4x8xi32>, %c: tensor<4x8xf32>, %d: tensor<4x8xi32>) {
  %0:2 = linalg_ext.scan dimension = 1 reverse(true) ins(%a, %b : tensor<4x8xf32>, tensor<4x8xi32>)
      outs(%c, %d : tensor<4x8xf32>, tensor<4x8xi32>) {
  ^bb0(%x: f32, %i: i32, %y: f32, %j: i32):
    %1 = arith.addf %x, %y : f32
    linalg_ext.yield %1, %j : f32, i32
  } -> tensor<4x8xf32>, tensor<4x8xi32>
  return
}

// -----

// CHECK-LABEL: func.func @others
// CHECK: linalg_ext.histogram ins(%{{.*}}, %{{.*}} : tensor<64xi32>, tensor<64xi1>) outs(%{{.*}} : tensor<16xi32>) -> tensor<16xi32>
// CHECK: linalg_ext.histogram ins(%{{.*}} : tensor<64xi32>) outs(%{{.*}} : tensor<16xi32>) -> tensor<16xi32>
// CHECK: linalg_ext.flip dimension = 0 ins(%{{.*}} : tensor<64xi32>) outs(%{{.*}} : tensor<64xi32>) -> tensor<64xi32>
// CHECK: linalg_ext.assert "all" ins(%{{.*}} : tensor<64xi1>)
// CHECK: linalg_ext.scalar_assert "one" %{{.*}}
func.func @others(%t: tensor<64xi32>, %m: tensor<64xi1>, %o: tensor<16xi32>, %c: i1) {
  %0 = linalg_ext.histogram ins(%t, %m : tensor<64xi32>, tensor<64xi1>) outs(%o : tensor<16xi32>) -> tensor<16xi32>
  %1 = linalg_ext.histogram ins(%t : tensor<64xi32>) outs(%o : tensor<16xi32>) -> tensor<16xi32>
  %2 = linalg_ext.flip dimension = 0 ins(%t : tensor<64xi32>) outs(%t : tensor<64xi32>) -> tensor<64xi32>
  linalg_ext.assert "all" ins(%m : tensor<64xi1>)
  linalg_ext.scalar_assert "one" %c
  return
}

// -----

// CHECK-LABEL: func.func @atomics
// CHECK: linalg_ext.gather_atomic_rmw addf acq_rel ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<8x1xf32>, tensor<8x1xi64>, tensor<8xi1>) outs(%{{.*}}, %{{.*}} : memref<?xf32>, tensor<8x1xf32>) {scope = "gpu"} -> tensor<8x1xf32>
// CHECK: linalg_ext.gather_atomic_rmw assign relaxed ins(%{{.*}}, %{{.*}} : tensor<8x1xf32>, tensor<8x1xi64>) outs(%{{.*}}, %{{.*}} : memref<?xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
// CHECK: linalg_ext.gather_atomic_cas release ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<8x1xi64>, tensor<8x1xi64>, tensor<8x1xi64>) outs(%{{.*}}, %{{.*}} : memref<?xi64>, tensor<8x1xi64>) -> tensor<8x1xi64>
func.func @atomics(%v: tensor<8x1xf32>, %i: tensor<8x1xi64>, %m: tensor<8xi1>, %mem: memref<?xf32>, %n: memref<?xi64>) {
  %0 = linalg_ext.gather_atomic_rmw addf acq_rel ins(%v, %i, %m : tensor<8x1xf32>, tensor<8x1xi64>, tensor<8xi1>)
      outs(%mem, %v : memref<?xf32>, tensor<8x1xf32>) {scope = "gpu"} -> tensor<8x1xf32>
  %1 = linalg_ext.gather_atomic_rmw assign relaxed ins(%v, %i : tensor<8x1xf32>, tensor<8x1xi64>)
      outs(%mem, %v : memref<?xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
  %2 = linalg_ext.gather_atomic_cas release ins(%i, %i, %i : tensor<8x1xi64>, tensor<8x1xi64>, tensor<8x1xi64>)
      outs(%n, %i : memref<?xi64>, tensor<8x1xi64>) -> tensor<8x1xi64>
  return
}

// -----

// CHECK-LABEL: func.func @libdevice
// CHECK: linalg_ext.libdevice_call ins(%{{.*}}, %{{.*}} : tensor<8xf32>, f32) outs(%{{.*}} : tensor<8xf32>) symbol = "__nv_powf" -> tensor<8xf32>
// CHECK: linalg_ext.scalar_libdevice_call ins(%{{.*}} : f32) symbol = "__nv_sinf" -> f32
func.func @libdevice(%x: tensor<8xf32>, %y: f32) -> (tensor<8xf32>, f32) {
  %0 = linalg_ext.libdevice_call ins(%x, %y : tensor<8xf32>, f32) outs(%x : tensor<8xf32>) symbol = "__nv_powf" -> tensor<8xf32>
  %1 = linalg_ext.scalar_libdevice_call ins(%y : f32) symbol = "__nv_sinf" -> f32
  return %0, %1 : tensor<8xf32>, f32
}
