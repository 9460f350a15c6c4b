// RUN: triton-ext-opt %s -triton-ext-triton-to-unstructured -canonicalize -cse | FileCheck %s --check-prefixes=CHECK,FACTS
// RUN: triton-ext-opt %s -triton-ext-triton-to-unstructured="offset-bit-width=32" -canonicalize -cse | FileCheck %s --check-prefixes=CHECK,NARROW
// RUN: triton-ext-opt %s -triton-ext-triton-to-unstructured="offset-bit-width=64" -canonicalize -cse | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: triton-ext-opt %s -triton-ext-triton-to-unstructured="offset-bit-width=32" -Rpass-missed=unstructured -verify-diagnostics=only-expected -o %t
// RUN: not triton-ext-opt %s -triton-ext-triton-to-unstructured="offset-bit-width=16" 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: error: expected offset-bit-width=0, 32 or 64, got 16

// One offset of 32 bits fits, whatever it is.
// CHECK-LABEL: tt.func @one
// CHECK-SAME: (%{{.*}}: !tt.ptr<i32>, %[[O:.*]]: tensor<8xi32>)
// FACTS: tts.gather %{{.*}}[%[[O]]] : (<i32>, tensor<8xi32>)
// NARROW: tts.gather %{{.*}}[%[[O]]] : (<i32>, tensor<8xi32>)
// WIDE: %[[E:.*]] = arith.extsi %[[O]] : tensor<8xi32> to tensor<8xi64>
// WIDE: tts.gather %{{.*}}[%[[E]]] : (<i32>, tensor<8xi64>)
tt.func @one(%x: !tt.ptr<i32>, %o: tensor<8xi32>) -> tensor<8xi32> {
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %p = tt.addptr %xs, %o : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %v = tt.load %p : tensor<8x!tt.ptr<i32>>
  tt.return %v : tensor<8xi32>
}

// The sum of two offsets of 32 bits may have 33. With 32 bits, the accesses stay.
// CHECK-LABEL: tt.func @sum
// FACTS: tts.gather %{{.*}} : (<i32>, tensor<8xi64>)
// FACTS: tts.atomic_rmw
// FACTS: tts.atomic_cas
// FACTS: tts.scatter
// NARROW: tt.load
// NARROW: tt.atomic_rmw
// NARROW: tt.atomic_cas
// NARROW: tt.store
// WIDE: tts.gather %{{.*}} : (<i32>, tensor<8xi64>)
// WIDE: tts.atomic_rmw
// WIDE: tts.atomic_cas
// WIDE: tts.scatter
tt.func @sum(%x: !tt.ptr<i32>, %o: tensor<8xi32>) {
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %p = tt.addptr %xs, %o : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %q = tt.addptr %p, %o : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  // expected-remark @below {{stays: its offset may not fit in 32 bits}}
  %v = tt.load %q : tensor<8x!tt.ptr<i32>>
  // expected-remark @below {{stays: its offset may not fit in 32 bits}}
  %w = tt.atomic_rmw add, acq_rel, gpu, %q, %v : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>) -> tensor<8xi32>
  // expected-remark @below {{stays: its offset may not fit in 32 bits}}
  %z = tt.atomic_cas acq_rel, gpu, %q, %v, %w : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // expected-remark @below {{stays: its offset may not fit in 32 bits}}
  tt.store %q, %z : tensor<8x!tt.ptr<i32>>
  tt.return
}

// The offset has 64 bits and fits in 32: there it is cut off where 32 are asked for, and stays as it is otherwise.
// CHECK-LABEL: tt.func @short
// CHECK-SAME: (%{{.*}}: !tt.ptr<i32>, %[[I:.*]]: tensor<8xi16>)
// CHECK: %[[S:.*]] = arith.extsi %[[I]] : tensor<8xi16> to tensor<8xi[[W:.*]]>
// FACTS: tts.gather %{{.*}}[%[[S]]] : (<i32>, tensor<8xi64>)
// NARROW: tts.gather %{{.*}}[%[[S]]] : (<i32>, tensor<8xi32>)
// WIDE: tts.gather %{{.*}}[%[[S]]] : (<i32>, tensor<8xi64>)
tt.func @short(%x: !tt.ptr<i32>, %i: tensor<8xi16>) -> tensor<8xi32> {
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %o = arith.extsi %i : tensor<8xi16> to tensor<8xi64>
  %p = tt.addptr %xs, %o : tensor<8x!tt.ptr<i32>>, tensor<8xi64>
  %v = tt.load %p : tensor<8x!tt.ptr<i32>>
  tt.return %v : tensor<8xi32>
}

// An offset of 64 bits that may have more than 32.
// CHECK-LABEL: tt.func @long
// FACTS: tts.gather %{{.*}} : (<i32>, tensor<8xi64>)
// NARROW-NOT: tts.
// NARROW: tt.load
// WIDE: tts.gather %{{.*}} : (<i32>, tensor<8xi64>)
tt.func @long(%x: !tt.ptr<i32>, %o: tensor<8xi64>) -> tensor<8xi32> {
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %p = tt.addptr %xs, %o : tensor<8x!tt.ptr<i32>>, tensor<8xi64>
  // expected-remark @below {{stays: its offset may not fit in 32 bits}}
  %v = tt.load %p : tensor<8x!tt.ptr<i32>>
  tt.return %v : tensor<8xi32>
}
