// RUN: triton-linalg-opt %s -convert-triton-to-linalg -cse -split-input-file | FileCheck %s

// An access without a mask.
// CHECK-LABEL: func.func @whole
// CHECK-SAME: (%[[P:[^:]*]]: i64, %[[Q:[^:]*]]: i64)
// CHECK-NEXT: %[[PP:.*]] = llvm.inttoptr %[[P]] : i64 to !llvm.ptr
// CHECK-NEXT: %[[V:.*]] = aux.view %[[PP]] to offset: [0], sizes: [64], strides: [1] : !llvm.ptr to memref<64xf32, strided<[1]>>
// CHECK-NEXT: %[[T:.*]] = bufferization.to_tensor %[[V]] restrict writable : memref<64xf32, strided<[1]>> to tensor<64xf32>
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<64xf32>
// CHECK-NEXT: %[[C:.*]] = linalg.copy ins(%[[T]] : tensor<64xf32>) outs(%[[E]] : tensor<64xf32>) -> tensor<64xf32>
// CHECK-NEXT: %[[QQ:.*]] = llvm.inttoptr %[[Q]] : i64 to !llvm.ptr
// CHECK-NEXT: %[[W:.*]] = aux.view %[[QQ]] to offset: [0], sizes: [64], strides: [1]
// CHECK-NEXT: bufferization.materialize_in_destination %[[C]] in writable %[[W]]
// CHECK-NEXT: return
tt.func @whole(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %qq = tt.addptr %qs, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %pp : tensor<64x!tt.ptr<f32>>
  tt.store %qq, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// Two dimensions, strides that are known only at run time, and masks along both dimensions.
// CHECK-LABEL: func.func @two_dimensions
// CHECK-SAME: (%[[P:[^:]*]]: i64, %{{.*}}: i64, %[[S:[^:]*]]: i32, %[[M:[^:]*]]: i32, %[[N:[^:]*]]: i32)
// CHECK-DAG: %[[SI:.*]] = arith.index_cast %[[S]] : i32 to index
// CHECK-DAG: %[[MI:.*]] = arith.index_cast %[[M]] : i32 to index
// CHECK-DAG: %[[M0:.*]] = arith.maxsi %[[MI]], %{{.*}} : index
// CHECK-DAG: %[[MS:.*]] = arith.minsi %{{.*}}, %[[M0]] : index
// CHECK-DAG: %[[NI:.*]] = arith.index_cast %[[N]] : i32 to index
// CHECK-DAG: %[[N0:.*]] = arith.maxsi %[[NI]], %{{.*}} : index
// CHECK-DAG: %[[NS:.*]] = arith.minsi %{{.*}}, %[[N0]] : index
// CHECK: %[[V:.*]] = aux.view %{{.*}} to offset: [0], sizes: [%[[MS]], %[[NS]]], strides: [%[[SI]], 1] : !llvm.ptr to memref<?x?xf16, strided<[?, 1]>>
// CHECK: bufferization.to_tensor %[[V]]
// CHECK: %[[E:.*]] = tensor.empty(%[[MS]], %[[NS]]) : tensor<?x?xf16>
// CHECK: %[[C:.*]] = linalg.copy ins(%{{.*}} : tensor<?x?xf16>) outs(%[[E]] : tensor<?x?xf16>)
// CHECK-DAG: %[[HM:.*]] = arith.subi %c16, %[[MS]] : index
// CHECK-DAG: %[[HN:.*]] = arith.subi %c32, %[[NS]] : index
// CHECK: %[[PAD:.*]] = linalg_ext.pad ins(%[[C]] : tensor<?x?xf16>) outs(%{{.*}} : tensor<16x32xf16>) pvalue(%{{.*}} : f16) low = [0, 0] high = [%[[HM]], %[[HN]]]
// CHECK: %[[X:.*]] = tensor.extract_slice %[[PAD]][0, 0] [%[[MS]], %[[NS]]] [1, 1] : tensor<16x32xf16> to tensor<?x?xf16>
// CHECK: bufferization.materialize_in_destination %[[X]] in writable %[[V]]
tt.func @two_dimensions(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %stride: i32, %m: i32, %n: i32) {
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %c = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %c0 = tt.expand_dims %c {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %s = tt.splat %stride : i32 -> tensor<16x1xi32>
  %rs = arith.muli %r1, %s : tensor<16x1xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
  %pr = tt.addptr %ps, %rs : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
  %pb = tt.broadcast %pr : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
  %cb = tt.broadcast %c0 : tensor<1x32xi32> -> tensor<16x32xi32>
  %pp = tt.addptr %pb, %cb : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
  %ms = tt.splat %m : i32 -> tensor<16x1xi32>
  %ns = tt.splat %n : i32 -> tensor<1x32xi32>
  %rm = arith.cmpi slt, %r1, %ms : tensor<16x1xi32>
  %cm = arith.cmpi slt, %c0, %ns : tensor<1x32xi32>
  %rmb = tt.broadcast %rm : tensor<16x1xi1> -> tensor<16x32xi1>
  %cmb = tt.broadcast %cm : tensor<1x32xi1> -> tensor<16x32xi1>
  %mask = arith.andi %rmb, %cmb : tensor<16x32xi1>
  %other = arith.constant dense<1.0> : tensor<16x32xf16>
  %v = tt.load %pp, %mask, %other : tensor<16x32x!tt.ptr<f16>>
  tt.store %pp, %v, %mask : tensor<16x32x!tt.ptr<f16>>
  tt.return
}

// -----

// A mask that is true for the last elements, and an `other` whose elements differ.
// CHECK-LABEL: func.func @behind
// CHECK-SAME: (%[[P:[^:]*]]: i64, %[[N:[^:]*]]: i32, %[[O:[^:]*]]: tensor<64xf32>)
// CHECK: %[[NI:.*]] = arith.index_cast %[[N]] : i32 to index
// CHECK: %[[A:.*]] = arith.maxsi %[[NI]], %c-1
// CHECK: %[[B:.*]] = arith.minsi %{{.*}}, %[[A]] : index
// CHECK: %[[LOW:.*]] = arith.addi %[[B]], %c1 : index
// CHECK: %[[SIZE:.*]] = arith.subi %c64, %[[LOW]] : index
// CHECK: aux.view %{{.*}} to offset: [%[[LOW]]], sizes: [%[[SIZE]]], strides: [1]
// CHECK: %[[C:.*]] = linalg.copy
// CHECK: tensor.insert_slice %[[C]] into %[[O]][%[[LOW]]] [%[[SIZE]]] [1] : tensor<?xf32> into tensor<64xf32>
tt.func @behind(%p: !tt.ptr<f32>, %n: i32, %other: tensor<64xf32>) -> tensor<64xf32> {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi sgt, %r, %ns : tensor<64xi32>
  %v = tt.load %pp, %mask, %other : tensor<64x!tt.ptr<f32>>
  tt.return %v : tensor<64xf32>
}

// -----

// Pointers that are not strided become a gather and a scatter. i32 offsets are extended before they are added.
// CHECK-LABEL: func.func @discrete
// CHECK-SAME: (%[[P:[^:]*]]: i64, %[[I:[^:]*]]: tensor<8x4xi32>, %[[J:[^:]*]]: tensor<8x4xi32>, %[[M:[^:]*]]: tensor<8x4xi1>)
// CHECK-DAG: %[[II:.*]] = arith.extsi %[[I]] : tensor<8x4xi32> to tensor<8x4xi64>
// CHECK-DAG: %[[JJ:.*]] = arith.extsi %[[J]] : tensor<8x4xi32> to tensor<8x4xi64>
// CHECK: %[[S:.*]] = arith.addi %[[II]], %[[JJ]] : tensor<8x4xi64>
// CHECK: %[[V:.*]] = aux.view %{{.*}} to offset: [0], sizes: [9223372036854775807], strides: [1]
// CHECK: tensor.collapse_shape %[[S]]
// CHECK: %[[W:.*]] = tensor.expand_shape {{.*}} into tensor<32x1xi64>
// CHECK: %[[T:.*]] = bufferization.to_tensor %[[V]] restrict writable
// CHECK: %[[MM:.*]] = tensor.collapse_shape %[[M]]
// CHECK: %[[Z:.*]] = linalg.fill
// CHECK: linalg_ext.gather dimension_map = [0] ranged_data(false) signed_indice(true) ins(%[[T]], %[[W]], %[[MM]] : tensor<9223372036854775807xf32>, tensor<32x1xi64>, tensor<32xi1>) outs(%[[Z]] : tensor<32x1xf32>)
// CHECK: linalg_ext.scatter dimension_map = [0] ranged_data(false) overlap_window(true) signed_indice(true) ins(%{{.*}}, %[[W]], %[[MM]] : tensor<32x1xf32>, tensor<32x1xi64>, tensor<32xi1>) outs(%[[V]] :
tt.func @discrete(%p: !tt.ptr<f32>, %i: tensor<8x4xi32>, %j: tensor<8x4xi32>, %m: tensor<8x4xi1>) {
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x4x!tt.ptr<f32>>
  %p1 = tt.addptr %ps, %i : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
  %p2 = tt.addptr %p1, %j : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
  %v = tt.load %p2, %m : tensor<8x4x!tt.ptr<f32>>
  tt.store %p2, %v, %m : tensor<8x4x!tt.ptr<f32>>
  tt.return
}

// -----

// An access of contiguous pointers whose mask is loaded is a gather.
// CHECK-LABEL: func.func @data_mask
// CHECK-SAME: %[[M:[^:]*]]: tensor<64xi1>
// CHECK-NOT: linalg.copy
// CHECK: linalg_ext.gather {{.*}}, %[[M]] :
tt.func @data_mask(%p: !tt.ptr<f32>, %m: tensor<64xi1>) -> tensor<64xf32> {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %pp, %m : tensor<64x!tt.ptr<f32>>
  tt.return %v : tensor<64xf32>
}

// -----

// Pointers without a known base may not be whole elements apart, so each is accessed alone, without alignment.
// CHECK-LABEL: func.func @addresses
// CHECK-SAME: (%[[P:[^:]*]]: tensor<8xi64>)
// CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%[[T:.*]] = %{{.*}}) -> (tensor<8xf32>)
// CHECK: %[[A:.*]] = tensor.extract %[[P]][%[[I]]]
// CHECK: %[[L:.*]] = llvm.inttoptr %[[A]]
// CHECK: %[[V:.*]] = aux.view %[[L]] to offset: [0], sizes: [1], strides: [1]
// CHECK: %[[E:.*]] = memref.load %[[V]]{{.*}} {alignment = 1 : i64}
// CHECK: tensor.insert %[[E]] into %[[T]][%[[I]]]
tt.func @addresses(%p: tensor<8x!tt.ptr<f32>>) -> tensor<8xf32> {
  %v = tt.load %p : tensor<8x!tt.ptr<f32>>
  tt.return %v : tensor<8xf32>
}

// -----

// If all addresses are multiples of the element size, or elements have one byte, they become indices from address 0.
// CHECK-LABEL: func.func @aligned_addresses
// CHECK-SAME: (%[[P:[^:]*]]: tensor<8xi64>
// CHECK-DAG: %[[Z:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK-DAG: %[[C:.*]] = arith.constant dense<4> : tensor<8xi64>
// CHECK: arith.divui %[[P]], %[[C]] : tensor<8xi64>
// CHECK: aux.view %[[Z]] to offset: [0]
// CHECK: linalg_ext.gather
// CHECK: linalg_ext.gather
// CHECK-NOT: scf.for
tt.func @aligned_addresses(%p: tensor<8x!tt.ptr<f32>> {tt.divisibility = 16 : i32}, %q: tensor<8x!tt.ptr<i8>>) -> (tensor<8xf32>, tensor<8xi8>) {
  %v = tt.load %p : tensor<8x!tt.ptr<f32>>
  %w = tt.load %q : tensor<8x!tt.ptr<i8>>
  tt.return %v, %w : tensor<8xf32>, tensor<8xi8>
}

// -----

// A scalar whose mask is false is not accessed; a load then yields `other`, or 0.
// CHECK-LABEL: func.func @scalars
// CHECK-SAME: (%[[P:[^:]*]]: i64, %[[O:[^:]*]]: i32, %[[C:[^:]*]]: i1, %[[OTHER:[^:]*]]: f32)
// CHECK-NOT: memref.load
// CHECK: %[[V:.*]] = scf.if %[[C]] -> (f32) {
// CHECK: aux.view %{{.*}} to offset: [%{{.*}}], sizes: [1], strides: [1]
// CHECK: memref.load
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[OTHER]] : f32
// CHECK: %[[W:.*]] = scf.if %[[C]] -> (f32) {
// CHECK: memref.load
// CHECK: } else {
// CHECK-NEXT: scf.yield %cst
// CHECK: %[[S:.*]] = arith.addf %[[V]], %[[W]]
// CHECK-NEXT: scf.if %[[C]] {
// CHECK: memref.store %[[S]]
// CHECK: }
// CHECK-NEXT: return
tt.func @scalars(%p: !tt.ptr<f32>, %o: i32, %c: i1, %other: f32) {
  %q = tt.addptr %p, %o : !tt.ptr<f32>, i32
  %v = tt.load %q, %c, %other : !tt.ptr<f32>
  %w = tt.load %q, %c : !tt.ptr<f32>
  %s = arith.addf %v, %w : f32
  tt.store %q, %s, %c : !tt.ptr<f32>
  tt.return
}

// -----

// A load after a store to the same address is not replaced by the load before it.
// CHECK-LABEL: func.func @again
// CHECK: %[[T:.*]] = bufferization.to_tensor
// CHECK: %[[A:.*]] = linalg.copy ins(%[[T]]
// CHECK: bufferization.materialize_in_destination
// CHECK: %[[U:.*]] = bufferization.to_tensor
// CHECK: %[[B:.*]] = linalg.copy ins(%[[U]]
// CHECK: return %[[A]], %[[B]]
tt.func @again(%p: !tt.ptr<f32>, %x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %pp : tensor<64x!tt.ptr<f32>>
  tt.store %pp, %x : tensor<64x!tt.ptr<f32>>
  %w = tt.load %pp : tensor<64x!tt.ptr<f32>>
  tt.return %v, %w : tensor<64xf32>, tensor<64xf32>
}

// -----

// All elements have one address: a load becomes a view with stride 0, a store a scatter, because the order counts.
// CHECK-LABEL: func.func @one_address
// CHECK: aux.view %{{.*}} to offset: [0], sizes: [64], strides: [0]
// CHECK: linalg.copy
// CHECK: linalg_ext.scatter
tt.func @one_address(%p: !tt.ptr<f32>) {
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %v = tt.load %ps : tensor<64x!tt.ptr<f32>>
  tt.store %ps, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// Offsets may be sums, products and shifts of ranges and constants, reshaped into rows, or transposed.
// CHECK-LABEL: func.func @forms
// CHECK: aux.view %{{.*}} to offset: [7], sizes: [4, 8], strides: [24, 3]
// CHECK: aux.view %{{.*}} to offset: [7], sizes: [8, 4], strides: [3, 24]
// CHECK: %[[M2:.*]] = arith.constant -2 : index
// CHECK: aux.view %{{.*}} to offset: [%[[M2]]], sizes: [32], strides: [-4]
tt.func @forms(%p: !tt.ptr<f32>) -> (tensor<4x8xf32>, tensor<8x4xf32>, tensor<32xf32>) {
  %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %c3 = arith.constant dense<3> : tensor<32xi32>
  %c7 = arith.constant dense<7> : tensor<4x8xi64>
  %r3 = arith.muli %r, %c3 : tensor<32xi32>
  %wide = arith.extsi %r3 : tensor<32xi32> to tensor<32xi64>
  %rows = tt.reshape %wide : tensor<32xi64> -> tensor<4x8xi64>
  %o = arith.addi %c7, %rows : tensor<4x8xi64>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x8x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %o : tensor<4x8x!tt.ptr<f32>>, tensor<4x8xi64>
  %v = tt.load %pp : tensor<4x8x!tt.ptr<f32>>
  %pt = tt.trans %pp {order = array<i32: 1, 0>} : tensor<4x8x!tt.ptr<f32>> -> tensor<8x4x!tt.ptr<f32>>
  %w = tt.load %pt : tensor<8x4x!tt.ptr<f32>>
  %c2 = arith.constant dense<2> : tensor<32xi32>
  %cm2 = arith.constant dense<-2> : tensor<32xi32>
  %r4 = arith.shli %r, %c2 : tensor<32xi32>
  %down = arith.subi %cm2, %r4 : tensor<32xi32>
  %ls = tt.splat %p : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %ll = tt.addptr %ls, %down : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  %x = tt.load %ll : tensor<32x!tt.ptr<f32>>
  tt.return %v, %w, %x : tensor<4x8xf32>, tensor<8x4xf32>, tensor<32xf32>
}

// -----

// Masks with the range on the right, of equality, of two bounds, of one scalar, and that are always false.
// CHECK-LABEL: func.func @masks
// CHECK-SAME: (%{{.*}}: i64, %[[N:[^:]*]]: i32, %[[C:[^:]*]]: i1)
// CHECK: %[[LOW:.*]] = arith.minsi %c32, %{{.*}} : index
// CHECK: %[[HIGH:.*]] = arith.addi %{{.*}}, %c1 : index
// CHECK: %[[ONE:.*]] = arith.subi %[[HIGH]], %[[LOW]] : index
// CHECK: aux.view %{{.*}} to offset: [%[[LOW]]], sizes: [%[[ONE]]], strides: [1]
// CHECK: linalg_ext.pad {{.*}} low = [%[[LOW]]] high = [%{{.*}}]
// CHECK: aux.view %{{.*}} to offset: [4], sizes: [%{{.*}}], strides: [1]
// CHECK: %[[S:.*]] = arith.select %[[C]], %c32{{.*}}, %c0{{.*}} : index
// CHECK: aux.view %{{.*}} to offset: [0], sizes: [%[[S]]], strides: [1]
// CHECK-NOT: aux.view
// CHECK: %[[NEVER:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK-NEXT: return %{{.*}}, %{{.*}}, %{{.*}}, %[[NEVER]] :
tt.func @masks(%p: !tt.ptr<f32>, %n: i32, %c: i1) -> (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) {
  %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  %ns = tt.splat %n : i32 -> tensor<32xi32>
  %eq = arith.cmpi eq, %ns, %r : tensor<32xi32>
  %v = tt.load %pp, %eq : tensor<32x!tt.ptr<f32>>
  %c4 = arith.constant dense<4> : tensor<32xi32>
  %ge = arith.cmpi sle, %c4, %r : tensor<32xi32>
  %lt = arith.cmpi slt, %r, %ns : tensor<32xi32>
  %between = arith.andi %ge, %lt : tensor<32xi1>
  %w = tt.load %pp, %between : tensor<32x!tt.ptr<f32>>
  %cs = tt.splat %c : i1 -> tensor<32xi1>
  %x = tt.load %pp, %cs : tensor<32x!tt.ptr<f32>>
  %false = arith.constant dense<false> : tensor<32xi1>
  %y = tt.load %pp, %false : tensor<32x!tt.ptr<f32>>
  tt.return %v, %w, %x, %y : tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>
}

// -----

// Accesses that are not tracked, because a view would be wrong: an unsigned comparison, a sum of narrow integers, a
// truncated offset, and a disjunction of masks.
// CHECK-LABEL: func.func @not_tracked
// CHECK-NOT: linalg.copy
// CHECK-COUNT-4: linalg_ext.gather
// CHECK-NOT: linalg.copy
// CHECK: return
tt.func @not_tracked(%p: !tt.ptr<f32>, %n: i32, %a: i8, %m: tensor<32xi1>) -> (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) {
  %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  %ns = tt.splat %n : i32 -> tensor<32xi32>
  %ult = arith.cmpi ult, %r, %ns : tensor<32xi32>
  %v = tt.load %pp, %ult : tensor<32x!tt.ptr<f32>>
  %rn = arith.addi %r, %ns : tensor<32xi32>
  %r8 = arith.trunci %rn : tensor<32xi32> to tensor<32xi8>
  %as = tt.splat %a : i8 -> tensor<32xi8>
  %low = arith.trunci %r : tensor<32xi32> to tensor<32xi8>
  %sum = arith.addi %low, %as : tensor<32xi8>
  %ep = tt.addptr %pp, %sum : tensor<32x!tt.ptr<f32>>, tensor<32xi8>
  %w = tt.load %ep : tensor<32x!tt.ptr<f32>>
  %tp = tt.addptr %ps, %r8 : tensor<32x!tt.ptr<f32>>, tensor<32xi8>
  %x = tt.load %tp : tensor<32x!tt.ptr<f32>>
  %lt = arith.cmpi slt, %r, %ns : tensor<32xi32>
  %or = arith.ori %lt, %m : tensor<32xi1>
  %y = tt.load %pp, %or : tensor<32x!tt.ptr<f32>>
  tt.return %v, %w, %x, %y : tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>
}

// -----

// Atomics with indices; a scalar has one element. Memory is not accessed where the mask is false.
// CHECK-LABEL: func.func @atomics
// CHECK-SAME: (%[[P:[^:]*]]: i64, %[[Q:[^:]*]]: i64, %[[V:[^:]*]]: tensor<8xf32>, %[[I:[^:]*]]: tensor<8xi32>, %[[M:[^:]*]]: tensor<8xi1>, %[[C:[^:]*]]: i1, %[[N:[^:]*]]: i32)
// CHECK: %[[ALL:.*]] = aux.view %{{.*}} to offset: [0], sizes: [9223372036854775807], strides: [1]
// CHECK: %[[VW:.*]] = tensor.expand_shape %[[V]] {{.*}} into tensor<8x1xf32>
// CHECK: %[[Z:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<8x1xf32>)
// CHECK: linalg_ext.gather_atomic_rmw addf acq_rel ins(%[[VW]], %{{.*}}, %[[M]] : tensor<8x1xf32>, tensor<8x1xi64>, tensor<8xi1>) outs(%[[ALL]], %[[Z]] : memref<9223372036854775807xf32, strided<[1]>>, tensor<8x1xf32>) {scope = "gpu"} -> tensor<8x1xf32>
// CHECK: %[[ONE:.*]] = aux.view %{{.*}} to offset: [%{{.*}}], sizes: [1], strides: [1]
// CHECK: %[[NW:.*]] = tensor.from_elements %[[N]] : tensor<1x1xi32>
// CHECK: %[[CW:.*]] = tensor.from_elements %[[C]] : tensor<1xi1>
// CHECK: %[[OLD:.*]] = linalg_ext.gather_atomic_rmw maxu relaxed ins(%[[NW]], %{{.*}}, %[[CW]] : tensor<1x1xi32>, tensor<1x1xi64>, tensor<1xi1>) outs(%[[ONE]], %{{.*}} : {{.*}}) {scope = "cta"}
// CHECK: tensor.extract %[[OLD]]
// CHECK: linalg_ext.gather_atomic_cas acquire ins(%[[NW]], %[[NW]], %{{.*}} : tensor<1x1xi32>, tensor<1x1xi32>, tensor<1x1xi64>) outs({{.*}}) {scope = "sys"} -> tensor<1x1xi32>
tt.func @atomics(%p: !tt.ptr<f32>, %q: !tt.ptr<i32>, %v: tensor<8xf32>, %i: tensor<8xi32>, %m: tensor<8xi1>, %c: i1, %n: i32) -> (tensor<8xf32>, i32, i32) {
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %pp, %v, %m : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
  %qn = tt.addptr %q, %n : !tt.ptr<i32>, i32
  %1 = tt.atomic_rmw umax, relaxed, cta, %qn, %n, %c : (!tt.ptr<i32>, i32, i1) -> i32
  %2 = tt.atomic_cas acquire, sys, %q, %n, %n : (!tt.ptr<i32>, i32, i32) -> i32
  tt.return %0, %1, %2 : tensor<8xf32>, i32, i32
}

// -----

// If the mask is always false, memory is not accessed, and a load yields `other`.
// CHECK-LABEL: func.func @nothing
// CHECK-SAME: (%{{.*}}: i64, %[[O:[^:]*]]: tensor<16xf32>, %{{.*}}: i32)
// CHECK-NOT: aux.view
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<16xf32>
// CHECK-NOT: aux.view
// CHECK: return %[[O]], %[[ZERO]], %[[ZERO]] : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
tt.func @nothing(%p: !tt.ptr<f32>, %o: tensor<16xf32>, %n: i32) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %c = arith.constant dense<16> : tensor<16xi32>
  %m = arith.cmpi sge, %r, %c : tensor<16xi32>
  %ns = tt.splat %n : i32 -> tensor<16xi32>
  %l = arith.cmpi slt, %r, %ns : tensor<16xi32>
  %ml = arith.andi %m, %l : tensor<16xi1>
  %0 = tt.load %pp, %m, %o : tensor<16x!tt.ptr<f32>>
  %1 = tt.load %pp, %ml : tensor<16x!tt.ptr<f32>>
  %2 = tt.atomic_rmw fadd, acq_rel, gpu, %pp, %o, %m : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>, tensor<16xi1>) -> tensor<16xf32>
  tt.store %pp, %o, %ml : tensor<16x!tt.ptr<f32>>
  tt.return %0, %1, %2 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}

