// RUN: triton-linalg-opt %s -convert-triton-to-linalg -Rpass-analysis=linalg -Rpass-missed=linalg -split-input-file -verify-diagnostics=only-expected -o %t

// Remarks at accesses tell what the trackers know of pointers and masks.

tt.func @lines(%p: !tt.ptr<f32>, %n: i32) {
  %r = tt.make_range {start = 4 : i32, end = 68 : i32} : tensor<64xi32>
  %two = arith.constant dense<2> : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %twice = arith.muli %r, %two : tensor<64xi32>
  %moved = arith.addi %twice, %ns : tensor<64xi32>
  %back = arith.subi %ns, %r : tensor<64xi32>
  %shifted = arith.shli %r, %two : tensor<64xi32>
  %scaled = arith.muli %r, %ns : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p0 = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark @below {{a view: offset 4, strides [1], elements [0, 64)}}
  %0 = tt.load %p0 : tensor<64x!tt.ptr<f32>>
  %p1 = tt.addptr %p0, %moved : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark @below {{a view: offset ?, strides [3], elements [0, 64)}}
  %1 = tt.load %p1 : tensor<64x!tt.ptr<f32>>
  %p2 = tt.addptr %ps, %back : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark @below {{a view: offset ?, strides [-1], elements [0, 64)}}
  %2 = tt.load %p2 : tensor<64x!tt.ptr<f32>>
  %p3 = tt.addptr %ps, %shifted : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark @below {{a view: offset 16, strides [4], elements [0, 64)}}
  %3 = tt.load %p3 : tensor<64x!tt.ptr<f32>>
  %p4 = tt.addptr %ps, %scaled : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark @below {{a view: offset ?, strides [?], elements [0, 64)}}
  tt.store %p4, %0 : tensor<64x!tt.ptr<f32>>
  // expected-remark @below {{a view: offset 0, strides [0], elements [0, 64)}}
  %5 = tt.load %ps : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @planes(%p: !tt.ptr<f16>) {
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %c = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %re = tt.expand_dims %r {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %rb = tt.broadcast %re : tensor<8x1xi32> -> tensor<8x16xi32>
  %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %cb = tt.broadcast %ce : tensor<1x16xi32> -> tensor<8x16xi32>
  %width = arith.constant dense<100> : tensor<8x16xi32>
  %rows = arith.muli %rb, %width : tensor<8x16xi32>
  %o = arith.addi %rows, %cb : tensor<8x16xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<8x16x!tt.ptr<f16>>
  %pp = tt.addptr %ps, %o : tensor<8x16x!tt.ptr<f16>>, tensor<8x16xi32>
  %five = arith.constant dense<5> : tensor<8x16xi32>
  %three = arith.constant dense<3> : tensor<8x16xi32>
  %m0 = arith.cmpi slt, %rb, %five : tensor<8x16xi32>
  %m1 = arith.cmpi sge, %cb, %three : tensor<8x16xi32>
  %m2 = arith.andi %m0, %m1 : tensor<8x16xi1>
  // expected-remark @below {{a view: offset 0, strides [100, 1], elements [0, 5) x [3, 16)}}
  %0 = tt.load %pp, %m2 : tensor<8x16x!tt.ptr<f16>>
  %pt = tt.trans %pp {order = array<i32: 1, 0>} : tensor<8x16x!tt.ptr<f16>> -> tensor<16x8x!tt.ptr<f16>>
  %mt = tt.trans %m2 {order = array<i32: 1, 0>} : tensor<8x16xi1> -> tensor<16x8xi1>
  // expected-remark @below {{a view: offset 0, strides [1, 100], elements [3, 16) x [0, 5)}}
  %1 = tt.load %pt, %mt : tensor<16x8x!tt.ptr<f16>>
  %me = arith.cmpi eq, %cb, %five : tensor<8x16xi32>
  // expected-remark @below {{a view: offset 0, strides [100, 1], elements [0, 8) x [5, 6)}}
  %2 = tt.load %pp, %me : tensor<8x16x!tt.ptr<f16>>
  %mg = arith.cmpi sgt, %five, %cb : tensor<8x16xi32>
  // expected-remark @below {{a view: offset 0, strides [100, 1], elements [0, 8) x [0, 5)}}
  %3 = tt.load %pp, %mg : tensor<8x16x!tt.ptr<f16>>
  tt.return
}

// -----

tt.func @negative(%p: !tt.ptr<f32>, %i: tensor<64xi32>, %m: tensor<64xi1>, %v: tensor<64xf32>) {
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %pi = tt.addptr %ps, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark @below {{not a view: its pointers are not tracked}}
  %0 = tt.load %pi : tensor<64x!tt.ptr<f32>>
  // expected-remark @below {{not a view: its mask is not tracked}}
  %1 = tt.load %pp, %m : tensor<64x!tt.ptr<f32>>
  %five = arith.constant dense<5> : tensor<64xi32>
  %mu = arith.cmpi ult, %r, %five : tensor<64xi32>
  // expected-remark @below {{not a view: its mask is not tracked}}
  tt.store %pp, %0, %mu : tensor<64x!tt.ptr<f32>>
  // expected-remark @below {{not a view: it writes to one address several times}}
  tt.store %ps, %v : tensor<64x!tt.ptr<f32>>
  // expected-remark @below {{not a view: it writes to one address several times}}
  %2 = tt.atomic_rmw fadd, acq_rel, gpu, %ps, %v : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>) -> tensor<64xf32>
  %narrow = arith.trunci %r : tensor<64xi32> to tensor<64xi8>
  %sum = arith.addi %narrow, %narrow : tensor<64xi8>
  %wraps = arith.addi %sum, %narrow : tensor<64xi8>
  %wide = arith.extsi %wraps : tensor<64xi8> to tensor<64xi32>
  %pn = tt.addptr %ps, %wide : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark @below {{not a view: its pointers are not tracked}}
  %3 = tt.load %pn : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// Pointers that are tracked through a branch.
tt.func @branch(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %c: i1, %n: i32) -> tensor<64xf32> {
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %chosen = scf.if %c -> (tensor<64x!tt.ptr<f32>>) {
    %ns = tt.splat %n : i32 -> tensor<64xi32>
    %moved = tt.addptr %pp, %ns : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    scf.yield %moved : tensor<64x!tt.ptr<f32>>
  } else {
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %other = tt.addptr %qs, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    scf.yield %other : tensor<64x!tt.ptr<f32>>
  }
  // expected-remark @below {{a view: offset ?, strides [1], elements [0, 64)}}
  %0 = tt.load %chosen : tensor<64x!tt.ptr<f32>>
  tt.return %0 : tensor<64xf32>
}

// -----

// Pointers that are not tracked, but contiguous by axis information: pointers that
// a loop carries, and the remainder by 256 of a range that begins at a multiple of
// 64, which cannot wrap to 0 inside the range.
tt.func @even(%p: !tt.ptr<f32>, %n: i32) -> tensor<64xf32> {
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %step = arith.constant dense<64> : tensor<64xi32>
  %many = arith.constant dense<256> : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %last = scf.while (%q = %pp) : (tensor<64x!tt.ptr<f32>>) -> tensor<64x!tt.ptr<f32>> {
    // expected-remark @below {{a view: offset 0, strides [1], elements [0, 64)}}
    %v = tt.load %q : tensor<64x!tt.ptr<f32>>
    %sum = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<64xf32>) -> f32
    %zero = arith.constant 0.0 : f32
    %again = arith.cmpf olt, %sum, %zero : f32
    scf.condition(%again) %q : tensor<64x!tt.ptr<f32>>
  } do {
  ^bb0(%q: tensor<64x!tt.ptr<f32>>):
    %next = tt.addptr %q, %step : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    scf.yield %next : tensor<64x!tt.ptr<f32>>
  }
  // expected-remark @below {{a view: offset 0, strides [1], elements [0, 64)}}
  %0 = tt.load %last : tensor<64x!tt.ptr<f32>>
  %id = tt.get_program_id x : i32
  %c64 = arith.constant 64 : i32
  %start = arith.muli %id, %c64 : i32
  %starts = tt.splat %start : i32 -> tensor<64xi32>
  %i = arith.addi %starts, %r : tensor<64xi32>
  %around = arith.remsi %i, %many : tensor<64xi32>
  %pr = tt.addptr %ps, %around : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark @below {{a view: offset 0, strides [1], elements [0, 64)}}
  tt.store %pr, %0 : tensor<64x!tt.ptr<f32>>
  // This remainder may wrap to 0 between any two elements. So there is a view for each run.
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %anywhere = arith.remsi %i, %ns : tensor<64xi32>
  %pa = tt.addptr %ps, %anywhere : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark @below {{a view: offset 0, strides [0], and along 0 ? + 1 i modulo ?, elements [0, 64)}}
  tt.store %pa, %0 : tensor<64x!tt.ptr<f32>>
  %twice = arith.addi %anywhere, %around : tensor<64xi32>
  %pt = tt.addptr %ps, %twice : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark @below {{not a view: its pointers wrap around twice along a dimension}}
  tt.store %pt, %0 : tensor<64x!tt.ptr<f32>>
  tt.return %0 : tensor<64xf32>
}
