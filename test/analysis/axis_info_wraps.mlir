// RUN: triton-ext-opt %s -triton-ext-print-analyses=wraps=1 -split-input-file -verify-diagnostics -o %t

// If sums may wrap, the claims behind an extension are only those that follow
// from the bits.

// expected-remark @below {{argument 0: divisibility [1], stride [1], stride value [0], constancy [1]}}
// expected-remark @below {{argument 1: divisibility [16], stride [1], stride value [0], constancy [1]}}
// expected-remark @below {{argument 2: divisibility [1], stride [1], stride value [0], constancy [1]}}
tt.func @extended(%p: !tt.ptr<f32>, %n: i32 {tt.divisibility = 16 : i32}, %m: i32) {
  // expected-remark @below {{result 0: divisibility [4611686018427387904], stride [64], stride value [1], constancy [1], not negative}}
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [0], constancy [64]}}
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [64], stride value [0], constancy [64]}}
  %ms = tt.splat %m : i32 -> tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [1], constancy [1]}}
  %0 = arith.addi %r, %ns : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [16], stride [16], stride value [1], constancy [1]}}
  %1 = arith.extsi %0 : tensor<64xi32> to tensor<64xi64>
  // expected-remark @below {{result 0: divisibility [1], stride [64], stride value [1], constancy [1]}}
  %2 = arith.addi %r, %ms : tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1]}}
  %3 = arith.extsi %2 : tensor<64xi32> to tensor<64xi64>
  // expected-remark @below {{result 0: divisibility [1], stride [64], stride value [0], constancy [64]}}
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  // expected-remark @below {{result 0: divisibility [1], stride [1], stride value [0], constancy [1]}}
  %4 = tt.addptr %ps, %2 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark @below {{result 0: divisibility [1], stride [16], stride value [4], constancy [1]}}
  %5 = tt.addptr %ps, %1 : tensor<64x!tt.ptr<f32>>, tensor<64xi64>
  tt.return
}
