// RUN: triton-ext-opt %s -triton-ext-print-analyses=axis=1 -split-input-file -verify-diagnostics -o %t

// Axis information, one operation at a time: the facts that hold in groups of
// `stride` elements along each dimension.

tt.func @constants() {
  // expected-remark @below {{result 0: divisibility [8], stride [1], stride value [0], constancy [1], constant value 24, not negative}}
  %0 = arith.constant 24 : i32
  // expected-remark @below {{result 0: divisibility [4611686018427387904], stride [1], stride value [0], constancy [1], constant value 0, not negative}}
  %1 = arith.constant 0 : i64
  // expected-remark @below {{result 0: divisibility [4, 4], stride [8, 16], stride value [0, 0], constancy [8, 16], constant value -4}}
  %2 = arith.constant dense<-4> : tensor<8x16xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [4], stride value [0], constancy [4], constant value 1}}
  %3 = arith.constant dense<true> : tensor<4xi1>
  // Not one value.
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1]}}
  %4 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  tt.return
}

// -----

// expected-remark @below {{argument 0: divisibility [16], stride [1], stride value [0], constancy [1]}}
// expected-remark @below {{argument 1: divisibility [4], stride [1], stride value [0], constancy [1]}}
// expected-remark @below {{argument 2: divisibility [1], stride [1], stride value [0], constancy [1]}}
// expected-remark @below {{argument 3: divisibility [8], stride [4], stride value [1], constancy [1]}}
tt.func @sources(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 12 : i32}, %m: i32, %v: tensor<64xi32> {tt.contiguity = 4 : i32, tt.divisibility = 8 : i32}) {
  // expected-remark @below {{result 0: divisibility [4611686018427387904], stride [64], stride value [1], constancy [1], not negative}}
  %0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [16], stride value [1], constancy [1], not negative}}
  %1 = tt.make_range {start = 48 : i32, end = 64 : i32} : tensor<16xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1], constant value 7, not negative}}
  %2 = tt.make_range {start = 7 : i32, end = 8 : i32} : tensor<1xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1], not negative}}
  %3 = tt.get_program_id x : i32
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1], not negative}}
  %4 = tt.get_num_programs y : i32
  // The attribute of tl.multiple_of.
  // expected-remark @below {{result 0: divisibility [32], stride [1], stride value [0], constancy [1]}}
  %5 = arith.addi %m, %m {tt.divisibility = dense<32> : tensor<1xi32>} : i32
  // The hints of tl.max_contiguous and tl.max_constancy do not hold if a tile
  // has been clamped, and not all elements have the divisor of the first one.
  // expected-remark @below {{result 0: divisibility [8], stride [4], stride value [2], constancy [1]}}
  %6 = arith.addi %v, %v {tt.contiguity = dense<16> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>} : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [8], stride [4], stride value [2], constancy [1]}}
  %7 = arith.addi %v, %v {tt.constancy = dense<16> : tensor<1xi32>} : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [8], stride [64], stride value [0], constancy [64], constant value 8, not negative}}
  %eight = arith.constant dense<8> : tensor<64xi32>
  // A tile that is contiguous with and without the hint.
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [1], constancy [1], not negative}}
  %8 = arith.addi %0, %eight {tt.contiguity = dense<16> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>} : tensor<64xi32>
  tt.return
}

// -----

