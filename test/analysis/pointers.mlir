// RUN: triton-ext-opt %s -triton-ext-print-analyses=pointers=1 -split-input-file -verify-diagnostics -o %t

// Base, offset and strides of pointers, through each operation that is tracked.

tt.func @lines(%p: !tt.ptr<f32>, %n: i32) {
  %range = tt.make_range {start = 4 : i32, end = 12 : i32} : tensor<8xi32>
  %ns = tt.splat %n : i32 -> tensor<8xi32>
  %two = arith.constant dense<2> : tensor<8xi32>
  %q = tt.addptr %p, %n : !tt.ptr<f32>, i32
  // expected-remark @below {{pointers: base arg0, offset arg1, strides [0]}}
  %splat = tt.splat %q : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  // expected-remark @below {{pointers: base arg0, offset (arg1 + 4), strides [1]}}
  %addptr = tt.addptr %splat, %range : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // expected-remark @below {{pointers: base arg0, offset ((arg1 + 4) + 4), strides [2]}}
  %twice = tt.addptr %addptr, %range : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %i0 = arith.addi %range, %ns : tensor<8xi32>
  // expected-remark @below {{pointers: base arg0, offset (arg1 + (4 + arg1)), strides [1]}}
  %addi = tt.addptr %splat, %i0 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %i1 = arith.subi %ns, %range : tensor<8xi32>
  // expected-remark @below {{pointers: base arg0, offset (arg1 + (arg1 - 4)), strides [-1]}}
  %subi = tt.addptr %splat, %i1 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %i2 = arith.muli %range, %ns : tensor<8xi32>
  // expected-remark @below {{pointers: base arg0, offset (arg1 + (4 * arg1)), strides [arg1]}}
  %muli = tt.addptr %splat, %i2 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %i3 = arith.shli %range, %two : tensor<8xi32>
  // expected-remark @below {{pointers: base arg0, offset (arg1 + 16), strides [4]}}
  %shli = tt.addptr %splat, %i3 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %i4 = arith.extsi %range : tensor<8xi32> to tensor<8xi64>
  // expected-remark @below {{pointers: base arg0, offset (arg1 + 4), strides [1]}}
  %extsi = tt.addptr %splat, %i4 : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
  %i5 = arith.extui %range : tensor<8xi32> to tensor<8xi64>
  // expected-remark @below {{pointers: base arg0, offset (arg1 + 4), strides [1]}}
  %extui = tt.addptr %splat, %i5 : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
  %i6 = arith.trunci %i4 : tensor<8xi64> to tensor<8xi8>
  // expected-remark @below {{pointers: base arg0, offset (arg1 + 4), strides [1]}}
  %trunci = tt.addptr %splat, %i6 : tensor<8x!tt.ptr<f32>>, tensor<8xi8>
  // A cast to elements of the same size keeps the strides; others do not.
  // expected-remark @below {{pointers: base arg0, offset (arg1 + 4), strides [1]}}
  %bitcast = tt.bitcast %addptr : tensor<8x!tt.ptr<f32>> -> tensor<8x!tt.ptr<i32>>
  // expected-remark @below {{pointers: not tracked}}
  %halves = tt.bitcast %addptr : tensor<8x!tt.ptr<f32>> -> tensor<8x!tt.ptr<f16>>
  // Offsets without a constant stride.
  %i7 = arith.muli %range, %range : tensor<8xi32>
  // expected-remark @below {{pointers: not tracked}}
  %uneven = tt.addptr %splat, %i7 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %i8 = arith.trunci %i0 : tensor<8xi32> to tensor<8xi8>
  // expected-remark @below {{pointers: not tracked}}
  %wrapped = tt.addptr %splat, %i8 : tensor<8x!tt.ptr<f32>>, tensor<8xi8>
  tt.return
}

// -----

