// RUN: triton-ext-opt %s -triton-ext-triton-to-unstructured -canonicalize -cse -split-input-file | FileCheck %s

// CHECK-LABEL: tt.func @accesses
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<i32>, %[[O:.*]]: tensor<8xi32>, %[[M:.*]]: tensor<8xi1>)
// CHECK-DAG: %[[SEVEN:.*]] = arith.constant 7 : i32
// CHECK: %[[V:.*]] = tts.gather %[[X]][%[[O]]] mask = %[[M]] default = %[[SEVEN]] : (<i32>, tensor<8xi32>) -> tensor<8xi32>
// CHECK: %[[OLD:.*]] = tts.atomic_rmw add, acq_rel, gpu, %[[V]] into %[[X]][%[[O]]] mask = %[[M]]
// CHECK: %[[WAS:.*]] = tts.atomic_cas acq_rel, gpu, %[[V]], %[[OLD]] into %[[X]][%[[O]]]
// CHECK: tts.scatter %[[WAS]] into %[[X]][%[[O]]] mask = %[[M]]
// CHECK-NOT: tt.addptr
tt.func @accesses(%x: !tt.ptr<i32>, %o: tensor<8xi32>, %m: tensor<8xi1>) {
  %sevens = arith.constant dense<7> : tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %p = tt.addptr %xs, %o : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %v = tt.load %p, %m, %sevens : tensor<8x!tt.ptr<i32>>
  %old = tt.atomic_rmw add, acq_rel, gpu, %p, %v, %m : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi1>) -> tensor<8xi32>
  %was = tt.atomic_cas acq_rel, gpu, %p, %v, %old : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  tt.store %p, %was, %m : tensor<8x!tt.ptr<i32>>
  tt.return
}

// -----

// The first sum may have more than 32 bits. The second one has not, whatever the integers are; nor has no offset.
// CHECK-LABEL: tt.func @widths
// CHECK-SAME: (%{{.*}}: !tt.ptr<i32>, %[[O:.*]]: tensor<8xi32>, %[[I:.*]]: tensor<8xi16>)
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<0> : tensor<8xi32>
// CHECK-DAG: %[[WIDE:.*]] = arith.extsi %[[O]] : tensor<8xi32> to tensor<8xi64>
// CHECK-DAG: %[[TWICE:.*]] = arith.addi %[[WIDE]], %[[WIDE]] : tensor<8xi64>
// CHECK: tts.gather %{{.*}}[%[[TWICE]]] : (<i32>, tensor<8xi64>)
// CHECK: %[[SHORT:.*]] = arith.extsi %[[I]] : tensor<8xi16> to tensor<8xi32>
// CHECK: %[[SUM:.*]] = arith.addi %[[SHORT]], %[[SHORT]] : tensor<8xi32>
// CHECK: tts.gather %{{.*}}[%[[SUM]]] : (<i32>, tensor<8xi32>)
// CHECK: tts.scatter %{{.*}} into %{{.*}}[%[[NONE]]]
tt.func @widths(%x: !tt.ptr<i32>, %o: tensor<8xi32>, %i: tensor<8xi16>) -> tensor<8xi32> {
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %p = tt.addptr %xs, %o : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %q = tt.addptr %p, %o : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %v = tt.load %q : tensor<8x!tt.ptr<i32>>
  %r = tt.addptr %xs, %i : tensor<8x!tt.ptr<i32>>, tensor<8xi16>
  %s = tt.addptr %r, %i : tensor<8x!tt.ptr<i32>>, tensor<8xi16>
  %w = tt.load %s : tensor<8x!tt.ptr<i32>>
  tt.store %xs, %v : tensor<8x!tt.ptr<i32>>
  tt.return %w : tensor<8xi32>
}

// -----

// Volatile, a default for each element, a scalar, and pointers of elsewhere.
// CHECK-LABEL: tt.func @stays
// CHECK-NOT: tts.
tt.func @stays(%x: !tt.ptr<i32>, %o: tensor<8xi32>, %m: tensor<8xi1>, %p: tensor<8x!tt.ptr<i32>>) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, i32) {
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %q = tt.addptr %xs, %o : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %a = tt.load %q {isVolatile = true} : tensor<8x!tt.ptr<i32>>
  %b = tt.load %q, %m, %o : tensor<8x!tt.ptr<i32>>
  %c = tt.load %p : tensor<8x!tt.ptr<i32>>
  %d = tt.load %x : !tt.ptr<i32>
  tt.return %a, %b, %c, %d : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, i32
}

// -----

// CHECK-LABEL: tt.func @negative_unknown_size
// CHECK-NOT: tts.
tt.func @negative_unknown_size(%x: !tt.ptr<i32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<?x!tt.ptr<i32>>
  %p = tt.addptr %xs, %o : tensor<?x!tt.ptr<i32>>, tensor<?xi32>
  %v = tt.load %p : tensor<?x!tt.ptr<i32>>
  tt.return %v : tensor<?xi32>
}