// expected-remark @below {{argument 0: divisibility [16], stride [1], stride value [0], constancy [1]}}
// expected-remark @below {{argument 1: divisibility [1], stride [1], stride value [0], constancy [1]}}
tt.func @sums(%n: i32 {tt.divisibility = 16 : i32}, %m: i32) {
  // expected-remark @below {{result 0: divisibility [4611686018427387904], stride [64], stride value [1], constancy [1], not negative}}
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [0], constancy [64]}}
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [64], stride value [0], constancy [64]}}
  %ms = tt.splat %m : i32 -> tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [2], stride [64], stride value [0], constancy [64], constant value 6, not negative}}
  %six = arith.constant dense<6> : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [1], constancy [1]}}
  %0 = arith.addi %r, %ns : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [-1], constancy [1]}}
  %1 = arith.subi %ns, %r : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [4611686018427387904], stride [64], stride value [0], constancy [64]}}
  %2 = arith.subi %r, %r : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [4], stride [64], stride value [0], constancy [64], constant value 12, not negative}}
  %3 = arith.addi %six, %six : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [4611686018427387904], stride [64], stride value [6], constancy [1], not negative}}
  %4 = arith.muli %r, %six : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [2], stride [64], stride value [0], constancy [64]}}
  %5 = arith.muli %ms, %six : tensor<64xi32>
  // The stride is known only at run time.
  // expected-remark @below {{result 0: divisibility [16], stride [1], stride value [0], constancy [1]}}
  %6 = arith.muli %r, %ns : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [2], stride [64], stride value [0], constancy [64], constant value 2, not negative}}
  %two = arith.constant dense<2> : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [64], stride [64], stride value [4], constancy [1]}}
  %7 = arith.shli %0, %two : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1]}}
  %8 = arith.shli %r, %ms : tensor<64xi32>
  tt.return
}

// -----

// expected-remark @below {{argument 0: divisibility [16], stride [1], stride value [0], constancy [1]}}
// expected-remark @below {{argument 1: divisibility [1], stride [1], stride value [0], constancy [1]}}
tt.func @quotients(%n: i32 {tt.divisibility = 16 : i32}, %m: i32) {
  // expected-remark @below {{result 0: divisibility [4611686018427387904], stride [64], stride value [1], constancy [1], not negative}}
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [0], constancy [64]}}
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [4], stride [64], stride value [0], constancy [64], constant value 4, not negative}}
  %four = arith.constant dense<4> : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [64], stride value [0], constancy [64], constant value 5, not negative}}
  %five = arith.constant dense<5> : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [4], stride value [0], constancy [4], not negative}}
  %0 = arith.divsi %r, %four : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [4], stride [4], stride value [1], constancy [1], not negative}}
  %1 = arith.remsi %r, %four : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1], not negative}}
  %2 = arith.divui %r, %five : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1], not negative}}
  %3 = arith.remui %r, %five : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [4], stride [64], stride value [0], constancy [64]}}
  %4 = arith.divsi %ns, %four : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [4], stride [64], stride value [0], constancy [64]}}
  %5 = arith.remsi %ns, %four : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [1], constancy [1]}}
  %moved = arith.addi %r, %ns : tensor<64xi32>
  // The division rounds toward zero, and the numbers may be negative.
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1]}}
  %6 = arith.divsi %moved, %four : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1]}}
  %7 = arith.remsi %moved, %four : tensor<64xi32>
  // The division rounds down.
  // expected-remark @below {{result 0: divisibility [1], stride [4], stride value [0], constancy [4], not negative}}
  %8 = arith.divui %moved, %four : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [4], stride [4], stride value [1], constancy [1], not negative}}
  %9 = arith.remui %moved, %four : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [2], stride [64], stride value [0], constancy [64], constant value 2, not negative}}
  %two = arith.constant dense<2> : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [4], stride value [0], constancy [4]}}
  %10 = arith.shrsi %moved, %two : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [4], stride value [0], constancy [4], not negative}}
  %11 = arith.shrui %moved, %two : tensor<64xi32>
  // Divisions without a remainder.
  // expected-remark @below {{result 0: divisibility [8], stride [64], stride value [0], constancy [64], constant value 8, not negative}}
  %eight = arith.constant dense<8> : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [4611686018427387904], stride [64], stride value [8], constancy [1], not negative}}
  %times = arith.muli %r, %eight : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1152921504606846976], stride [64], stride value [2], constancy [1], not negative}}
  %12 = arith.divsi %times, %four : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [4], stride [64], stride value [0], constancy [64], not negative}}
  %13 = arith.remsi %times, %four : tensor<64xi32>
  // A divisor that is the same everywhere, and one that is not.
  // expected-remark @below {{result 0: divisibility [1], stride [64], stride value [0], constancy [64]}}
  %14 = arith.divsi %four, %ns : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1], not negative}}
  %15 = arith.remsi %r, %ns : tensor<64xi32>
  tt.return
}

