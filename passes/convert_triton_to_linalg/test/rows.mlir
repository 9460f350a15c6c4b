// RUN: triton-linalg-opt %s -convert-triton-to-linalg -canonicalize -cse -split-input-file | FileCheck %s
// RUN: triton-linalg-opt %s -convert-triton-to-linalg -Rpass-analysis=linalg -Rpass-missed=linalg -split-input-file -verify-diagnostics=only-expected -o %t

// Rows at any offsets: a view of each, from the first to the last one in the box.
// CHECK-LABEL: func.func @offsets
// CHECK-SAME: %[[I:[a-z0-9]+]]: tensor<8xi32>, %[[N:[a-z0-9]+]]: i32
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK: %[[FILL:.*]] = linalg.fill
// CHECK: scf.for %[[R:.*]] = %[[C3]] to %[[C8]] step %{{.*}} iter_args(%[[T:.*]] = %[[FILL]])
// CHECK:   %[[AT:.*]] = tensor.extract %[[I]][%[[R]]]
// CHECK:   %[[CAST:.*]] = arith.index_cast %[[AT]]
// CHECK:   %[[O:.*]] = arith.muli %[[CAST]], %{{.*}} : index
// CHECK:   aux.view %{{.*}} to offset: [%[[O]]], sizes: [1, 16], strides: [%{{.*}}, 1]
// CHECK:   tensor.insert_slice %{{.*}} into %[[T]][%[[R]], 0] [1, 16] [1, 1]
// CHECK-NOT: linalg_ext.gather
tt.func @offsets(%p: !tt.ptr<f32>, %i: tensor<8xi32>, %n: i32) -> tensor<8x16xf32> {
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %c = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %ie = tt.expand_dims %i {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %ns = tt.splat %n : i32 -> tensor<8x1xi32>
  %in = arith.muli %ie, %ns : tensor<8x1xi32>
  %ib = tt.broadcast %in : tensor<8x1xi32> -> tensor<8x16xi32>
  %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %cb = tt.broadcast %ce : tensor<1x16xi32> -> tensor<8x16xi32>
  %o = arith.addi %ib, %cb : tensor<8x16xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %o : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
  %three = arith.constant dense<3> : tensor<8xi32>
  %m = arith.cmpi sge, %r, %three : tensor<8xi32>
  %me = tt.expand_dims %m {axis = 1 : i32} : tensor<8xi1> -> tensor<8x1xi1>
  %mb = tt.broadcast %me : tensor<8x1xi1> -> tensor<8x16xi1>
  // expected-remark @below {{a view for each index of dimension 0: a view: offset 0, strides [?, 1], elements [3, 8) x [0, 16)}}
  %v = tt.load %pp, %mb : tensor<8x16x!tt.ptr<f32>>
  tt.return %v : tensor<8x16xf32>
}

// -----

// Rows of one stride that have offsets of their own, too: the multiples of the stride are part of the offsets.
// CHECK-LABEL: func.func @strided_offsets
// CHECK-SAME: %[[I:[a-z0-9]+]]: tensor<8xi32>
// CHECK-DAG: %[[R:.*]] = linalg_ext.make_range
// CHECK-DAG: %[[C24:.*]] = linalg.fill ins(%c24_i64 : i64)
// CHECK-DAG: %[[WIDE:.*]] = arith.extsi %[[R]] : tensor<8xi32> to tensor<8xi64>
// CHECK-DAG: %[[MULTIPLES:.*]] = arith.muli %[[WIDE]], %[[C24]] : tensor<8xi64>
// CHECK-DAG: %[[OFFSETS:.*]] = arith.extsi %[[I]] : tensor<8xi32> to tensor<8xi64>
// CHECK: %[[SUM:.*]] = arith.addi %[[OFFSETS]], %[[MULTIPLES]] : tensor<8xi64>
// CHECK: scf.for %[[AT:.*]] = %c0 to %c8
// CHECK:   %[[O:.*]] = tensor.extract %[[SUM]][%[[AT]]]
// CHECK:   %[[CAST:.*]] = arith.index_cast %[[O]]
// CHECK:   aux.view %{{.*}} to offset: [%[[CAST]]], sizes: [1, 16], strides: [1, 1]
// CHECK-NOT: linalg_ext.gather
tt.func @strided_offsets(%p: !tt.ptr<f32>, %i: tensor<8xi32>) -> tensor<8x16xf32> {
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %c = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %stride = arith.constant dense<24> : tensor<8xi32>
  %rs = arith.muli %r, %stride : tensor<8xi32>
  %sum = arith.addi %rs, %i : tensor<8xi32>
  %e = tt.expand_dims %sum {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %b = tt.broadcast %e : tensor<8x1xi32> -> tensor<8x16xi32>
  %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %cb = tt.broadcast %ce : tensor<1x16xi32> -> tensor<8x16xi32>
  %o = arith.addi %b, %cb : tensor<8x16xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %o : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
  // expected-remark @below {{a view for each index of dimension 0}}
  %v = tt.load %pp : tensor<8x16x!tt.ptr<f32>>
  tt.return %v : tensor<8x16xf32>
}

// -----

// A mask that is a bound of the columns and any mask of the rows.
// CHECK-LABEL: func.func @mask
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<8xi1>
// CHECK: scf.for %[[R:.*]] = %c0 to %c8
// CHECK:   %[[KEEP:.*]] = tensor.extract %[[M]][%[[R]]]
// CHECK:   scf.if %[[KEEP]] {
// CHECK:     %[[O:.*]] = arith.muli %[[R]], %c16
// CHECK:     %[[VIEW:.*]] = aux.view %{{.*}} to offset: [%[[O]]], sizes: [1, 5], strides: [16, 1]
// CHECK:     %[[ROW:.*]] = tensor.extract_slice %{{.*}}[%[[R]], 0] [1, 5] [1, 1]
// CHECK:     bufferization.materialize_in_destination %[[ROW]] in writable %[[VIEW]]
// CHECK-NOT: linalg_ext.scatter
tt.func @mask(%p: !tt.ptr<f32>, %m: tensor<8xi1>, %v: tensor<8x16xf32>) {
  %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %o = tt.reshape %r : tensor<128xi32> -> tensor<8x16xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %pl = tt.addptr %ps, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %pp = tt.reshape %pl : tensor<128x!tt.ptr<f32>> -> tensor<8x16x!tt.ptr<f32>>
  %c = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %five = arith.constant dense<5> : tensor<16xi32>
  %b = arith.cmpi slt, %c, %five : tensor<16xi32>
  %be = tt.expand_dims %b {axis = 0 : i32} : tensor<16xi1> -> tensor<1x16xi1>
  %bb = tt.broadcast %be : tensor<1x16xi1> -> tensor<8x16xi1>
  %me = tt.expand_dims %m {axis = 1 : i32} : tensor<8xi1> -> tensor<8x1xi1>
  %mb = tt.broadcast %me : tensor<8x1xi1> -> tensor<8x16xi1>
  %both = arith.andi %bb, %mb : tensor<8x16xi1>
  // expected-remark @below {{a view for each index of dimension 0 where a mask is true: a view: offset 0, strides [16, 1], elements [0, 8) x [0, 5)}}
  tt.store %pp, %v, %both : tensor<8x16x!tt.ptr<f32>>
  tt.return
}

// -----

// Masks of both dimensions, rows of one element, and rows whose elements have one address stay gathers and scatters.
// CHECK-LABEL: func.func @elements
// CHECK-COUNT-2: linalg_ext.gather
// CHECK: linalg_ext.scatter
tt.func @elements(%p: !tt.ptr<f32>, %i: tensor<8xi32>, %m: tensor<8xi1>, %k: tensor<16xi1>, %v: tensor<8x16xf32>)
    -> (tensor<8x16xf32>, tensor<8x1xf32>) {
  %ie = tt.expand_dims %i {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %ib = tt.broadcast %ie : tensor<8x1xi32> -> tensor<8x16xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %ib : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
  %me = tt.expand_dims %m {axis = 1 : i32} : tensor<8xi1> -> tensor<8x1xi1>
  %mb = tt.broadcast %me : tensor<8x1xi1> -> tensor<8x16xi1>
  %ke = tt.expand_dims %k {axis = 0 : i32} : tensor<16xi1> -> tensor<1x16xi1>
  %kb = tt.broadcast %ke : tensor<1x16xi1> -> tensor<8x16xi1>
  %both = arith.andi %kb, %mb : tensor<8x16xi1>
  // expected-remark @below {{not a view: its pointers are not tracked}}
  %a = tt.load %pp, %both : tensor<8x16x!tt.ptr<f32>>
  %p1 = tt.splat %p : !tt.ptr<f32> -> tensor<8x1x!tt.ptr<f32>>
  %one = tt.addptr %p1, %ie : tensor<8x1x!tt.ptr<f32>>, tensor<8x1xi32>
  // expected-remark @below {{not a view: its pointers are not tracked}}
  %b = tt.load %one : tensor<8x1x!tt.ptr<f32>>
  // expected-remark @below {{not a view: its pointers are not tracked}}
  tt.store %pp, %v, %mb : tensor<8x16x!tt.ptr<f32>>
  tt.return %a, %b : tensor<8x16xf32>, tensor<8x1xf32>
}

// -----

// Columns that begin at the end of the tile, whatever their last one is: nothing is accessed.
// CHECK-LABEL: func.func @no_columns
// CHECK-NEXT: %[[OTHER:.*]] = arith.constant dense<3.000000e+00>
// CHECK-NEXT: return %[[OTHER]]
tt.func @no_columns(%p: !tt.ptr<f32>, %i: tensor<8xi32>, %n: i32) -> tensor<8x16xf32> {
  %c = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %ie = tt.expand_dims %i {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %ib = tt.broadcast %ie : tensor<8x1xi32> -> tensor<8x16xi32>
  %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %cb = tt.broadcast %ce : tensor<1x16xi32> -> tensor<8x16xi32>
  %o = arith.addi %ib, %cb : tensor<8x16xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %o : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
  %first = arith.constant dense<16> : tensor<16xi32>
  %above = arith.cmpi sge, %c, %first : tensor<16xi32>
  %ns = tt.splat %n : i32 -> tensor<16xi32>
  %below = arith.cmpi slt, %c, %ns : tensor<16xi32>
  %m = arith.andi %above, %below : tensor<16xi1>
  %me = tt.expand_dims %m {axis = 0 : i32} : tensor<16xi1> -> tensor<1x16xi1>
  %mb = tt.broadcast %me : tensor<1x16xi1> -> tensor<8x16xi1>
  %other = arith.constant dense<3.0> : tensor<8x16xf32>
  // expected-remark @below {{a view for each index of dimension 0}}
  %v = tt.load %pp, %mb, %other : tensor<8x16x!tt.ptr<f32>>
  // expected-remark @below {{a view for each index of dimension 0}}
  tt.store %pp, %v, %mb : tensor<8x16x!tt.ptr<f32>>
  tt.return %v : tensor<8x16xf32>
}
