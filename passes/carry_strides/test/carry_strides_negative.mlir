// RUN: triton-ext-opt %s -triton-ext-carry-strides -canonicalize -cse | FileCheck %s

// The pointers that the loop loads are not made of a scalar. The other tensor is still strided.
// CHECK-LABEL: tt.func @gathered
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %c0_i64) -> (tensor<8x!tt.ptr<i32>>, i64)
tt.func @gathered(%x: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant dense<8> : tensor<8xi32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %base = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %p0 = tt.addptr %base, %i : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0, %q = %p0) -> (tensor<8x!tt.ptr<i32>>, tensor<8x!tt.ptr<i32>>) : i32 {
    %v = tt.load %p : tensor<8x!tt.ptr<i32>>
    tt.store %q, %v : tensor<8x!tt.ptr<i32>>
    %w = arith.extui %v : tensor<8xi32> to tensor<8xi64>
    %p1 = tt.int_to_ptr %w : tensor<8xi64> -> tensor<8x!tt.ptr<i32>>
    %q1 = tt.addptr %q, %c8 : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    scf.yield %p1, %q1 : tensor<8x!tt.ptr<i32>>, tensor<8x!tt.ptr<i32>>
  }
  tt.return
}

// A 32-bit sum that wraps is another number after the extension.
// CHECK-LABEL: tt.func @extended
// CHECK: scf.for {{.*}} -> (tensor<8xi64>)
tt.func @extended(%n: i32) -> tensor<8xi64> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %zero = arith.constant dense<0> : tensor<8xi64>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<8xi64>) : i32 {
    %ks = tt.splat %k : i32 -> tensor<8xi32>
    %narrow = arith.muli %ks, %ks : tensor<8xi32>
    %sum = arith.addi %narrow, %i : tensor<8xi32>
    %wide = arith.extsi %sum : tensor<8xi32> to tensor<8xi64>
    %next = arith.addi %s, %wide : tensor<8xi64>
    scf.yield %next : tensor<8xi64>
  }
  tt.return %r : tensor<8xi64>
}

// Tensors of 16 bits stay, and a tensor that wraps around is not strided.
// CHECK-LABEL: tt.func @narrow
// CHECK: scf.for {{.*}} -> (tensor<8xi16>, tensor<8xi16>, !tt.ptr<f32>)
tt.func @narrow(%x: !tt.ptr<f32>, %n: i32, %m: i32) -> tensor<8xi16> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %h0 = arith.constant dense<0> : tensor<8xi16>
  %h1 = arith.constant dense<1> : tensor<8xi16>
  %ones = arith.constant dense<1> : tensor<8xi32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ms = tt.splat %m : i32 -> tensor<8xi32>
  %w = arith.remsi %i, %ms : tensor<8xi32>
  %base = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p0 = tt.addptr %base, %w : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%h = %h0, %g = %h1, %p = %p0) -> (tensor<8xi16>, tensor<8xi16>, tensor<8x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<8x!tt.ptr<f32>>
    %q = tt.addptr %p, %ones : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %g, %h, %q : tensor<8xi16>, tensor<8xi16>, tensor<8x!tt.ptr<f32>>
  }
  tt.return %r#0 : tensor<8xi16>
}