// -----

// A mask that is true for the last element alone is not always false.
// CHECK-LABEL: func.func @negative_nothing
// CHECK: aux.view %{{.*}} to offset: [15], sizes: [1], strides: [1]
tt.func @negative_nothing(%p: !tt.ptr<f32>) -> tensor<16xf32> {
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %c = arith.constant dense<15> : tensor<16xi32>
  %m = arith.cmpi sge, %r, %c : tensor<16xi32>
  %0 = tt.load %pp, %m : tensor<16x!tt.ptr<f32>>
  tt.return %0 : tensor<16xf32>
}

// -----

// A tensor of rank 0 is accessed as a scalar, under its mask.
// CHECK-LABEL: func.func @no_dimensions
// CHECK-SAME: (%[[P:[^:]*]]: i64, %[[T:[^:]*]]: tensor<i64>, %[[C:[^:]*]]: i1)
// CHECK: %[[V:.*]] = scf.if %[[C]] -> (f32) {
// CHECK: memref.load
// CHECK: %[[A:.*]] = tensor.extract %[[T]][] : tensor<i64>
// CHECK: %[[AT:.*]] = llvm.inttoptr %[[A]] : i64 to !llvm.ptr
// CHECK: %[[VIEW:.*]] = aux.view %[[AT]] to offset: [0], sizes: [1], strides: [1]
// CHECK: memref.store %[[V]], %[[VIEW]]
// CHECK: %[[M:.*]] = tensor.from_elements %[[C]] : tensor<1xi1>
// CHECK: %[[OLD:.*]] = linalg_ext.gather_atomic_rmw addf acq_rel ins(%{{.*}}, %{{.*}}, %[[M]] :
// CHECK: %[[O:.*]] = tensor.extract %[[OLD]]
// CHECK: linalg.fill ins(%[[O]] : f32) outs(%{{.*}} : tensor<f32>)
tt.func @no_dimensions(%x: !tt.ptr<f32>, %t: tensor<!tt.ptr<f32>>, %c: i1) -> tensor<f32> {
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<!tt.ptr<f32>>
  %m = tt.splat %c : i1 -> tensor<i1>
  %v = tt.load %p, %m : tensor<!tt.ptr<f32>>
  tt.store %t, %v : tensor<!tt.ptr<f32>>
  %old = tt.atomic_rmw fadd, acq_rel, gpu, %t, %v, %m : (tensor<!tt.ptr<f32>>, tensor<f32>, tensor<i1>) -> tensor<f32>
  tt.return %old : tensor<f32>
}

