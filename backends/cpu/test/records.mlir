// SPDX-License-Identifier: Apache-2.0
// RUN: triton-ext-opt %s --load-extension=cpu -split-input-file -triton-ext-cpu-lower-tiles | FileCheck %s

// What a pass that instruments kernels writes is apart from the kernel's tensors: the memory that the launcher passes, and
// that whose address is in it. A load moves across it to the use of its value, and needs no scratch memory.

// CHECK: triton_ext_cpu.scratch = 0 :
tt.func public @records(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %from = tt.addptr %xs, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %to = tt.addptr %ys, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %one = arith.constant 1 : i64
  %true = arith.constant true
  %bytes = ttg.global_scratch_alloc {alignment = 8 : i32, nbytes = 8 : i32, third_party_allocation} : !tt.ptr<i8>
  %own = tt.bitcast %bytes : !tt.ptr<i8> -> !tt.ptr<i64>
  %number = tt.load %own : !tt.ptr<i64>
  %buffer = tt.int_to_ptr %number : i64 -> !tt.ptr<i64>
  %record = tt.addptr %buffer, %one : !tt.ptr<i64>, i64
  %v = tt.load %from : tensor<256x!tt.ptr<f32>>
  %old = tt.atomic_rmw add, relaxed, gpu, %record, %one, %true : (!tt.ptr<i64>, i64, i1) -> i64
  tt.store %own, %old : !tt.ptr<i64>
  tt.store %to, %v : tensor<256x!tt.ptr<f32>>
  tt.return
}

// -----

// An atomic operation that orders other accesses stays in front of them.
// CHECK: triton_ext_cpu.scratch = 1024 :
tt.func public @orders(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %from = tt.addptr %xs, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %to = tt.addptr %ys, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %one = arith.constant 1 : i64
  %true = arith.constant true
  %bytes = ttg.global_scratch_alloc {alignment = 8 : i32, nbytes = 8 : i32, third_party_allocation} : !tt.ptr<i8>
  %own = tt.bitcast %bytes : !tt.ptr<i8> -> !tt.ptr<i64>
  %number = tt.load %own : !tt.ptr<i64>
  %buffer = tt.int_to_ptr %number : i64 -> !tt.ptr<i64>
  %record = tt.addptr %buffer, %one : !tt.ptr<i64>, i64
  %v = tt.load %from : tensor<256x!tt.ptr<f32>>
  %old = tt.atomic_rmw add, acq_rel, gpu, %record, %one, %true : (!tt.ptr<i64>, i64, i1) -> i64
  tt.store %to, %v : tensor<256x!tt.ptr<f32>>
  tt.return
}

// -----

// Memory of the kernel, beside that of the pass.
// CHECK: triton_ext_cpu.scratch = 1024 :
tt.func public @stores(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %from = tt.addptr %xs, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %to = tt.addptr %ys, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %one = arith.constant 1 : i64
  %true = arith.constant true
  %bytes = ttg.global_scratch_alloc {alignment = 8 : i32, nbytes = 8 : i32, third_party_allocation} : !tt.ptr<i8>
  %own = tt.bitcast %bytes : !tt.ptr<i8> -> !tt.ptr<i64>
  %v = tt.load %from : tensor<256x!tt.ptr<f32>>
  %zero = arith.constant 0.0 : f32
  tt.store %own, %one : !tt.ptr<i64>
  tt.store %x, %zero : !tt.ptr<f32>
  tt.store %to, %v : tensor<256x!tt.ptr<f32>>
  tt.return
}

// -----

// A load of the memory that the launcher passes does not move across a store to it.
// CHECK: triton_ext_cpu.scratch = 1024 :
tt.func public @reads(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %from = tt.addptr %xs, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %to = tt.addptr %ys, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %one = arith.constant 1 : i64
  %true = arith.constant true
  %bytes = ttg.global_scratch_alloc {alignment = 8 : i32, nbytes = 8 : i32, third_party_allocation} : !tt.ptr<i8>
  %own = tt.bitcast %bytes : !tt.ptr<i8> -> !tt.ptr<i64>
  %floats = tt.bitcast %bytes : !tt.ptr<i8> -> !tt.ptr<f32>
  %lanes = tt.splat %floats : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %v = tt.load %lanes : tensor<256x!tt.ptr<f32>>
  tt.store %own, %one : !tt.ptr<i64>
  tt.store %to, %v : tensor<256x!tt.ptr<f32>>
  tt.return
}
