// RUN: triton-ext-opt %s --load-extension=probe --split-input-file -triton-ext-lower-probe="emit=true" -canonicalize | FileCheck %s
// RUN: sed 's/x86-64/cuda:90/' %s | not triton-ext-opt --load-extension=probe --split-input-file -triton-ext-lower-probe="emit=true" 2>&1 | FileCheck %s --check-prefix=GPU

// One call of the runtime for all lanes: with the slot, the places of the argument's words and of the counters, the tag,
// the bytes, how to look, the number of lanes, and the addresses: a base and a factor of offsets. Here the offsets are the
// addresses themselves. A lane that is off has an offset that is outside of all memory.
// CHECK-LABEL: tt.func public @bits
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x16xi64>, %[[ON:[a-z0-9]+]]: tensor<8x16xi1>
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<-576460752303423488> : tensor<8x16xi64>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-DAG: %[[ARGUMENT:.*]] = arith.constant 16 : i64
// CHECK-DAG: %[[SITE:.*]] = arith.constant 24 : i64
// CHECK-DAG: %[[BYTES:.*]] = arith.constant 2 : i64
// CHECK-DAG: %[[HOW:.*]] = arith.constant 3 : i64
// CHECK-DAG: %[[LANES:.*]] = arith.constant 128 : i64
// CHECK: %[[AT:.*]] = arith.select %[[ON]], %[[X]], %[[NONE]]
// CHECK-NOT: scf.if
// CHECK: tt.print "" {{.*}}triton_ext_cpu.call = "triton_ext_cpu_look_at_bits"{{.*}} : %{{.*}}, %[[ARGUMENT]], %[[SITE]], %{{.*}}, %[[BYTES]], %[[HOW]], %[[LANES]], %[[ZERO]], %[[ONE]], %[[AT]] :
// GPU: expected the target x86-64, whose runtime looks at shadows
module attributes {probe.target = "x86-64"} {
tt.func public @bits(%x: tensor<8x16xi64>, %on: tensor<8x16xi1>) {
  probe.shadow %x, "uninit" mask(%on : tensor<8x16xi1>) {argument = 1 : i32, bytes = 2 : i32, how = 3 : i64, probe.note = "{}"} : tensor<8x16xi64>
  tt.return
}
}

// -----

// A scalar has no lanes, and its address is the only one of a tensor.
// CHECK-LABEL: tt.func public @scalar
// CHECK-SAME: %[[X:[a-z0-9]+]]: i64, %[[PROGRAM:[a-z0-9]+]]: i64, %[[LOCK:[a-z0-9]+]]: i64
// CHECK-DAG: %[[LANES:.*]] = arith.constant 0 : i64
// CHECK-DAG: %[[AT:.*]] = tt.splat %[[X]] : i64 -> tensor<1xi64>
// CHECK: tt.print "" {{.*}}triton_ext_cpu.call = "triton_ext_cpu_look_for_races"{{.*}}, %[[LANES]], %[[LANES]], %{{.*}}, %[[PROGRAM]], %[[LOCK]], %[[AT]] :
module attributes {probe.target = "x86-64"} {
tt.func public @scalar(%x: i64, %program: i64, %lock: i64) {
  probe.shadow %x, "race" numbers(%program, %lock) {argument = 0 : i32, bytes = 4 : i32, how = 5 : i64, probe.note = "{}"} : i64
  tt.return
}
}

// -----

// Pointers into a tensor are its address plus offsets, which count elements. Neighbouring branches with the same offsets
// become one, also around another one with other offsets, as long as none of them marks bytes that another one looks at.
// CHECK-LABEL: tt.func public @same
// CHECK-SAME: %[[P:[a-z0-9]+]]: !tt.ptr<f32>, %[[Q:[a-z0-9]+]]: !tt.ptr<f16>, %[[I:[a-z0-9]+]]: tensor<64xi32>, %{{.*}}: tensor<64xi32>, %[[U:[a-z0-9]+]]: i64, %[[V:[a-z0-9]+]]: i64, %[[W:[a-z0-9]+]]: i64
// CHECK-DAG: %[[A:.*]] = arith.cmpi ne, %[[U]],
// CHECK-DAG: %[[B:.*]] = arith.cmpi ne, %[[V]],
// CHECK-DAG: %[[C:.*]] = arith.cmpi ne, %[[W]],
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i64
// CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : i64
// CHECK: scf.if %[[B]]
// CHECK: %[[ANY:.*]] = arith.ori %[[A]], %[[C]]
// CHECK: scf.if %[[ANY]]
// CHECK-DAG: %[[FIRST:.*]] = tt.ptr_to_int %[[P]] : !tt.ptr<f32> -> i64
// CHECK-DAG: %[[AT:.*]] = arith.extsi %[[I]] : tensor<64xi32> to tensor<64xi64>
// CHECK: tt.print {{.*}}look_at_bits{{.*}}, %[[FIRST]], %[[FOUR]], %[[AT]] :
// CHECK: %[[SECOND:.*]] = tt.ptr_to_int %[[Q]] : !tt.ptr<f16> -> i64
// CHECK: tt.print {{.*}}look_at_bits{{.*}}, %[[SECOND]], %[[TWO]], %{{.*}} :
module attributes {probe.target = "x86-64"} {
tt.func public @same(%p: !tt.ptr<f32>, %q: !tt.ptr<f16>, %i: tensor<64xi32>, %j: tensor<64xi32>, %u: i64, %v: i64, %w: i64) {
  %zero = arith.constant 0 : i64
  %a = arith.cmpi ne, %u, %zero {probe.has_shadow} : i64
  %b = arith.cmpi ne, %v, %zero {probe.has_shadow} : i64
  %c = arith.cmpi ne, %w, %zero {probe.has_shadow} : i64
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %pi = tt.addptr %ps, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %pj = tt.addptr %ps, %j : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %qi = tt.addptr %qs, %i : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  scf.if %a {
    %x = tt.ptr_to_int %pi : tensor<64x!tt.ptr<f32>> -> tensor<64xi64>
    probe.shadow %x, "uninit" {argument = 0 : i32, bytes = 4 : i32, how = 1 : i64, probe.note = "{}"} : tensor<64xi64>
  }
  scf.if %b {
    %x = tt.ptr_to_int %pj : tensor<64x!tt.ptr<f32>> -> tensor<64xi64>
    probe.shadow %x, "uninit" {argument = 0 : i32, bytes = 4 : i32, how = 1 : i64, probe.note = "{}"} : tensor<64xi64>
  }
  scf.if %c {
    %x = tt.ptr_to_int %qi : tensor<64x!tt.ptr<f16>> -> tensor<64xi64>
    probe.shadow %x, "uninit" {argument = 1 : i32, bytes = 2 : i32, how = 2 : i64, probe.note = "{}"} : tensor<64xi64>
  }
  tt.return
}
}