// -----

// The offsets of a tile that has been clamped are not contiguous, even if the kernel says that they are.
// CHECK-LABEL: func.func @clamped
// CHECK: linalg_ext.gather
tt.func @clamped(%p: !tt.ptr<f32>, %n: tensor<64xi32>) -> tensor<64xf32> {
  %zero = arith.constant dense<0> : tensor<64xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %c = arith.cmpi slt, %r, %n : tensor<64xi32>
  %o = arith.select %c, %r, %zero {tt.contiguity = dense<64> : tensor<1xi32>, tt.divisibility = dense<64> : tensor<1xi32>} : tensor<64xi1>, tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %o : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %pp : tensor<64x!tt.ptr<f32>>
  tt.return %v : tensor<64xf32>
}

// -----

// An i32 shifted left and right by 28 keeps four signed bits, so 8 becomes -8. Only a range up to 7 is a view.
// CHECK-LABEL: func.func @wrapping
// CHECK: linalg_ext.gather
// CHECK: aux.view %{{.*}} to offset: [0], sizes: [8], strides: [1]
// CHECK-NOT: linalg_ext.gather
// CHECK: return
tt.func @wrapping(%p: !tt.ptr<f32>) -> (tensor<16xf32>, tensor<8xf32>) {
  %high = arith.constant dense<28> : tensor<16xi32>
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %s = arith.shli %r, %high : tensor<16xi32>
  %o = arith.shrsi %s, %high : tensor<16xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %v = tt.load %pp : tensor<16x!tt.ptr<f32>>
  %half = arith.constant dense<28> : tensor<8xi32>
  %r8 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %s8 = arith.shli %r8, %half : tensor<8xi32>
  %o8 = arith.shrsi %s8, %half : tensor<8xi32>
  %ps8 = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %pp8 = tt.addptr %ps8, %o8 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %w = tt.load %pp8 : tensor<8x!tt.ptr<f32>>
  tt.return %v, %w : tensor<16xf32>, tensor<8xf32>
}