tt.func @shapes(%p: !tt.ptr<f32>, %n: i32) {
  %range = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  // expected-remark @below {{pointers: base arg0, offset 0, strides [0]}}
  %splat = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  // expected-remark @below {{pointers: base arg0, offset 0, strides [1]}}
  %line = tt.addptr %splat, %range : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // expected-remark @below {{pointers: base arg0, offset 0, strides [1, 0]}}
  %expand = tt.expand_dims %line {axis = 1 : i32} : tensor<8x!tt.ptr<f32>> -> tensor<8x1x!tt.ptr<f32>>
  // expected-remark @below {{pointers: base arg0, offset 0, strides [1, 0]}}
  %broadcast = tt.broadcast %expand : tensor<8x1x!tt.ptr<f32>> -> tensor<8x4x!tt.ptr<f32>>
  %ns = tt.splat %n : i32 -> tensor<8x4xi32>
  // expected-remark @below {{pointers: base arg0, offset arg1, strides [1, 0]}}
  %moved = tt.addptr %broadcast, %ns : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
  // expected-remark @below {{pointers: base arg0, offset arg1, strides [0, 1]}}
  %trans = tt.trans %moved {order = array<i32: 1, 0>} : tensor<8x4x!tt.ptr<f32>> -> tensor<4x8x!tt.ptr<f32>>
  // expected-remark @below {{pointers: base arg0, offset 0, strides [4, 1]}}
  %fold = tt.reshape %line : tensor<8x!tt.ptr<f32>> -> tensor<2x4x!tt.ptr<f32>>
  // expected-remark @below {{pointers: base arg0, offset 0, strides [1]}}
  %squeeze = tt.reshape %expand : tensor<8x1x!tt.ptr<f32>> -> tensor<8x!tt.ptr<f32>>
  // Equal rows, reshaped to a line.
  // expected-remark @below {{pointers: not tracked}}
  %flat = tt.reshape %broadcast : tensor<8x4x!tt.ptr<f32>> -> tensor<32x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @branches(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %w: !tt.ptr<i32>, %c: i1, %n: i32) {
  %range = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  // expected-remark @below {{pointers: base arg0, offset 0, strides [0]}}
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  // expected-remark @below {{pointers: base arg1, offset 0, strides [0]}}
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  // expected-remark @below {{pointers: base arg0, offset 0, strides [1]}}
  %pp = tt.addptr %ps, %range : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // expected-remark @below {{pointers: base (arg3 ? arg0 : arg1), offset 0, strides [(arg3 ? 1 : 0)]}}
  %select = arith.select %c, %pp, %qs : tensor<8x!tt.ptr<f32>>
  %cs = tt.splat %c : i1 -> tensor<8xi1>
  // expected-remark @below {{pointers: base arg0, offset 0, strides [(arg3 ? 1 : 0)]}}
  %splat = arith.select %cs, %pp, %ps : tensor<8xi1>, tensor<8x!tt.ptr<f32>>
  // Values that a branch computes from values before it.
  // expected-remark @below {{pointers: base (arg3 ? arg0 : arg1), offset (arg3 ? arg4 : 0), strides [1]}}
  %if = scf.if %c -> (tensor<8x!tt.ptr<f32>>) {
    %ns = tt.splat %n : i32 -> tensor<8xi32>
    // expected-remark @below {{pointers: base arg0, offset arg4, strides [1]}}
    %moved = tt.addptr %pp, %ns : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %moved : tensor<8x!tt.ptr<f32>>
  } else {
    // expected-remark @below {{pointers: base arg1, offset 0, strides [1]}}
    %other = tt.addptr %qs, %range : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %other : tensor<8x!tt.ptr<f32>>
  }
  %offsets = scf.if %c -> (tensor<8xi32>) {
    %ns = tt.splat %n : i32 -> tensor<8xi32>
    scf.yield %ns : tensor<8xi32>
  } else {
    scf.yield %range : tensor<8xi32>
  }
  // expected-remark @below {{pointers: base arg1, offset (arg3 ? arg4 : 0), strides [(arg3 ? 0 : 1)]}}
  %added = tt.addptr %qs, %offsets : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // A value loaded in a branch is not available behind the branch.
  // expected-remark @below {{pointers: not tracked}}
  %loaded = scf.if %c -> (tensor<8x!tt.ptr<f32>>) {
    %f = tt.load %p : !tt.ptr<f32>
    %k = arith.fptosi %f : f32 to i32
    %ks = tt.splat %k : i32 -> tensor<8xi32>
    // expected-remark @below {{pointers: base arg0, offset arith.fptosi, strides [1]}}
    %moved = tt.addptr %pp, %ks : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %moved : tensor<8x!tt.ptr<f32>>
  } else {
    scf.yield %pp : tensor<8x!tt.ptr<f32>>
  }
  // A select by a tensor, and a select between bases of two types.
  %five = arith.constant dense<5> : tensor<8xi32>
  %m = arith.cmpi slt, %range, %five : tensor<8xi32>
  // expected-remark @below {{pointers: not tracked}}
  %each = arith.select %m, %pp, %qs : tensor<8xi1>, tensor<8x!tt.ptr<f32>>
  // expected-remark @below {{pointers: base arg2, offset 0, strides [0]}}
  %ws = tt.splat %w : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  // expected-remark @below {{pointers: base arg2, offset 0, strides [0]}}
  %fs = tt.bitcast %ws : tensor<8x!tt.ptr<i32>> -> tensor<8x!tt.ptr<f32>>
  // expected-remark @below {{pointers: not tracked}}
  %types = arith.select %c, %pp, %fs : tensor<8x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @loops(%p: !tt.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %step = arith.constant 8 : i32
  %range = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  // expected-remark @below {{pointers: base arg0, offset 0, strides [0]}}
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  // expected-remark @below {{pointers: base arg0, offset 0, strides [1]}}
  %pp = tt.addptr %ps, %range : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %steps = tt.splat %step : i32 -> tensor<8xi32>
  // Loop-carried scalars are tracked like other scalars.
  %end = scf.for %i = %zero to %n step %step iter_args(%o = %zero) -> (i32) : i32 {
    %is = tt.splat %i : i32 -> tensor<8xi32>
    %os = tt.splat %o : i32 -> tensor<8xi32>
    // expected-remark @below {{pointers: base arg0, offset carried0, strides [1]}}
    %by_index = tt.addptr %pp, %is : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    // expected-remark @below {{pointers: base arg0, offset carried1, strides [1]}}
    %carried = tt.addptr %pp, %os : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %next = arith.addi %o, %n : i32
    scf.yield %next : i32
  }
  %ends = tt.splat %end : i32 -> tensor<8xi32>
  // expected-remark @below {{pointers: base arg0, offset scf.for, strides [1]}}
  %behind = tt.addptr %pp, %ends : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %scalar = scf.while (%q = %p) : (!tt.ptr<f32>) -> (!tt.ptr<f32>) {
    %f = tt.load %q : !tt.ptr<f32>
    %k = arith.fptosi %f : f32 to i32
    %again = arith.cmpi slt, %k, %n : i32
    scf.condition(%again) %q : !tt.ptr<f32>
  } do {
  ^bb0(%q: !tt.ptr<f32>):
    // expected-remark @below {{pointers: base carried0, offset 0, strides [0]}}
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    // expected-remark @below {{pointers: base carried0, offset 0, strides [1]}}
    %while = tt.addptr %qs, %range : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %next = tt.addptr %q, %n : !tt.ptr<f32>, i32
    scf.yield %next : !tt.ptr<f32>
  }
  // expected-remark @below {{pointers: base scf.while, offset 0, strides [0]}}
  %ss = tt.splat %scalar : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  // Loop-carried tensors are not tracked: axis information handles them.
  // expected-remark @below {{pointers: not tracked}}
  %tensor = scf.for %i = %zero to %n step %step iter_args(%q = %pp) -> (tensor<8x!tt.ptr<f32>>) : i32 {
    // expected-remark @below {{pointers: not tracked}}
    %next = tt.addptr %q, %steps : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %next : tensor<8x!tt.ptr<f32>>
  }
  tt.return
}
