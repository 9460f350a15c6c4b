// RUN: triton-ext-opt %s -triton-ext-print-analyses=masks=1 -split-input-file -verify-diagnostics -o %t

// The box in which a mask is true, through each operation that is tracked.

tt.func @constants(%c: i1) {
  // expected-remark @below {{mask: [0, 8) x [0, 4)}}
  %0 = arith.constant dense<true> : tensor<8x4xi1>
  // expected-remark @below {{mask: [0, 0) x [0, 4)}}
  %1 = arith.constant dense<false> : tensor<8x4xi1>
  // expected-remark @below {{mask: [0, (arg0 ? 8 : 0)) x [0, 4)}}
  %2 = tt.splat %c : i1 -> tensor<8x4xi1>
  // Not one value.
  // expected-remark @below {{mask: not tracked}}
  %3 = arith.constant dense<[true, false, true, true]> : tensor<4xi1>
  tt.return
}

// -----

// Comparisons of start + range with a bound, for each predicate.
tt.func @comparisons(%s: i32, %n: i32) {
  %range = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %moved = tt.make_range {start = 3 : i32, end = 11 : i32} : tensor<8xi32>
  %ns = tt.splat %n : i32 -> tensor<8xi32>
  %ss = tt.splat %s : i32 -> tensor<8xi32>
  %five = arith.constant dense<5> : tensor<8xi32>
  // expected-remark @below {{mask: [0, 5)}}
  %slt = arith.cmpi slt, %range, %five : tensor<8xi32>
  // expected-remark @below {{mask: [0, 6)}}
  %sle = arith.cmpi sle, %range, %five : tensor<8xi32>
  // expected-remark @below {{mask: [5, 8)}}
  %sge = arith.cmpi sge, %range, %five : tensor<8xi32>
  // expected-remark @below {{mask: [6, 8)}}
  %sgt = arith.cmpi sgt, %range, %five : tensor<8xi32>
  // expected-remark @below {{mask: [5, 6)}}
  %eq = arith.cmpi eq, %range, %five : tensor<8xi32>
  // expected-remark @below {{mask: [0, 5)}}
  %swapped = arith.cmpi sgt, %five, %range : tensor<8xi32>
  // expected-remark @below {{mask: [0, 2)}}
  %start = arith.cmpi slt, %moved, %five : tensor<8xi32>
  // expected-remark @below {{mask: [0, (8 min (arg1 max 0)))}}
  %bound = arith.cmpi slt, %range, %ns : tensor<8xi32>
  %added = arith.addi %range, %ss : tensor<8xi32>
  // expected-remark @below {{mask: [0, (((arg0 + 8) min (5 max arg0)) - arg0))}}
  %add = arith.cmpi slt, %added, %five : tensor<8xi32>
  %taken = arith.subi %range, %five : tensor<8xi32>
  // expected-remark @below {{mask: [0, ((3 min (arg1 max -5)) - -5))}}
  %sub = arith.cmpi slt, %taken, %ns : tensor<8xi32>
  // Both sides are the same in all lanes.
  // expected-remark @below {{mask: [0, ((arg1 sgt arg0) ? 8 : 0))}}
  %same = arith.cmpi slt, %ss, %ns : tensor<8xi32>
  // Masks that are true in two places, unsigned comparisons, other strides.
  // expected-remark @below {{mask: not tracked}}
  %ne = arith.cmpi ne, %range, %five : tensor<8xi32>
  // expected-remark @below {{mask: not tracked}}
  %ult = arith.cmpi ult, %added, %five : tensor<8xi32>
  %twice = arith.addi %range, %range : tensor<8xi32>
  // expected-remark @below {{mask: not tracked}}
  %two = arith.cmpi slt, %twice, %five : tensor<8xi32>
  // expected-remark @below {{mask: not tracked}}
  %both = arith.cmpi slt, %range, %twice : tensor<8xi32>
  tt.return
}

// -----

