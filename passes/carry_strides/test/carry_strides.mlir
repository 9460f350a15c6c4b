// RUN: triton-ext-opt %s -triton-ext-carry-strides -canonicalize -cse | FileCheck %s

// Two tensors are swapped, which have one base and one stride: only their
// offsets are carried.
// CHECK-LABEL: tt.func @swapped
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[N:.*]]: i32)
// CHECK: scf.for {{.*}} iter_args(%[[O:.*]] = %c0_i64, %[[R:.*]] = %c100_i64) -> (i64, i64)
// CHECK: %[[XO:.*]] = tt.addptr %[[X]], %[[O]] : !tt.ptr<f32>, i64
// CHECK: %[[S:.*]] = tt.splat %[[XO]] : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
// CHECK: %[[P:.*]] = tt.addptr %[[S]], %{{.*}} : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
// CHECK: tt.store %[[P]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[O]], %c8_i64 : i64
// CHECK: scf.yield %[[R]], %[[NEXT]] : i64, i64
tt.func @swapped(%x: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant dense<8> : tensor<8xi32>
  %c100 = arith.constant dense<100> : tensor<8xi32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %base = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p0 = tt.addptr %base, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %q0 = tt.addptr %p0, %c100 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0, %q = %q0) -> (tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<8x!tt.ptr<f32>>
    %next = tt.addptr %p, %c8 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %q, %next : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  }
  tt.return
}

// The loop also carries bases and strides if they differ.
// CHECK-LABEL: tt.func @two_bases
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[Y:.*]]: !tt.ptr<f32>,
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %[[X]], %[[S:.*]] = %c1_i64, %[[B:.*]] = %[[Y]], %[[T:.*]] = %c2_i64) -> (!tt.ptr<f32>, i64, !tt.ptr<f32>, i64)
// CHECK: scf.yield %[[B]], %[[T]], %[[A]], %[[S]]
tt.func @two_bases(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant dense<2> : tensor<8xi32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %i2 = arith.muli %i, %c2 : tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p0 = tt.addptr %xs, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %q0 = tt.addptr %ys, %i2 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0, %q = %q0) -> (tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<8x!tt.ptr<f32>>
    scf.yield %q, %p : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  }
  tt.return
}