// -----

// expected-remark @below {{argument 0: divisibility [16], stride [1], stride value [0], constancy [1]}}
tt.func @bits(%n: i32 {tt.divisibility = 16 : i32}) {
  // expected-remark @below {{result 0: divisibility [4611686018427387904], stride [64], stride value [1], constancy [1], not negative}}
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [0], constancy [64]}}
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [1], constancy [1]}}
  %moved = arith.addi %r, %ns : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [64], stride value [0], constancy [64], constant value 7, not negative}}
  %low = arith.constant dense<7> : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [8], stride [64], stride value [0], constancy [64], constant value -8}}
  %high = arith.constant dense<-8> : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [64], stride value [0], constancy [64], constant value -1}}
  %all = arith.constant dense<-1> : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [8], stride [8], stride value [1], constancy [1], not negative}}
  %0 = arith.andi %moved, %low : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [8], stride [8], stride value [0], constancy [8]}}
  %1 = arith.andi %moved, %high : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [1], constancy [1]}}
  %2 = arith.andi %all, %moved : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1], not negative}}
  %3 = arith.andi %moved, %r : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [8], stride [64], stride value [0], constancy [64]}}
  %4 = arith.ori %ns, %high : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1], not negative}}
  %5 = arith.xori %r, %low : tensor<64xi32>
  tt.return
}

// -----

// expected-remark @below {{argument 0: divisibility [1], stride [1], stride value [0], constancy [1]}}
// expected-remark @below {{argument 1: divisibility [16], stride [1], stride value [0], constancy [1]}}
// expected-remark @below {{argument 2: divisibility [8], stride [1], stride value [0], constancy [1]}}
tt.func @choices(%c: i1, %n: i32 {tt.divisibility = 16 : i32}, %m: i32 {tt.divisibility = 8 : i32}) {
  // expected-remark @below {{result 0: divisibility [4611686018427387904], stride [64], stride value [1], constancy [1], not negative}}
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [0], constancy [64]}}
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [8], stride [64], stride value [0], constancy [64]}}
  %ms = tt.splat %m : i32 -> tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [1], constancy [1]}}
  %a = arith.addi %r, %ns : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [8], stride [64], stride value [1], constancy [1]}}
  %b = arith.addi %r, %ms : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [8], stride value [0], constancy [8]}}
  %0 = arith.cmpi slt, %a, %ms : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [8], stride value [0], constancy [8]}}
  %1 = arith.cmpi uge, %a, %ms : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [8], stride value [0], constancy [8]}}
  %2 = arith.cmpi sgt, %ns, %b : tensor<64xi32>
  // The results of == and > are not the same for eight elements at a time.
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1]}}
  %3 = arith.cmpi eq, %a, %ms : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1]}}
  %4 = arith.cmpi sgt, %a, %ms : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [64], stride value [0], constancy [64]}}
  %5 = arith.cmpi ne, %ns, %ms : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [8], stride [64], stride value [1], constancy [1]}}
  %6 = arith.select %c, %a, %b : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [8], stride [8], stride value [1], constancy [1]}}
  %7 = arith.select %0, %a, %b : tensor<64xi1>, tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1]}}
  %8 = arith.select %c, %a, %ns : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [64], stride value [0], constancy [64], constant value 1}}
  %true = arith.constant dense<true> : tensor<64xi1>
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [0], constancy [64]}}
  %9 = arith.select %true, %ns, %r : tensor<64xi1>, tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [8], stride [64], stride value [0], constancy [64]}}
  %10 = arith.minsi %ns, %ms : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1], not negative}}
  %11 = arith.maxsi %r, %ns : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1], not negative}}
  %12 = arith.minui %r, %ms : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [8], stride [64], stride value [0], constancy [64]}}
  %13 = arith.maxui %ns, %ms : tensor<64xi32>
  tt.return
}

// -----

