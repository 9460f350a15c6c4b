// RUN: triton-ext-opt %s --load-extension=probe --split-input-file -triton-ext-lower-probe="emit=true" -canonicalize | FileCheck %s
// RUN: sed 's/x86-64/cuda:90/' %s | not triton-ext-opt --load-extension=probe --split-input-file -triton-ext-lower-probe="emit=true" 2>&1 | FileCheck %s --check-prefix=GPU

// One call of the runtime for all lanes: with the slot, the places of the argument's words and of the counters, the tag,
// the bytes, how to look, the number of lanes, and the addresses. A lane that is off has the address 0.
// CHECK-LABEL: tt.func public @bits
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x16xi64>, %[[ON:[a-z0-9]+]]: tensor<8x16xi1>
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<0> : tensor<8x16xi64>
// CHECK-DAG: %[[ARGUMENT:.*]] = arith.constant 16 : i64
// CHECK-DAG: %[[SITE:.*]] = arith.constant 24 : i64
// CHECK-DAG: %[[BYTES:.*]] = arith.constant 2 : i64
// CHECK-DAG: %[[HOW:.*]] = arith.constant 3 : i64
// CHECK-DAG: %[[LANES:.*]] = arith.constant 128 : i64
// CHECK: %[[AT:.*]] = arith.select %[[ON]], %[[X]], %[[NONE]]
// CHECK-NOT: scf.if
// CHECK: tt.print "" {{.*}}triton_ext_cpu.call = "triton_ext_cpu_look_at_bits"{{.*}} : %{{.*}}, %[[ARGUMENT]], %[[SITE]], %{{.*}}, %[[BYTES]], %[[HOW]], %[[LANES]], %[[AT]] :
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
// CHECK: tt.print "" {{.*}}triton_ext_cpu.call = "triton_ext_cpu_look_for_races"{{.*}}, %[[LANES]], %[[PROGRAM]], %[[LOCK]], %[[AT]] :
module attributes {probe.target = "x86-64"} {
tt.func public @scalar(%x: i64, %program: i64, %lock: i64) {
  probe.shadow %x, "race" numbers(%program, %lock) {argument = 0 : i32, bytes = 4 : i32, how = 5 : i64, probe.note = "{}"} : i64
  tt.return
}
}