tt.func @shapes() {
  %rows = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %columns = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  %five = arith.constant dense<5> : tensor<8xi32>
  %one = arith.constant dense<1> : tensor<4xi32>
  // expected-remark @below {{mask: [0, 5)}}
  %r = arith.cmpi slt, %rows, %five : tensor<8xi32>
  // expected-remark @below {{mask: [1, 4)}}
  %c = arith.cmpi sge, %columns, %one : tensor<4xi32>
  // expected-remark @below {{mask: [0, 5) x [0, 1)}}
  %re = tt.expand_dims %r {axis = 1 : i32} : tensor<8xi1> -> tensor<8x1xi1>
  // expected-remark @below {{mask: [0, 1) x [1, 4)}}
  %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<4xi1> -> tensor<1x4xi1>
  // expected-remark @below {{mask: [0, 5) x [0, 4)}}
  %rb = tt.broadcast %re : tensor<8x1xi1> -> tensor<8x4xi1>
  // expected-remark @below {{mask: [0, 8) x [1, 4)}}
  %cb = tt.broadcast %ce : tensor<1x4xi1> -> tensor<8x4xi1>
  // expected-remark @below {{mask: [0, 5) x [1, 4)}}
  %and = arith.andi %rb, %cb : tensor<8x4xi1>
  // expected-remark @below {{mask: [1, 4) x [0, 5)}}
  %trans = tt.trans %and {order = array<i32: 1, 0>} : tensor<8x4xi1> -> tensor<4x8xi1>
  // expected-remark @below {{mask: [0, 5) x [0, 1) x [1, 4)}}
  %reshape = tt.reshape %and : tensor<8x4xi1> -> tensor<8x1x4xi1>
  // A reshape of rows to a line leaves no box.
  // expected-remark @below {{mask: not tracked}}
  %line = tt.reshape %and : tensor<8x4xi1> -> tensor<32xi1>
  // expected-remark @below {{mask: not tracked}}
  %or = arith.ori %rb, %cb : tensor<8x4xi1>
  tt.return
}

// -----

tt.func @casts(%n: i32, %wide: i64) {
  %range = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %five = arith.constant dense<5> : tensor<8xi32>
  %zero = arith.constant dense<0> : tensor<8xi32>
  // expected-remark @below {{mask: [0, 0)}}
  %false = arith.constant dense<false> : tensor<8xi1>
  // Casts of the numbers that are compared.
  %long = arith.extsi %range : tensor<8xi32> to tensor<8xi64>
  %ws = tt.splat %wide : i64 -> tensor<8xi64>
  // expected-remark @below {{mask: [0, (8 min (arg1 max 0)))}}
  %extsi = arith.cmpi slt, %long, %ws : tensor<8xi64>
  %unsigned = arith.extui %range : tensor<8xi32> to tensor<8xi64>
  // expected-remark @below {{mask: [0, (8 min (arg1 max 0)))}}
  %extui = arith.cmpi slt, %unsigned, %ws : tensor<8xi64>
  %back = arith.trunci %long : tensor<8xi64> to tensor<8xi32>
  // expected-remark @below {{mask: [0, 5)}}
  %trunci = arith.cmpi slt, %back, %five : tensor<8xi32>
  %index = arith.index_cast %range : tensor<8xi32> to tensor<8xindex>
  %bound = arith.constant dense<6> : tensor<8xindex>
  // expected-remark @below {{mask: [0, 6)}}
  %index_cast = arith.cmpi slt, %index, %bound : tensor<8xindex>
  // Casts of the mask.
  // expected-remark @below {{mask: [0, 5)}}
  %mask = arith.cmpi slt, %range, %five : tensor<8xi32>
  %byte = arith.extui %mask : tensor<8xi1> to tensor<8xi8>
  // expected-remark @below {{mask: [0, 5)}}
  %narrow = arith.trunci %byte : tensor<8xi8> to tensor<8xi1>
  %word = arith.extsi %mask : tensor<8xi1> to tensor<8xi32>
  // expected-remark @below {{mask: [0, 5)}}
  %not_zero = arith.cmpi ne, %word, %zero : tensor<8xi32>
  // expected-remark @below {{mask: [0, (5 min (8 min (arg1 max 0))))}}
  %select = arith.select %mask, %extsi, %false : tensor<8xi1>, tensor<8xi1>
  // Casts that may change the number, or keep only a bit of it.
  %ns = tt.splat %n : i32 -> tensor<8xi32>
  %sum = arith.addi %range, %ns : tensor<8xi32>
  %short = arith.trunci %sum : tensor<8xi32> to tensor<8xi16>
  %shorts = arith.constant dense<5> : tensor<8xi16>
  // expected-remark @below {{mask: not tracked}}
  %lost = arith.cmpi slt, %short, %shorts : tensor<8xi16>
  %usum = arith.extui %sum : tensor<8xi32> to tensor<8xi64>
  // expected-remark @below {{mask: not tracked}}
  %ulost = arith.cmpi slt, %usum, %ws : tensor<8xi64>
  // expected-remark @below {{mask: not tracked}}
  %odd = arith.trunci %range : tensor<8xi32> to tensor<8xi1>
  tt.return
}
