// RUN: triton-ext-opt %s -triton-ext-triton-to-structured -canonicalize -cse -split-input-file | FileCheck %s
// RUN: triton-ext-opt %s -triton-ext-triton-to-structured="enable-modulo-support=false enable-make-gather-scatter=false" -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=NO

// NO-NOT: tts.

// Rows and columns wrap around by different numbers. What is added after the remainder goes to the base.
// CHECK-LABEL: tt.func @two_moduli
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[M:.*]]: i32, %[[N:.*]]: i32, %[[S:.*]]: i32, %[[O:.*]]: i32)
// CHECK-DAG: %[[OI:.*]] = arith.index_cast %[[O]] : i32 to index
// CHECK-DAG: %[[MI:.*]] = arith.index_cast %[[M]] : i32 to index
// CHECK-DAG: %[[SI:.*]] = arith.index_cast %[[S]] : i32 to index
// CHECK-DAG: %[[NI:.*]] = arith.index_cast %[[N]] : i32 to index
// CHECK-DAG: %[[OS:.*]] = arith.muli %[[OI]], %[[SI]] : index
// CHECK-DAG: %[[MS:.*]] = arith.muli %[[MI]], %[[SI]] : index
// CHECK-DAG: %[[O64:.*]] = arith.extsi %[[O]] : i32 to i64
// CHECK: %[[B:.*]] = tt.addptr %[[X]], %[[O64]] : !tt.ptr<f32>, i64
// CHECK: tts.make_tptr %[[B]] to sizes: [8, 4], strides: [%[[SI]], 1], offsets: [%[[OS]], 0], shape: [%[[MS]], %[[NI]]], order: []
tt.func @two_moduli(%x: !tt.ptr<f32>, %m: i32, %n: i32, %s: i32, %o: i32) -> tensor<8x4xf32> {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %j = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %os = tt.splat %o : i32 -> tensor<8xi32>
  %is = arith.addi %i, %os : tensor<8xi32>
  %ms = tt.splat %m : i32 -> tensor<8xi32>
  %ns = tt.splat %n : i32 -> tensor<4xi32>
  %im = arith.remsi %is, %ms : tensor<8xi32>
  %jn = arith.remsi %j, %ns : tensor<4xi32>
  %rows = tt.expand_dims %im {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %columns = tt.expand_dims %jn {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %ss = tt.splat %s : i32 -> tensor<8x1xi32>
  %scaled = arith.muli %rows, %ss : tensor<8x1xi32>
  %r = tt.broadcast %scaled : tensor<8x1xi32> -> tensor<8x4xi32>
  %c = tt.broadcast %columns : tensor<1x4xi32> -> tensor<8x4xi32>
  %rc = arith.addi %r, %c : tensor<8x4xi32>
  %ot = tt.splat %o : i32 -> tensor<8x4xi32>
  %sum = arith.addi %rc, %ot : tensor<8x4xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x4x!tt.ptr<f32>>
  %p = tt.addptr %xs, %sum : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
  %v = tt.load %p : tensor<8x4x!tt.ptr<f32>>
  tt.return %v : tensor<8x4xf32>
}

// -----

// The offset behind the remainder goes to a dimension that does not wrap around. A negative factor and a difference turn
// the sign of the term, not that of the modulus.
// CHECK-LABEL: tt.func @one_modulus
// CHECK: %[[O:.*]] = arith.index_cast
// CHECK: tts.make_tptr %{{.*}} to sizes: [8, 4], strides: [-2, 1], offsets: [0, %[[O]]], shape: [10, 0], order: []
// CHECK: tts.make_tptr %{{.*}} to sizes: [8, 4], strides: [2, 1], offsets: [0, %[[O]]], shape: [10, 0], order: []
tt.func @one_modulus(%x: !tt.ptr<f32>, %o: i32) -> tensor<8x4xf32> {
  %five = arith.constant dense<5> : tensor<8xi32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %j = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %im = arith.remsi %i, %five : tensor<8xi32>
  %minus = arith.constant dense<-2> : tensor<8xi32>
  %is = arith.muli %im, %minus : tensor<8xi32>
  %rows = tt.expand_dims %is {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %columns = tt.expand_dims %j {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %r = tt.broadcast %rows : tensor<8x1xi32> -> tensor<8x4xi32>
  %c = tt.broadcast %columns : tensor<1x4xi32> -> tensor<8x4xi32>
  %cr = arith.addi %c, %r : tensor<8x4xi32>
  %ot = tt.splat %o : i32 -> tensor<8x4xi32>
  %sum = arith.addi %cr, %ot : tensor<8x4xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x4x!tt.ptr<f32>>
  %p = tt.addptr %xs, %sum : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
  %v = tt.load %p : tensor<8x4x!tt.ptr<f32>>
  %d = arith.subi %c, %r : tensor<8x4xi32>
  %dt = arith.addi %d, %ot : tensor<8x4xi32>
  %q = tt.addptr %xs, %dt : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
  %w = tt.load %q : tensor<8x4x!tt.ptr<f32>>
  tt.store %p, %w : tensor<8x4x!tt.ptr<f32>>
  tt.return %v : tensor<8x4xf32>
}

// -----

// One arm of the branch wraps around, the other does not: there the shape is 0.
// CHECK-LABEL: tt.func @branch
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[Y:.*]]: !tt.ptr<f32>, %[[M:.*]]: i32, %[[C:.*]]: i1)
// CHECK-DAG: %[[NONE:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[MI:.*]] = arith.index_cast %[[M]] : i32 to index
// CHECK-DAG: %[[SHAPE:.*]] = arith.select %[[C]], %[[MI]], %[[NONE]] : index
// CHECK-DAG: %[[B:.*]] = arith.select %[[C]], %[[X]], %[[Y]] : !tt.ptr<f32>
// CHECK: tts.make_tptr %[[B]] to sizes: [8], strides: [1], offsets: [0], shape: [%[[SHAPE]]], order: []
tt.func @branch(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %m: i32, %b: i1) -> tensor<8xf32> {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ms = tt.splat %m : i32 -> tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p = scf.if %b -> tensor<8x!tt.ptr<f32>> {
    %im = arith.remsi %i, %ms : tensor<8xi32>
    %q = tt.addptr %xs, %im : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %q : tensor<8x!tt.ptr<f32>>
  } else {
    %q = tt.addptr %ys, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %q : tensor<8x!tt.ptr<f32>>
  }
  %v = tt.load %p : tensor<8x!tt.ptr<f32>>
  tt.return %v : tensor<8xf32>
}

// -----

// An unsigned remainder is that of C if no number is negative.
// CHECK-LABEL: tt.func @unsigned
// CHECK: tts.make_tptr %{{.*}} to sizes: [8], strides: [1], offsets: [0], shape: [6], order: []
// CHECK-NOT: tts.make_tptr
tt.func @unsigned(%x: !tt.ptr<f32>, %n: i32) {
  %six = arith.constant dense<6> : tensor<8xi32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ns = tt.splat %n : i32 -> tensor<8xi32>
  %in = arith.addi %i, %ns : tensor<8xi32>
  %a = arith.remui %i, %six : tensor<8xi32>
  %b = arith.remui %in, %six : tensor<8xi32>
  %c = arith.remui %i, %ns : tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %pa = tt.addptr %xs, %a : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %va = tt.load %pa : tensor<8x!tt.ptr<f32>>
  %pb = tt.addptr %xs, %b : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %vb = tt.load %pb : tensor<8x!tt.ptr<f32>>
  %pc = tt.addptr %xs, %c : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %vc = tt.load %pc : tensor<8x!tt.ptr<f32>>
  tt.store %xs, %va : tensor<8x!tt.ptr<f32>>
  tt.store %xs, %vb : tensor<8x!tt.ptr<f32>>
  tt.store %xs, %vc : tensor<8x!tt.ptr<f32>>
  tt.return
}

// -----

// A hash wraps in its type; a remainder of a remainder, and a sum of two remainders, have no form.
// CHECK-LABEL: tt.func @not_wrapped
// CHECK-NOT: tts.
tt.func @not_wrapped(%x: !tt.ptr<f32>, %m: i32) {
  %six = arith.constant dense<6> : tensor<8xi32>
  %many = arith.constant dense<1103515245> : tensor<8xi32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ms = tt.splat %m : i32 -> tensor<8xi32>
  %h = arith.muli %i, %many : tensor<8xi32>
  %a = arith.remsi %h, %six : tensor<8xi32>
  %u = arith.muli %i, %ms : tensor<8xi32>
  %b = arith.remsi %u, %six : tensor<8xi32>
  %r = arith.remsi %i, %six : tensor<8xi32>
  %c = arith.remsi %r, %ms : tensor<8xi32>
  %t = arith.remsi %i, %ms : tensor<8xi32>
  %d = arith.addi %r, %t : tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %pa = tt.addptr %xs, %a : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %va = tt.load %pa : tensor<8x!tt.ptr<f32>>
  %pb = tt.addptr %xs, %b : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %vb = tt.load %pb : tensor<8x!tt.ptr<f32>>
  %pc = tt.addptr %xs, %c : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %vc = tt.load %pc : tensor<8x!tt.ptr<f32>>
  %pd = tt.addptr %xs, %d : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %vd = tt.load %pd : tensor<8x!tt.ptr<f32>>
  tt.store %xs, %va : tensor<8x!tt.ptr<f32>>
  tt.store %xs, %vb : tensor<8x!tt.ptr<f32>>
  tt.store %xs, %vc : tensor<8x!tt.ptr<f32>>
  tt.store %xs, %vd : tensor<8x!tt.ptr<f32>>
  tt.return
}

// -----

// A stride that is known only at run time keeps the dividend apart from a hash if no sum or product of it wraps.
// CHECK-LABEL: tt.func @exact
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[S:.*]]: i32, %[[O:.*]]: i32, %[[M:.*]]: i32)
// CHECK-DAG: %[[SI:.*]] = arith.index_cast %[[S]] : i32 to index
// CHECK-DAG: %[[MI:.*]] = arith.index_cast %[[M]] : i32 to index
// CHECK: tts.make_tptr %[[X]] to sizes: [8], strides: [%[[SI]]], offsets: [%{{.*}}], shape: [%[[MI]]], order: []
tt.func @exact(%x: !tt.ptr<f32>, %s: i32, %o: i32, %m: i32) -> tensor<8xf32> {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ss = tt.splat %s : i32 -> tensor<8xi32>
  %os = tt.splat %o : i32 -> tensor<8xi32>
  %ms = tt.splat %m : i32 -> tensor<8xi32>
  %is = arith.muli %i, %ss overflow<nsw> : tensor<8xi32>
  %sum = arith.addi %is, %os overflow<nsw> : tensor<8xi32>
  %r = arith.remsi %sum, %ms : tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p = tt.addptr %xs, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %v = tt.load %p : tensor<8x!tt.ptr<f32>>
  tt.return %v : tensor<8xf32>
}