// expected-remark @below {{argument 0: divisibility [16], stride [1], stride value [0], constancy [1]}}
tt.func @casts(%n: i32 {tt.divisibility = 16 : i32}) {
  // expected-remark @below {{result 0: divisibility [4611686018427387904], stride [64], stride value [1], constancy [1], not negative}}
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [0], constancy [64]}}
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [1], constancy [1]}}
  %moved = arith.addi %r, %ns : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [1], constancy [1]}}
  %0 = arith.extsi %moved : tensor<64xi32> to tensor<64xi64>
  // Read as unsigned, the numbers wrap at 0.
  // expected-remark @below {{result 0: divisibility [16], stride [16], stride value [1], constancy [1], not negative}}
  %1 = arith.extui %moved : tensor<64xi32> to tensor<64xi64>
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [1], constancy [1]}}
  %2 = arith.trunci %moved : tensor<64xi32> to tensor<64xi8>
  // expected-remark @below {{result 0: divisibility [16], stride [16], stride value [1], constancy [1]}}
  %3 = arith.extsi %2 : tensor<64xi8> to tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [1], constancy [1]}}
  %4 = arith.index_cast %moved : tensor<64xi32> to tensor<64xindex>
  // expected-remark @below {{result 0: divisibility [16], stride [1], stride value [0], constancy [1]}}
  %5 = arith.index_cast %n : i32 to index
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1]}}
  %6 = arith.trunci %r : tensor<64xi32> to tensor<64xi1>
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1], constant value -3}}
  %c = arith.constant -3 : i32
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1], constant value -3}}
  %7 = arith.extsi %c : i32 to i64
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1], constant value 4294967293, not negative}}
  %8 = arith.extui %c : i32 to i64
  tt.return
}

// -----

// expected-remark @below {{argument 0: divisibility [16], stride [1], stride value [0], constancy [1]}}
tt.func @shapes(%n: i32 {tt.divisibility = 16 : i32}) {
  // expected-remark @below {{result 0: divisibility [4611686018427387904], stride [16], stride value [1], constancy [1], not negative}}
  %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  // expected-remark @below {{result 0: divisibility [4], stride [16], stride value [0], constancy [16], constant value 4, not negative}}
  %four = arith.constant dense<4> : tensor<16xi32>
  // expected-remark @below {{result 0: divisibility [4611686018427387904], stride [16], stride value [4], constancy [1], not negative}}
  %r4 = arith.muli %r, %four : tensor<16xi32>
  // expected-remark @below {{result 0: divisibility [16, 16], stride [8, 16], stride value [0, 0], constancy [8, 16]}}
  %0 = tt.splat %n : i32 -> tensor<8x16xi32>
  // expected-remark @below {{result 0: divisibility [4, 4611686018427387904], stride [1, 16], stride value [0, 4], constancy [1, 1], not negative}}
  %1 = tt.expand_dims %r4 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  // expected-remark @below {{result 0: divisibility [4, 4611686018427387904], stride [8, 16], stride value [0, 4], constancy [8, 1], not negative}}
  %2 = tt.broadcast %1 : tensor<1x16xi32> -> tensor<8x16xi32>
  // expected-remark @below {{result 0: divisibility [4611686018427387904, 4], stride [16, 8], stride value [4, 0], constancy [1, 8], not negative}}
  %3 = tt.trans %2 {order = array<i32: 1, 0>} : tensor<8x16xi32> -> tensor<16x8xi32>
  // A line is reshaped to rows, and the rows to other rows.
  // expected-remark @below {{result 0: divisibility [4, 16], stride [4, 4], stride value [16, 4], constancy [1, 1], not negative}}
  %4 = tt.reshape %r4 : tensor<16xi32> -> tensor<4x4xi32>
  // expected-remark @below {{result 0: divisibility [4, 16], stride [2, 8], stride value [32, 4], constancy [1, 1], not negative}}
  %5 = tt.reshape %4 : tensor<4x4xi32> -> tensor<2x8xi32>
  // Equal rows do not continue each other.
  // expected-remark @below {{result 0: divisibility [4611686018427387904], stride [16], stride value [4], constancy [1], not negative}}
  %6 = tt.reshape %2 : tensor<8x16xi32> -> tensor<128xi32>
  // expected-remark @below {{result 0: divisibility [4611686018427387904, 4], stride [16, 1], stride value [4, 0], constancy [1, 1], not negative}}
  %7 = tt.reshape %1 : tensor<1x16xi32> -> tensor<16x1xi32>
  // expected-remark @below {{result 0: divisibility [1, 1], stride [1, 1], stride value [0, 0], constancy [1, 1]}}
  %8 = tt.reshape %r4 allow_reorder : tensor<16xi32> -> tensor<4x4xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [1], stride value [0], constancy [1]}}
  %one = tt.splat %n : i32 -> tensor<1xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [1], stride value [0], constancy [1]}}
  %9 = tt.unsplat %one : tensor<1xi32>
  tt.return
}