// -----

// How an access is cached is an attribute of its view.
// CHECK-LABEL: func.func @cached
// CHECK: aux.view {{.*}} {cache_mode = "cmnormal"} : !llvm.ptr to memref<16xf32
// CHECK: %[[V:.*]] = aux.view {{.*}} {cache_mode = "cmtransient"} : !llvm.ptr to memref<16xf32
// CHECK: aux.view {{.*}} {cache_mode = "cmnormal"} : !llvm.ptr to memref<1xf32
// CHECK: aux.view {{.*}} {cache_mode = "cmtransient"} : !llvm.ptr to memref<1xf32
// CHECK: aux.view {{.*}} strides: [1] : !llvm.ptr to memref<1xf32
// CHECK: bufferization.materialize_in_destination %{{.*}} in writable %[[V]]
tt.func @cached(%p: !tt.ptr<f32>) {
  %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %a = tt.addptr %s, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %x = tt.load %a {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_normal>} : tensor<16x!tt.ptr<f32>>
  %y = tt.load %a {cachePolicy = #tt.cache_policy<cache_modifier = cs, eviction_policy = evict_normal>} : tensor<16x!tt.ptr<f32>>
  %z = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>} : !tt.ptr<f32>
  %v = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>} : !tt.ptr<f32>
  %w = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = cv, eviction_policy = evict_normal>} : !tt.ptr<f32>
  %0 = arith.addf %x, %y : tensor<16xf32>
  %1 = arith.addf %z, %w : f32
  %4 = arith.addf %1, %v : f32
  %2 = tt.splat %4 : f32 -> tensor<16xf32>
  %3 = arith.addf %0, %2 : tensor<16xf32>
  tt.store %a, %3 {cachePolicy = #tt.cache_policy<cache_modifier = wt, eviction_policy = evict_normal>} : tensor<16x!tt.ptr<f32>>
  tt.return
}