// -----

// The product within the sum may wrap.
// CHECK-LABEL: tt.func @product_may_wrap
// CHECK-NOT: tts.
tt.func @product_may_wrap(%x: !tt.ptr<f32>, %s: i32, %o: i32, %m: i32) -> tensor<8xf32> {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ss = tt.splat %s : i32 -> tensor<8xi32>
  %os = tt.splat %o : i32 -> tensor<8xi32>
  %ms = tt.splat %m : i32 -> tensor<8xi32>
  %is = arith.muli %i, %ss : tensor<8xi32>
  %sum = arith.addi %is, %os overflow<nsw> : tensor<8xi32>
  %r = arith.remsi %sum, %ms : tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p = tt.addptr %xs, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %v = tt.load %p : tensor<8x!tt.ptr<f32>>
  tt.return %v : tensor<8xf32>
}

// -----

// The sum may wrap, and the difference may.
// CHECK-LABEL: tt.func @sum_may_wrap
// CHECK-NOT: tts.
tt.func @sum_may_wrap(%x: !tt.ptr<f32>, %s: i32, %o: i32, %m: i32) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ss = tt.splat %s : i32 -> tensor<8xi32>
  %os = tt.splat %o : i32 -> tensor<8xi32>
  %ms = tt.splat %m : i32 -> tensor<8xi32>
  %is = arith.muli %i, %ss overflow<nsw> : tensor<8xi32>
  %sum = arith.addi %is, %os : tensor<8xi32>
  %difference = arith.subi %is, %os : tensor<8xi32>
  %a = arith.remsi %sum, %ms : tensor<8xi32>
  %b = arith.remsi %difference, %ms : tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %pa = tt.addptr %xs, %a : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %va = tt.load %pa : tensor<8x!tt.ptr<f32>>
  %pb = tt.addptr %xs, %b : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %vb = tt.load %pb : tensor<8x!tt.ptr<f32>>
  tt.store %xs, %va : tensor<8x!tt.ptr<f32>>
  tt.store %xs, %vb : tensor<8x!tt.ptr<f32>>
  tt.return
}