// -----

// expected-remark @below {{argument 0: divisibility [16], stride [1], stride value [0], constancy [1]}}
// expected-remark @below {{argument 1: divisibility [32], stride [1], stride value [0], constancy [1]}}
tt.func @pointers(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %i: i64 {tt.divisibility = 32 : i32}) {
  // expected-remark @below {{result 0: divisibility [8], stride [64], stride value [1], constancy [1], not negative}}
  %r = tt.make_range {start = 8 : i32, end = 72 : i32} : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [0], constancy [64]}}
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  // In bytes.
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [2], constancy [1]}}
  %0 = tt.addptr %ps, %r : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [2], constancy [1]}}
  %1 = tt.bitcast %0 : tensor<64x!tt.ptr<f16>> -> tensor<64x!tt.ptr<i32>>
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [6], constancy [1]}}
  %2 = tt.addptr %1, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1], constant value 3, not negative}}
  %c = arith.constant 3 : i32
  // expected-remark @below {{result 0: divisibility [2], stride [1], stride value [0], constancy [1]}}
  %3 = tt.addptr %p, %c : !tt.ptr<f16>, i32
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [2], constancy [1]}}
  %4 = tt.ptr_to_int %0 : tensor<64x!tt.ptr<f16>> -> tensor<64xi64>
  // expected-remark @below {{result 0: divisibility [32], stride [1], stride value [0], constancy [1]}}
  %5 = tt.int_to_ptr %i : i64 -> !tt.ptr<f32>
  tt.return
}

// -----