// A while advances a tile by a stride that is an argument. Behind the loop the
// tile is rebuilt.
// CHECK-LABEL: tt.func @tile_in_while
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[N:.*]]: i32, %[[STEP:.*]]: i32)
// CHECK: %[[R:.*]]:2 = scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %c0_i64) : (i32, i64) -> (i32, i64)
// CHECK: ^bb0(%{{.*}}: i32, %[[O:.*]]: i64)
// CHECK: %[[RANGE:.*]] = tt.make_range {end = 8 : i32, start = 0 : i32}
// CHECK: %[[I:.*]] = arith.extsi %[[RANGE]]
// CHECK: %[[ROWS:.*]] = arith.muli %[[I]], %{{.*}} : tensor<8xi64>
// CHECK: %[[E:.*]] = tt.expand_dims %[[ROWS]] {axis = 1 : i32}
// CHECK: %[[B:.*]] = tt.broadcast %[[E]]
// CHECK: %[[PLACES:.*]] = arith.addi %[[B]], %{{.*}} : tensor<8x4xi64>
// CHECK: tt.addptr %{{.*}}, %[[PLACES]]
// CHECK: tt.load
// CHECK: %[[BY:.*]] = arith.extsi %[[STEP]] : i32 to i64
// CHECK: %[[NEXT:.*]] = arith.addi %[[O]], %[[BY]] : i64
// CHECK: scf.yield %{{.*}}, %[[NEXT]] : i32, i64
// CHECK: tt.addptr %[[X]], %[[R]]#1 : !tt.ptr<f32>, i64
// CHECK: tt.load
tt.func @tile_in_while(%x: !tt.ptr<f32>, %n: i32, %step: i32) -> (tensor<8x4xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant dense<16> : tensor<8x1xi32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %j = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ie = tt.expand_dims %i {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %je = tt.expand_dims %j {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %is = arith.muli %ie, %c16 : tensor<8x1xi32>
  %ib = tt.broadcast %is : tensor<8x1xi32> -> tensor<8x4xi32>
  %jb = tt.broadcast %je : tensor<1x4xi32> -> tensor<8x4xi32>
  %ij = arith.addi %ib, %jb : tensor<8x4xi32>
  %base = tt.splat %x : !tt.ptr<f32> -> tensor<8x4x!tt.ptr<f32>>
  %p0 = tt.addptr %base, %ij : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
  %by = tt.splat %step : i32 -> tensor<8x4xi32>
  %r:2 = scf.while (%k = %c0, %p = %p0) : (i32, tensor<8x4x!tt.ptr<f32>>) -> (i32, tensor<8x4x!tt.ptr<f32>>) {
    %more = arith.cmpi slt, %k, %n : i32
    scf.condition(%more) %k, %p : i32, tensor<8x4x!tt.ptr<f32>>
  } do {
  ^bb0(%k: i32, %p: tensor<8x4x!tt.ptr<f32>>):
    %v = tt.load %p : tensor<8x4x!tt.ptr<f32>>
    tt.store %p, %v : tensor<8x4x!tt.ptr<f32>>
    %q = tt.addptr %p, %by : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
    %k1 = arith.addi %k, %c1 : i32
    scf.yield %k1, %q : i32, tensor<8x4x!tt.ptr<f32>>
  }
  %last = tt.load %r#1 : tensor<8x4x!tt.ptr<f32>>
  tt.return %last : tensor<8x4xf32>
}

// The inner loop begins with what the outer one carries.
// CHECK-LABEL: tt.func @nested
// CHECK: scf.for {{.*}} -> (i64)
// CHECK: scf.for {{.*}} -> (i64)
// CHECK-NOT: tensor<8x!tt.ptr<f32>>)
tt.func @nested(%x: !tt.ptr<f32>, %n: i32, %c: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant dense<8> : tensor<8xi32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %base = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p0 = tt.addptr %base, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (tensor<8x!tt.ptr<f32>>) : i32 {
    %s = scf.for %l = %c0 to %k step %c1 iter_args(%q = %p) -> (tensor<8x!tt.ptr<f32>>) : i32 {
      tt.store %q, %one : tensor<8x!tt.ptr<f32>>
      %further = tt.addptr %q, %c8 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
      %next = arith.select %c, %further, %q : tensor<8x!tt.ptr<f32>>
      scf.yield %next : tensor<8x!tt.ptr<f32>>
    }
    scf.yield %s : tensor<8x!tt.ptr<f32>>
  }
  tt.return
}

// The stride is 1 only in the first iteration.
// CHECK-LABEL: tt.func @stride_doubles
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %c0_i32, %[[S:.*]] = %c1_i32) -> (i32, i32)
// CHECK: %[[W:.*]] = arith.extsi %[[S]] : i32 to i64
// CHECK: %[[T:.*]] = arith.muli %[[W]], %c2_i64 : i64
// CHECK: %[[NEXT:.*]] = arith.trunci %[[T]] : i64 to i32
// CHECK: scf.yield %{{.*}}, %[[NEXT]] : i32, i32
tt.func @stride_doubles(%x: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant dense<2> : tensor<8xi32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %base = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%j = %i) -> (tensor<8xi32>) : i32 {
    %p = tt.addptr %base, %j : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    tt.store %p, %one : tensor<8x!tt.ptr<f32>>
    %next = arith.muli %j, %c2 : tensor<8xi32>
    scf.yield %next : tensor<8xi32>
  }
  tt.return
}

// The second iteration begins with another number than the first.
// CHECK-LABEL: tt.func @sum_and_difference
// CHECK-SAME: %[[A:[^,]*]]: i64, %[[B:.*]]: i64
// CHECK-DAG: %[[SUM:.*]] = arith.addi %[[A]], %[[B]]
// CHECK-DAG: %[[DIFFERENCE:.*]] = arith.subi %[[A]], %[[B]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[SUM]]) -> (i64)
// CHECK: scf.yield %[[DIFFERENCE]]
tt.func @sum_and_difference(%n: i32, %a: i64, %b: i64) -> tensor<8xi64> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = arith.addi %a, %b : i64
  %difference = arith.subi %a, %b : i64
  %first = tt.splat %sum : i64 -> tensor<8xi64>
  %second = tt.splat %difference : i64 -> tensor<8xi64>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %first) -> (tensor<8xi64>) : i32 {
    scf.yield %second : tensor<8xi64>
  }
  tt.return %r : tensor<8xi64>
}
