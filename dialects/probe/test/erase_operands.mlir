// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe | FileCheck %s

// What only a probe uses goes with it: also operations with regions, whose own operations go with them, and what these use.
// CHECK-LABEL: tt.func public @sum
// CHECK-NEXT: tt.return
tt.func public @sum(%x: tensor<16xf32>, %c: i1, %n: f32) {
  %two = arith.constant 2.0 : f32
  %sum = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %twice = arith.mulf %a, %two : f32
    %more = arith.addf %twice, %b : f32
    %most = arith.addf %more, %more : f32
    tt.reduce.return %most : f32
  }) : (tensor<16xf32>) -> f32
  %chosen = scf.if %c -> f32 {
    %half = arith.mulf %sum, %sum : f32
    scf.yield %half : f32
  } else {
    scf.yield %n : f32
  }
  probe.record "sum"(%chosen : f32)
  tt.return
}