// expected-remark @below {{argument 0: divisibility [16], stride [1], stride value [0], constancy [1]}}
// expected-remark @below {{argument 1: divisibility [1], stride [1], stride value [0], constancy [1]}}
// expected-remark @below {{argument 2: divisibility [1], stride [1], stride value [0], constancy [1]}}
tt.func @loops(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %c: i1) {
  // expected-remark @below {{result 0: divisibility [4611686018427387904], stride [1], stride value [0], constancy [1], constant value 0, not negative}}
  %zero = arith.constant 0 : i32
  // expected-remark @below {{result 0: divisibility [32], stride [1], stride value [0], constancy [1], constant value 32, not negative}}
  %start = arith.constant 32 : i32
  // expected-remark @below {{result 0: divisibility [16], stride [1], stride value [0], constancy [1], constant value 16, not negative}}
  %step = arith.constant 16 : i32
  // expected-remark @below {{result 0: divisibility [4], stride [1], stride value [0], constancy [1], constant value 12, not negative}}
  %odd = arith.constant 12 : i32
  // expected-remark @below {{result 0: divisibility [4611686018427387904], stride [16], stride value [1], constancy [1], not negative}}
  %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [16], stride value [0], constancy [16]}}
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  // expected-remark @below {{result 0: divisibility [16], stride [16], stride value [4], constancy [1]}}
  %pp = tt.addptr %ps, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [16], stride value [0], constancy [16], constant value 16, not negative}}
  %steps = tt.splat %step : i32 -> tensor<16xi32>
  // The induction variable, the loop-carried values, and their final values.
  // expected-remark @below {{result 0: divisibility [16], stride [16], stride value [4], constancy [1]}}
  // expected-remark @below {{result 1: divisibility [4], stride [1], stride value [0], constancy [1], not negative}}
  // expected-remark @below {{argument 0: divisibility [16], stride [1], stride value [0], constancy [1], not negative}}
  // expected-remark @below {{argument 1: divisibility [16], stride [16], stride value [4], constancy [1]}}
  // expected-remark @below {{argument 2: divisibility [4], stride [1], stride value [0], constancy [1], not negative}}
  %for:2 = scf.for %i = %start to %n step %step iter_args(%q = %pp, %k = %zero) -> (tensor<16x!tt.ptr<f32>>, i32) : i32 {
    // expected-remark @below {{result 0: divisibility [16], stride [16], stride value [4], constancy [1]}}
    %next = tt.addptr %q, %steps : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    // expected-remark @below {{result 0: divisibility [4], stride [1], stride value [0], constancy [1], not negative}}
    %more = arith.addi %k, %odd : i32
    scf.yield %next, %more : tensor<16x!tt.ptr<f32>>, i32
  }
  // expected-remark @below {{result 0: divisibility [4], stride [1], stride value [0], constancy [1], not negative}}
  %if = scf.if %c -> (i32) {
    scf.yield %odd : i32
  } else {
    scf.yield %step : i32
  }
  // expected-remark @below {{result 0: divisibility [16], stride [16], stride value [4], constancy [1]}}
  // expected-remark @below {{result 1: divisibility [4], stride [1], stride value [0], constancy [1], not negative}}
  // expected-remark @below {{argument 0 of region 0: divisibility [16], stride [16], stride value [4], constancy [1]}}
  // expected-remark @below {{argument 1 of region 0: divisibility [4], stride [1], stride value [0], constancy [1], not negative}}
  // expected-remark @below {{argument 0 of region 1: divisibility [16], stride [16], stride value [4], constancy [1]}}
  // expected-remark @below {{argument 1 of region 1: divisibility [4], stride [1], stride value [0], constancy [1], not negative}}
  %while:2 = scf.while (%q = %pp, %k = %start) : (tensor<16x!tt.ptr<f32>>, i32) -> (tensor<16x!tt.ptr<f32>>, i32) {
    // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1]}}
    %again = arith.cmpi slt, %k, %n : i32
    scf.condition(%again) %q, %k : tensor<16x!tt.ptr<f32>>, i32
  } do {
  ^bb0(%q: tensor<16x!tt.ptr<f32>>, %k: i32):
    // expected-remark @below {{result 0: divisibility [16], stride [16], stride value [4], constancy [1]}}
    %next = tt.addptr %q, %steps : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    // expected-remark @below {{result 0: divisibility [4], stride [1], stride value [0], constancy [1], not negative}}
    %more = arith.addi %k, %if : i32
    scf.yield %next, %more : tensor<16x!tt.ptr<f32>>, i32
  }
  // Lanes that move by different distances do not remain a group.
  // expected-remark @below {{result 0: divisibility [4], stride [1], stride value [0], constancy [1]}}
  // expected-remark @below {{argument 0: divisibility [4], stride [1], stride value [0], constancy [1], not negative}}
  // expected-remark @below {{argument 1: divisibility [4], stride [1], stride value [0], constancy [1]}}
  %apart = scf.for %i = %zero to %n step %odd iter_args(%q = %pp) -> (tensor<16x!tt.ptr<f32>>) : i32 {
    // expected-remark @below {{result 0: divisibility [4], stride [1], stride value [0], constancy [1]}}
    %next = tt.addptr %q, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    scf.yield %next : tensor<16x!tt.ptr<f32>>
  }
  tt.return
}

// -----

// expected-remark @below {{argument 0: divisibility [4], stride [1], stride value [0], constancy [1], not negative}}
tt.func private @called(%x: i32) -> i32 {
  // expected-remark @below {{result 0: divisibility [2], stride [1], stride value [0], constancy [1], constant value 2, not negative}}
  %two = arith.constant 2 : i32
  // expected-remark @below {{result 0: divisibility [8], stride [1], stride value [0], constancy [1], not negative}}
  %r = arith.muli %x, %two : i32
  tt.return %r : i32
}

