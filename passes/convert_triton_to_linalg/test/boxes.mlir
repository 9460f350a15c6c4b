// RUN: triton-linalg-opt %s -convert-triton-to-linalg=fill-masks -canonicalize -cse -split-input-file | FileCheck %s

// A select by a box copies the box.
// CHECK-LABEL: func.func @select
// CHECK-SAME: (%[[A:.*]]: tensor<8x16xf32>, %[[B:.*]]: tensor<8x16xf32>, %[[N:.*]]: i32
// CHECK: %[[SIZE:.*]] = arith.minsi
// CHECK-NOT: arith.cmpi
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[A]][0, 0] [8, %[[SIZE]]] [1, 1]
// CHECK: %[[PLACE:.*]] = tensor.extract_slice %[[B]][0, 0] [8, %[[SIZE]]] [1, 1]
// CHECK: %[[COPY:.*]] = linalg.copy ins(%[[PART]] : tensor<8x?xf32>) outs(%[[PLACE]] : tensor<8x?xf32>)
// CHECK: %[[R:.*]] = tensor.insert_slice %[[COPY]] into %[[B]][0, 0] [8, %[[SIZE]]] [1, 1]
// CHECK: return %[[R]]
tt.func @select(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>, %n: i32) -> tensor<8x16xf32> {
  %c = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %ns = tt.splat %n : i32 -> tensor<16xi32>
  %m = arith.cmpi slt, %c, %ns : tensor<16xi32>
  %e = tt.expand_dims %m {axis = 0 : i32} : tensor<16xi1> -> tensor<1x16xi1>
  %w = tt.broadcast %e : tensor<1x16xi1> -> tensor<8x16xi1>
  %r = arith.select %w, %a, %b : tensor<8x16xi1>, tensor<8x16xf32>
  tt.return %r : tensor<8x16xf32>
}

// -----

// A mask that is data is a fill of the box.
// CHECK-LABEL: func.func @data
// CHECK-DAG: %[[NO:.*]] = arith.constant false
// CHECK-DAG: %[[YES:.*]] = arith.constant true
// CHECK-NOT: linalg_ext.make_range
// CHECK: %[[AROUND:.*]] = linalg.fill ins(%[[NO]] : i1)
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[AROUND]][3] [%[[SIZE:.*]]] [1]
// CHECK: %[[FILLED:.*]] = linalg.fill ins(%[[YES]] : i1) outs(%[[PART]]
// CHECK: %[[M:.*]] = tensor.insert_slice %[[FILLED]] into %[[AROUND]][3] [%[[SIZE]]] [1]
// CHECK: arith.extui %[[M]]
tt.func @data(%n: i32) -> tensor<16xi32> {
  %c = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %ns = tt.splat %n : i32 -> tensor<16xi32>
  %three = arith.constant dense<3> : tensor<16xi32>
  %below = arith.cmpi slt, %c, %ns : tensor<16xi32>
  %above = arith.cmpi sge, %c, %three : tensor<16xi32>
  %m = arith.andi %below, %above : tensor<16xi1>
  %r = arith.extui %m : tensor<16xi1> to tensor<16xi32>
  tt.return %r : tensor<16xi32>
}

// -----

// Masks that are not boxes, and pointers, are compared and selected element by element.
// CHECK-LABEL: func.func @negative
// CHECK: arith.cmpi ne
// CHECK: arith.select {{.*}} : tensor<16xi1>, tensor<16xf32>
// CHECK: arith.select {{.*}} : tensor<16xi1>, tensor<16xi64>
tt.func @negative(%a: tensor<16xf32>, %b: tensor<16xf32>, %p: tensor<16x!tt.ptr<f32>>, %q: tensor<16x!tt.ptr<f32>>, %n: i32)
    -> (tensor<16xf32>, tensor<16x!tt.ptr<f32>>) {
  %c = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %ns = tt.splat %n : i32 -> tensor<16xi32>
  %m = arith.cmpi ne, %c, %ns : tensor<16xi32>
  %r = arith.select %m, %a, %b : tensor<16xi1>, tensor<16xf32>
  %k = arith.cmpi slt, %c, %ns : tensor<16xi32>
  %s = arith.select %k, %p, %q : tensor<16xi1>, tensor<16x!tt.ptr<f32>>
  tt.return %r, %s : tensor<16xf32>, tensor<16x!tt.ptr<f32>>
}