// -----

// CHECK-LABEL: tt.func public @ordered
// CHECK-SAME: %[[U:[a-z0-9]+]]: i64, %[[V:[a-z0-9]+]]: i64, %[[W:[a-z0-9]+]]: i64
// CHECK-DAG: %[[A:.*]] = arith.cmpi ne, %[[U]],
// CHECK-DAG: %[[B:.*]] = arith.cmpi ne, %[[V]],
// CHECK-DAG: %[[C:.*]] = arith.cmpi ne, %[[W]],
// CHECK: scf.if %[[A]]
// CHECK: scf.if %[[B]]
// CHECK: scf.if %[[C]]
module attributes {probe.target = "x86-64"} {
tt.func public @ordered(%p: !tt.ptr<f32>, %i: tensor<64xi32>, %j: tensor<64xi32>, %u: i64, %v: i64, %w: i64) {
  %zero = arith.constant 0 : i64
  %a = arith.cmpi ne, %u, %zero {probe.has_shadow} : i64
  %b = arith.cmpi ne, %v, %zero {probe.has_shadow} : i64
  %c = arith.cmpi ne, %w, %zero {probe.has_shadow} : i64
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pi = tt.addptr %ps, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %pj = tt.addptr %ps, %j : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  scf.if %a {
    %x = tt.ptr_to_int %pi : tensor<64x!tt.ptr<f32>> -> tensor<64xi64>
    probe.shadow %x, "uninit" {argument = 0 : i32, bytes = 4 : i32, how = 1 : i64, probe.note = "{}"} : tensor<64xi64>
  }
  scf.if %b {
    %x = tt.ptr_to_int %pj : tensor<64x!tt.ptr<f32>> -> tensor<64xi64>
    probe.shadow %x, "uninit" {argument = 0 : i32, bytes = 4 : i32, how = 2 : i64, probe.note = "{}"} : tensor<64xi64>
  }
  scf.if %c {
    %x = tt.ptr_to_int %pi : tensor<64x!tt.ptr<f32>> -> tensor<64xi64>
    probe.shadow %x, "uninit" {argument = 0 : i32, bytes = 4 : i32, how = 1 : i64, probe.note = "{}"} : tensor<64xi64>
  }
  tt.return
}
}

// -----

// A branch that also has a condition of the kernel, or nothing but one, is not joined: the runtime knows of shadows only.
// CHECK-LABEL: tt.func public @conditions
// CHECK-SAME: %[[OWN:[a-z0-9]+]]: i1
// CHECK: %[[A:.*]] = arith.cmpi ne
// CHECK: %[[BOTH:.*]] = arith.andi %[[A]], %[[OWN]]
// CHECK: scf.if %[[A]]
// CHECK: scf.if %[[BOTH]]
// CHECK: scf.if %[[OWN]]
module attributes {probe.target = "x86-64"} {
tt.func public @conditions(%p: !tt.ptr<f32>, %i: tensor<64xi32>, %u: i64, %own: i1) {
  %zero = arith.constant 0 : i64
  %a = arith.cmpi ne, %u, %zero {probe.has_shadow} : i64
  %both = arith.andi %a, %own : i1
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pi = tt.addptr %ps, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  scf.if %a {
    %x = tt.ptr_to_int %pi : tensor<64x!tt.ptr<f32>> -> tensor<64xi64>
    probe.shadow %x, "uninit" {argument = 0 : i32, bytes = 4 : i32, how = 1 : i64, probe.note = "{}"} : tensor<64xi64>
  }
  scf.if %both {
    %x = tt.ptr_to_int %pi : tensor<64x!tt.ptr<f32>> -> tensor<64xi64>
    probe.shadow %x, "uninit" {argument = 1 : i32, bytes = 4 : i32, how = 1 : i64, probe.note = "{}"} : tensor<64xi64>
  }
  scf.if %own {
    %x = tt.ptr_to_int %pi : tensor<64x!tt.ptr<f32>> -> tensor<64xi64>
    probe.shadow %x, "uninit" {argument = 2 : i32, bytes = 4 : i32, how = 1 : i64, probe.note = "{}"} : tensor<64xi64>
  }
  tt.return
}
}
