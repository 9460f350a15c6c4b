// RUN: triton-ext-opt %s --load-extension=cpu -triton-ext-cpu-lower-tiles | FileCheck %s

// A load stays before a store through the same argument at other addresses: it goes to scratch memory, 64 floats.
// CHECK: triton_ext_cpu.scratch = 256
// CHECK-LABEL: llvm.func internal @shift.program
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> vector<16xf32>
// CHECK: llvm.store
// CHECK: }
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> vector<8xf32>
// CHECK: llvm.store
tt.func public @shift(%x: !tt.ptr<f32>) {
  %one = arith.constant dense<1> : tensor<64xi32>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %from = tt.addptr %p, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %to = tt.addptr %from, %one : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %from : tensor<64x!tt.ptr<f32>>
  tt.store %to, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}
