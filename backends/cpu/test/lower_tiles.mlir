// RUN: triton-ext-opt %s --load-extension=cpu -triton-ext-cpu-lower-tiles | FileCheck %s

// A chain from load to store is a loop over vectors without masks and one with masks for the rest, for every size of the
// tile; it uses no scratch memory. A loop that waits for memory uses vectors of 32 bytes.
// CHECK: triton_ext_cpu.scratch = 0
// CHECK-LABEL: llvm.func internal @add.program
// CHECK: arith.minui %arg2, %{{.*}} : i32
// CHECK: %[[FULL:.*]] = arith.andi %{{.*}}, %c-8_i64{{.*}} : i64
// CHECK: %[[MORE:.*]] = arith.addi %{{.*}}, %c7_i64{{.*}} : i64
// CHECK: %[[STOP:.*]] = arith.andi %[[MORE]], %c-8_i64{{.*}} : i64
// CHECK: scf.for %{{.*}} = %c0_i64{{.*}} to %[[FULL]] step %c8_i64
// CHECK-NOT: masked
// CHECK: llvm.load {{.*}} -> vector<8xf32>
// CHECK: llvm.load {{.*}} -> vector<8xf32>
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK: llvm.store {{.*}} : vector<8xf32>
// CHECK: scf.for %{{.*}} = %[[FULL]] to %[[STOP]] step %c8_i64{{.*}}
// CHECK-NOT: scf.for
// CHECK: llvm.intr.masked.load {{.*}} -> vector<8xf32>
// CHECK: llvm.intr.masked.load {{.*}} -> vector<8xf32>
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK: llvm.intr.masked.store
// CHECK-NOT: scf.for
// CHECK: llvm.return
// CHECK-LABEL: llvm.func @add
tt.func public @add(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %i = tt.make_range {start = 0 : i32, end = 65536 : i32} : tensor<65536xi32>
  %bound = tt.splat %n : i32 -> tensor<65536xi32>
  %mask = arith.cmpi slt, %i, %bound : tensor<65536xi32>
  %px = tt.splat %x : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>>
  %ax = tt.addptr %px, %i : tensor<65536x!tt.ptr<f32>>, tensor<65536xi32>
  %py = tt.splat %y : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>>
  %ay = tt.addptr %py, %i : tensor<65536x!tt.ptr<f32>>, tensor<65536xi32>
  %a = tt.load %ax, %mask : tensor<65536x!tt.ptr<f32>>
  %b = tt.load %ay, %mask : tensor<65536x!tt.ptr<f32>>
  %sum = arith.addf %a, %b : tensor<65536xf32>
  tt.store %ax, %sum, %mask : tensor<65536x!tt.ptr<f32>>
  tt.return
}

// A chain that computes more than it loads has 16 lanes.
// CHECK-LABEL: llvm.func internal @cubic.program
// CHECK: llvm.load {{.*}} -> vector<16xf32>
// CHECK: llvm.store {{.*}} : vector<16xf32>, !llvm.ptr
tt.func public @cubic(%x: !tt.ptr<f32>) {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %at = tt.addptr %p, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %at : tensor<64x!tt.ptr<f32>>
  %square = arith.mulf %v, %v : tensor<64xf32>
  %cube = arith.mulf %square, %v : tensor<64xf32>
  tt.store %at, %cube : tensor<64x!tt.ptr<f32>>
  tt.return
}

// A sum runs up to the end of the mask. Behind it are equal numbers: if a combination with them changes no bit, the rest
// is left out.
// CHECK-LABEL: llvm.func internal @sum.program
// CHECK: scf.for
// CHECK-NOT: masked
// CHECK: scf.for
// CHECK: llvm.intr.masked.load
// CHECK: scf.if
// CHECK: llvm.call_intrinsic "llvm.vector.reduce.or"
// CHECK: scf.if
// CHECK: scf.for
// CHECK-NOT: llvm.load
// CHECK: llvm.store
tt.func public @sum(%x: !tt.ptr<f32>, %n: i32) {
  %i = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %bound = tt.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %i, %bound : tensor<1024xi32>
  %zero = arith.constant dense<0.0> : tensor<1024xf32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %at = tt.addptr %p, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %v = tt.load %at, %mask, %zero : tensor<1024x!tt.ptr<f32>>
  %sum = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<1024xf32>) -> f32
  tt.store %x, %sum : !tt.ptr<f32>
  tt.return
}
