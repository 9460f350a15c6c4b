// RUN: triton-ext-opt %s --load-extension=probe | triton-ext-opt --load-extension=probe | FileCheck %s

// CHECK-LABEL: tt.func public @keeps
// CHECK: probe.count "programs"{{$}}
// CHECK: probe.count "some" mask(%{{.*}} : i1)
// CHECK: probe.count "lanes" mask(%{{.*}} : tensor<8xi1>) {mine}
// CHECK: probe.record "nothing"{{$}}
// CHECK: probe.record "values"(%{{.*}}, %{{.*}} : i32, tensor<8xf32>)
// CHECK: probe.record "some values"(%{{.*}} : tensor<8xf32>) mask(%{{.*}} : tensor<8xi1>)
// CHECK: probe.record "signs"(%{{.*}}, %{{.*}} : i32, i32) {are_unsigned = array<i1: false, true>}
// CHECK: probe.minmax "x"(%{{.*}} : i32){{$}}
// CHECK: probe.minmax "x"(%{{.*}} : tensor<8xf32>) mask(%{{.*}} : tensor<8xi1>)
// CHECK: probe.stats "x"(%{{.*}} : i32){{$}}
// CHECK: probe.stats "x"(%{{.*}} : tensor<8xf32>) mask(%{{.*}} : i1)
// CHECK: probe.histogram "x"(%{{.*}} : i32) {bins = 10 : i32, hi = 1.000000e+00 : f64, lo = 0.000000e+00 : f64}
// CHECK: probe.histogram "x"(%{{.*}} : tensor<8xf32>) mask(%{{.*}} : i1) {bins = 1 : i32
// CHECK: probe.check %{{.*}}, "scalar" : i1
// CHECK: probe.check %{{.*}}, "lanes"(%{{.*}}, %{{.*}} : !tt.ptr<f32>, tensor<8xf32>) mask(%{{.*}} : i1) : tensor<8xi1>
// CHECK: probe.check %{{.*}}, "noted" {probe.note = "{}"} : i1
// CHECK: probe.failures %{{.*}}, %[[FAILED:.*]], %{{.*}}(%{{.*}} : !tt.ptr<f32>) messages ["a", "b"] notes ["{}", "{}"] places [#{{.*}}, #{{.*}}]
// CHECK: probe.failures %{{.*}}, %[[FAILED]], %{{.*}} messages ["a"] notes [""] places
// CHECK: %[[WORD:.*]] = probe.launch_word 5 : i64
// CHECK: probe.launch_word 5 + %[[WORD]] {otherwise = -1 : i64} : i64
// CHECK: %{{.*}} = probe.clock : i64
// CHECK: %[[PART:.*]] = probe.region_begin "part" : i64
// CHECK: %[[WARPS:.*]] = probe.region_begin "warps" {per_warp} : i64
// CHECK: probe.region_end %[[WARPS]]
// CHECK: probe.region_end %[[PART]]
// CHECK-NEXT: probe.promise "tt.divisibility" [16] %{{.*}} : i32
// CHECK-NEXT: probe.promise "tt.contiguity" [8] %{{.*}} : tensor<8xf32>
tt.func public @keeps(%p: !tt.ptr<f32>, %i: i32, %c: i1, %m: tensor<8xi1>, %v: tensor<8xf32>) {
  probe.count "programs"
  probe.count "some" mask(%c : i1)
  probe.count "lanes" mask(%m : tensor<8xi1>) {mine}
  probe.record "nothing"
  probe.record "values"(%i, %v : i32, tensor<8xf32>)
  probe.record "some values"(%v : tensor<8xf32>) mask(%m : tensor<8xi1>)
  probe.record "signs"(%i, %i : i32, i32) {are_unsigned = array<i1: false, true>}
  probe.minmax "x"(%i : i32)
  probe.minmax "x"(%v : tensor<8xf32>) mask(%m : tensor<8xi1>)
  probe.stats "x"(%i : i32)
  probe.stats "x"(%v : tensor<8xf32>) mask(%c : i1)
  probe.histogram "x"(%i : i32) {bins = 10 : i32, lo = 0.0 : f64, hi = 1.0 : f64}
  probe.histogram "x"(%v : tensor<8xf32>) mask(%c : i1) {bins = 1 : i32, lo = -0.5 : f64, hi = 1.0 : f64}
  probe.check %c, "scalar" : i1
  probe.check %m, "lanes"(%p, %v : !tt.ptr<f32>, tensor<8xf32>) mask(%c : i1) : tensor<8xi1>
  probe.check %c, "noted" {probe.note = "{}"} : i1
  %failed = arith.constant 1 : i64
  probe.failures %i, %failed, %i (%p : !tt.ptr<f32>) messages ["a", "b"] notes ["{}", "{}"] places [loc("a.py":1:2), loc("b.py":3:4)]
  probe.failures %i, %failed, %i messages ["a"] notes [""] places [loc("a.py":1:2)]
  %w = probe.launch_word 5 : i64
  %other = probe.launch_word 5 + %w {otherwise = -1 : i64} : i64
  %t = probe.clock : i64
  %part = probe.region_begin "part" : i64
  %warps = probe.region_begin "warps" {per_warp} : i64
  probe.region_end %warps
  probe.region_end %part
  probe.promise "tt.divisibility" [16] %i : i32
  probe.promise "tt.contiguity" [8] %v : tensor<8xf32>
  tt.return
}