// expected-remark @below {{argument 0: divisibility [1], stride [1], stride value [0], constancy [1]}}
// expected-remark @below {{argument 0: divisibility [4], stride [1], stride value [0], constancy [1], not negative}}
tt.func public @calls(%c: i1) {
  // expected-remark @below {{result 0: divisibility [8], stride [1], stride value [0], constancy [1], constant value 8, not negative}}
  %a = arith.constant 8 : i32
  // expected-remark @below {{result 0: divisibility [4], stride [1], stride value [0], constancy [1], constant value 12, not negative}}
  %b = arith.constant 12 : i32
  // expected-remark @below {{result 0: divisibility [8], stride [1], stride value [0], constancy [1], not negative}}
  %0 = tt.call @called(%a) : (i32) -> i32
  // expected-remark @below {{result 0: divisibility [8], stride [1], stride value [0], constancy [1], not negative}}
  %1 = tt.call @called(%b) : (i32) -> i32
  cf.cond_br %c, ^bb1(%a : i32), ^bb1(%b : i32)
^bb1(%x: i32):
  tt.return
}

// -----

// A kernel may let numbers wrap on purpose, and then divide or shift them.
tt.func @wrapping() {
  // expected-remark @below {{result 0: divisibility [4611686018427387904], stride [16], stride value [1], constancy [1], not negative}}
  %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  // expected-remark @below {{result 0: divisibility [4], stride [16], stride value [0], constancy [16], constant value 28, not negative}}
  %high = arith.constant dense<28> : tensor<16xi32>
  // expected-remark @below {{result 0: divisibility [536870912], stride [16], stride value [0], constancy [16], constant value 536870912, not negative}}
  %large = arith.constant dense<0x20000000> : tensor<16xi32>
  // expected-remark @below {{result 0: divisibility [4611686018427387904], stride [16], stride value [268435456], constancy [1]}}
  %0 = arith.shli %r, %high : tensor<16xi32>
  // The first eight of sixteen lanes are not negative.
  // expected-remark @below {{result 0: divisibility [8], stride [8], stride value [1], constancy [1]}}
  %1 = arith.shrsi %0, %high : tensor<16xi32>
  // expected-remark @below {{result 0: divisibility [2147483648], stride [8], stride value [268435456], constancy [1]}}
  %2 = arith.extsi %0 : tensor<16xi32> to tensor<16xi64>
  // expected-remark @below {{result 0: divisibility [4611686018427387904], stride [16], stride value [536870912], constancy [1]}}
  %3 = arith.muli %r, %large : tensor<16xi32>
  // expected-remark @below {{result 0: divisibility [4], stride [4], stride value [1], constancy [1]}}
  %4 = arith.divsi %3, %large : tensor<16xi32>
  // expected-remark @below {{result 0: divisibility [536870912], stride [1], stride value [0], constancy [1]}}
  %5 = arith.remsi %3, %large : tensor<16xi32>
  tt.return
}

// -----

// A tensor without dimensions has one element, and so do operations on it.
// expected-remark @below {{argument 0: divisibility [1], stride [1], stride value [0], constancy [1]}}
tt.func @no_dimensions(%x: tensor<i32>) {
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1]}}
  %0 = arith.addi %x, %x {tt.contiguity = 16 : i32, tt.divisibility = 4 : i32} : tensor<i32>
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1]}}
  %1 = tt.trans %0 {order = array<i32>} : tensor<i32> -> tensor<i32>
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1]}}
  %2 = tt.expand_dims %1 {axis = 0 : i32} : tensor<i32> -> tensor<1xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [16], stride value [0], constancy [16]}}
  %3 = tt.broadcast %2 : tensor<1xi32> -> tensor<16xi32>
  // expected-remark @below {{result 0: divisibility [1, 1], stride [1, 1], stride value [0, 0], constancy [1, 1]}}
  %4 = tt.reshape %x : tensor<i32> -> tensor<1x1xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1]}}
  %5 = tt.reshape %4 : tensor<1x1xi32> -> tensor<i32>
  tt.return
}
