// RUN: triton-ext-opt %s --load-extension=cpu -triton-ext-cpu-lower-tiles | FileCheck %s

// A stage of tl.sort is one loop: the partner of an element is the same tensor at another coordinate. There is no
// reduction, and no bit cast. The first loop keeps what is loaded, because the store may overwrite it.
// CHECK-LABEL: llvm.func internal @exchange.program
// CHECK: scf.for
// CHECK: llvm.store
// CHECK: scf.for
// CHECK-NOT: xori {{.*}} : vector
// CHECK-NOT: bitcast
// CHECK: arith.cmpf ogt
// CHECK-NOT: scf.for
// CHECK: llvm.return
tt.func public @exchange(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %at = tt.addptr %p, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %at : tensor<64x!tt.ptr<f32>>
  %pairs = tt.reshape %v : tensor<64xf32> -> tensor<32x2xf32>
  %bits = tt.bitcast %pairs : tensor<32x2xf32> -> tensor<32x2xi32>
  %both = "tt.reduce"(%bits) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.xori %a, %b : i32
    tt.reduce.return %c : i32
  }) : (tensor<32x2xi32>) -> tensor<32xi32>
  %column = tt.expand_dims %both {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %wide = tt.broadcast %column : tensor<32x1xi32> -> tensor<32x2xi32>
  %other = arith.xori %bits, %wide : tensor<32x2xi32>
  %partner = tt.bitcast %other : tensor<32x2xi32> -> tensor<32x2xf32>
  %isMore = arith.cmpf ogt, %pairs, %partner : tensor<32x2xf32>
  %most = arith.select %isMore, %pairs, %partner : tensor<32x2xi1>, tensor<32x2xf32>
  %row = tt.reshape %most : tensor<32x2xf32> -> tensor<64xf32>
  %q = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %to = tt.addptr %q, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %to, %row : tensor<64x!tt.ptr<f32>>
  tt.return
}
