// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=hints" | FileCheck %s

// CHECK: sanitize.promises = "[{\22arguments\22:[\22\22,\22\22],\22divisors\22:{{\[}}{\22argument\22:0,\22column\22:{{[0-9]+}},\22divisor\22:16,\22file\22:\22{{[^,]*}}\22,\22hint\22:\22divisibility\22,\22line\22:{{[0-9]+}}}],\22kernel\22:\22arguments\22}
// CHECK-SAME: \22divisors\22:{{\[}}{\22argument\22:1,\22column\22:{{[0-9]+}},\22divisor\22:4,\22file\22:\22{{[^,]*}}\22,\22hint\22:\22multiple_of\22,\22line\22:{{[0-9]+}}}],\22kernel\22:\22promise\22}]"

// The check computes the value again without the mark, which the compiler may believe.
// CHECK-LABEL: tt.func public @multiple
// CHECK: %[[V:.*]] = arith.addi %{{.*}} {tt.divisibility = dense<16> : tensor<1xi32>} : i32
// CHECK-NEXT: %[[AGAIN:.*]] = arith.addi %{{.*}} : i32
// CHECK: arith.andi %[[AGAIN]], %c15
// CHECK: probe.check
// CHECK-SAME: \22hint\22:\22multiple_of\22,\22order\22:{{[0-9]+}},\22promised\22:16
tt.func public @multiple(%p: !tt.ptr<i32>, %a: i32, %b: i32) {
  %v = arith.addi %a, %b {tt.divisibility = dense<16> : tensor<1xi32>} : i32
  tt.store %p, %v : !tt.ptr<i32>
  tt.return
}

// Products of 16 are multiples, and a range is contiguous.
// CHECK-LABEL: tt.func public @proved
// CHECK-NOT: probe.check
// CHECK: tt.return
tt.func public @proved(%p: tensor<64x!tt.ptr<i32>>, %a: i32) {
  %c16 = arith.constant 16 : i32
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %first = arith.muli %a, %c16 : i32
  %all = tt.splat %first : i32 -> tensor<64xi32>
  %v = arith.addi %all, %i {tt.contiguity = dense<64> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>} : tensor<64xi32>
  tt.store %p, %v : tensor<64x!tt.ptr<i32>>
  tt.return
}

// Of a run of contiguous numbers only the first one has to be a multiple.
// CHECK-LABEL: tt.func public @runs
// CHECK: probe.check
// CHECK-SAME: \22hint\22:\22max_contiguous\22,\22order\22:{{[0-9]+}},\22promised\22:8
// CHECK: %[[REST:.*]] = arith.andi %{{.*}}, %{{.*}} : tensor<64xi32>
// CHECK: %[[BAD:.*]] = arith.cmpi ne, %[[REST]]
// CHECK: %[[FIRST:.*]] = arith.cmpi eq
// CHECK: arith.andi %[[BAD]], %[[FIRST]]
// CHECK: probe.check
// CHECK-SAME: \22hint\22:\22multiple_of\22,\22order\22:{{[0-9]+}},\22promised\22:4
tt.func public @runs(%p: tensor<64x!tt.ptr<i32>>, %a: tensor<64xi32>) {
  %v = arith.addi %a, %a {tt.contiguity = dense<8> : tensor<1xi32>, tt.divisibility = dense<4> : tensor<1xi32>} : tensor<64xi32>
  tt.store %p, %v : tensor<64x!tt.ptr<i32>>
  tt.return
}

// With the assumption the compiler would remove the check.
// CHECK-LABEL: tt.func public @assumption
// CHECK-NOT: llvm.intr.assume
// CHECK: probe.check
// CHECK-SAME: \22hint\22:\22assume\22
// CHECK-NOT: llvm.intr.assume
// CHECK: tt.return
tt.func public @assumption(%p: !tt.ptr<i32>, %a: i32, %b: i32) {
  %c = arith.cmpi slt, %a, %b : i32
  llvm.intr.assume %c : i1
  tt.store %p, %a : !tt.ptr<i32>
  tt.return
}

// The host checks for which numbers the kernel was specialised, without an operation.
// CHECK-LABEL: tt.func public @arguments
// CHECK-NOT: probe.
// CHECK: tt.return
tt.func public @arguments(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %a: i32) {
  tt.store %p, %a : !tt.ptr<i32>
  tt.return
}

// What is promised of an argument, the host checks, and of other values the kernel.
// CHECK-LABEL: tt.func public @promise
// CHECK-NOT: probe.promise
// CHECK: %[[REST:.*]] = arith.andi %{{.*}}, %c7
// CHECK: arith.cmpi ne, %[[REST]]
// CHECK: probe.check
// CHECK-NOT: probe.promise
// CHECK: tt.return
tt.func public @promise(%p: !tt.ptr<i32>, %n: i32) {
  probe.promise "tt.divisibility" [4] %n : i32
  %v = tt.load %p : !tt.ptr<i32>
  probe.promise "tt.divisibility" [8] %v : i32
  tt.return
}

// Not every program promises this.
// CHECK-LABEL: tt.func public @sometimes
// CHECK: scf.if
// CHECK: probe.check
// CHECK: tt.return
tt.func public @sometimes(%n: i32, %c: i1) {
  scf.if %c {
    probe.promise "tt.divisibility" [4] %n : i32
  }
  tt.return
}
