// RUN: triton-ext-opt %s --load-extension=cpu -triton-ext-cpu-lower-tiles -split-input-file | FileCheck %s

// A print with the name of a function is a call: of the program, scalars, and pointers to tensors, which one loop writes. An
// i1 is a byte. 64 numbers of 8 bytes and 64 of one byte are in scratch memory.
// CHECK: triton_ext_cpu.scratch = 576
// CHECK: llvm.func @own_function(i32, i32, i32, i64, !llvm.ptr, !llvm.ptr)
// CHECK-LABEL: llvm.func internal @call.program
// CHECK-SAME: (%{{.*}}: !llvm.ptr, %[[N:.*]]: i64, %{{.*}}: i32, %
// CHECK: scf.for
// CHECK: llvm.store %{{.*}} : vector<16xi64>
// CHECK: llvm.store %{{.*}} : vector<16xi8>
// CHECK: }
// CHECK-NOT: scf.for
// CHECK: llvm.call @own_function(%{{.*}}, %{{.*}}, %{{.*}}, %[[N]], %{{.*}}, %{{.*}})
tt.func public @call(%x: !tt.ptr<i32>, %n: i64) {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %ns = tt.splat %n : i64 -> tensor<64xi64>
  %p = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %from = tt.addptr %p, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %v = tt.load %from : tensor<64x!tt.ptr<i32>>
  %wide = arith.extsi %v : tensor<64xi32> to tensor<64xi64>
  %on = arith.cmpi slt, %wide, %ns : tensor<64xi64>
  tt.print "" {hex = false, isSigned = array<i32: 0, 0, 0>, triton_ext_cpu.call = "own_function"} : %n, %wide, %on : i64, tensor<64xi64>, tensor<64xi1>
  tt.return
}

// -----

// The calls of a block share a tensor; one in another block writes its own.
// CHECK-LABEL: llvm.func internal @share.program
// CHECK: scf.for
// CHECK: llvm.call @first_function(%{{.*}}, %{{.*}}, %{{.*}}, %[[SHARED:[a-z0-9]+]])
// CHECK-NOT: scf.for
// CHECK: llvm.call @other_function(%{{.*}}, %{{.*}}, %{{.*}}, %[[SHARED]])
// CHECK: scf.if
// CHECK: scf.for
// CHECK: llvm.call @third_function(
tt.func public @share(%n: i64, %on: i1) {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  tt.print "" {hex = false, isSigned = array<i32: 0>, triton_ext_cpu.call = "first_function"} : %i : tensor<64xi32>
  tt.print "" {hex = false, isSigned = array<i32: 0>, triton_ext_cpu.call = "other_function"} : %i : tensor<64xi32>
  scf.if %on {
    tt.print "" {hex = false, isSigned = array<i32: 0>, triton_ext_cpu.call = "third_function"} : %i : tensor<64xi32>
  }
  tt.return
}
