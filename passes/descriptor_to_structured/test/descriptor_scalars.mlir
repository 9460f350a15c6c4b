// RUN: triton-ext-opt %s -triton-ext-descriptor-to-structured | FileCheck %s

// Accesses use the scalars of a descriptor, without casts, as soon as the pass
// ends.
// CHECK-LABEL: tt.func @chosen
// CHECK: %[[P:.*]]:5 = scf.if
// CHECK: tts.make_tptr %[[P]]#0 to
// CHECK-NOT: unrealized_conversion_cast
// CHECK: tt.return
tt.func @chosen(%d: !tt.tensordesc<16xi32>, %e: !tt.tensordesc<16xi32>, %c: i1, %i: i32) -> tensor<16xi32> {
  %f = scf.if %c -> (!tt.tensordesc<16xi32>) {
    scf.yield %d : !tt.tensordesc<16xi32>
  } else {
    scf.yield %e : !tt.tensordesc<16xi32>
  }
  %v = tt.descriptor_load %f[%i] : !tt.tensordesc<16xi32> -> tensor<16xi32>
  tt.return %v : tensor<16xi32>
}
