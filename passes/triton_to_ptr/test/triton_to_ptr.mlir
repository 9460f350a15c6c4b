// RUN: triton-ext-opt %s -triton-ext-triton-to-ptr | FileCheck %s
// RUN: triton-ext-opt %s -triton-ext-triton-to-ptr="accesses=false" | FileCheck %s --check-prefix=PLACES

// CHECK-LABEL: tt.func @load
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[I:.*]]: i32)
// CHECK: %[[P:.*]] = builtin.unrealized_conversion_cast %[[X]] : !tt.ptr<f32> to !ptr.ptr<#ptr.generic_space>
// CHECK: %[[S:.*]] = ptr.type_offset f32 : i64
// CHECK: %[[W:.*]] = arith.extsi %[[I]] : i32 to i64
// CHECK: %[[B:.*]] = arith.muli %[[W]], %[[S]] : i64
// CHECK: %[[Q:.*]] = ptr.ptr_add %[[P]], %[[B]] : !ptr.ptr<#ptr.generic_space>, i64
// CHECK: %[[V:.*]] = ptr.load %[[Q]] : !ptr.ptr<#ptr.generic_space> -> f32
// CHECK: ptr.store %[[V]], %[[P]] : f32, !ptr.ptr<#ptr.generic_space>
// CHECK-NEXT: tt.return
// PLACES-LABEL: tt.func @load
// PLACES: ptr.ptr_add
// PLACES: tt.load
// PLACES: tt.store
tt.func @load(%x: !tt.ptr<f32>, %i: i32) {
  %p = tt.addptr %x, %i : !tt.ptr<f32>, i32
  %v = tt.load %p : !tt.ptr<f32>
  tt.store %x, %v : !tt.ptr<f32>
  tt.return
}

// A masked access is made only if the mask is true; a load without another value gives 0.
// CHECK-LABEL: tt.func @masked
// CHECK-SAME: (%{{.*}}: !tt.ptr<i32>, %[[M:.*]]: i1, %[[O:.*]]: i32)
// CHECK: %[[A:.*]] = scf.if %[[M]] -> (i32) {
// CHECK-NEXT: %[[L:.*]] = ptr.load
// CHECK-NEXT: scf.yield %[[L]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[O]]
// CHECK: %[[Z:.*]] = arith.constant 0 : i32
// CHECK: %[[B:.*]] = scf.if %[[M]] -> (i32) {
// CHECK:   } else {
// CHECK-NEXT: scf.yield %[[Z]]
// CHECK: scf.if %[[M]] {
// CHECK-NEXT: ptr.store
// CHECK-NEXT: }
// CHECK-NEXT: tt.return
tt.func @masked(%x: !tt.ptr<i32>, %m: i1, %o: i32) {
  %a = tt.load %x, %m, %o : !tt.ptr<i32>
  %b = tt.load %x, %m : !tt.ptr<i32>
  %c = arith.addi %a, %b : i32
  tt.store %x, %c, %m : !tt.ptr<i32>
  tt.return
}

// CHECK-LABEL: tt.func @casts
// CHECK-SAME: (%[[A:.*]]: i64, %[[C:.*]]: i1)
// CHECK: %[[P:.*]] = tptr.int_to_ptr %[[A]] : i64 to !ptr.ptr<#ptr.generic_space>
// CHECK: %[[S:.*]] = ptr.type_offset i8 : i64
// CHECK: %[[Q:.*]] = ptr.ptr_add %[[P]]
// CHECK: %[[R:.*]] = arith.select %[[C]], %[[P]], %[[Q]] : !ptr.ptr<#ptr.generic_space>
// CHECK: tptr.ptr_to_int %[[R]] : !ptr.ptr<#ptr.generic_space> to i64
// CHECK-NOT: tt.bitcast
tt.func @casts(%a: i64, %c: i1) -> i64 {
  %p = tt.int_to_ptr %a : i64 -> !tt.ptr<i32>
  %b = tt.bitcast %p : !tt.ptr<i32> -> !tt.ptr<i8>
  %q = tt.addptr %b, %a : !tt.ptr<i8>, i64
  %r = arith.select %c, %b, %q : !tt.ptr<i8>
  %n = tt.ptr_to_int %r : !tt.ptr<i8> -> i64
  tt.return %n : i64
}

// Loops and branches pass the new pointers.
// CHECK-LABEL: tt.func @flow
// CHECK: scf.for {{.*}} iter_args(%[[P:.*]] = %{{.*}}) -> (!ptr.ptr<#ptr.generic_space>)
// CHECK:   scf.if {{.*}} -> (!ptr.ptr<#ptr.generic_space>)
// CHECK: scf.while (%{{.*}} = %{{.*}}) : (!ptr.ptr<#ptr.generic_space>) -> !ptr.ptr<#ptr.generic_space>
// CHECK: ptr.store
tt.func @flow(%x: !tt.ptr<f16>, %n: i32, %v: f16) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %e = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x) -> (!tt.ptr<f16>) : i32 {
    %odd = arith.trunci %i : i32 to i1
    %q = scf.if %odd -> (!tt.ptr<f16>) {
      %r = tt.addptr %p, %i : !tt.ptr<f16>, i32
      scf.yield %r : !tt.ptr<f16>
    } else {
      scf.yield %p : !tt.ptr<f16>
    }
    scf.yield %q : !tt.ptr<f16>
  }
  %w = scf.while (%p = %e) : (!tt.ptr<f16>) -> !tt.ptr<f16> {
    %u = tt.load %p : !tt.ptr<f16>
    %c = arith.cmpf olt, %u, %v : f16
    scf.condition(%c) %p : !tt.ptr<f16>
  } do {
  ^bb0(%p: !tt.ptr<f16>):
    %q = tt.addptr %p, %c1 : !tt.ptr<f16>, i32
    scf.yield %q : !tt.ptr<f16>
  }
  tt.store %w, %v : !tt.ptr<f16>
  tt.return
}

// CHECK-LABEL: tt.func @volatile
// CHECK: ptr.load volatile %{{.*}} : !ptr.ptr<#ptr.generic_space> -> f32
tt.func @volatile(%x: !tt.ptr<f32>) -> f32 {
  %v = tt.load %x {isVolatile = true} : !tt.ptr<f32>
  tt.return %v : f32
}

// Tensors, atomics, calls and blocks keep Triton's pointers.
// CHECK-LABEL: tt.func @negative
// CHECK: tt.splat %{{.*}} : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
// CHECK: tt.load %{{.*}} : tensor<4x!tt.ptr<f32>>
// CHECK: tt.atomic_rmw
// CHECK: %[[Q:.*]] = ptr.ptr_add
// CHECK: %[[B:.*]] = builtin.unrealized_conversion_cast %[[Q]] : !ptr.ptr<#ptr.generic_space> to !tt.ptr<f32>
// CHECK: cf.br ^[[NEXT:.*]](%[[B]] : !tt.ptr<f32>)
// CHECK: ^[[NEXT]](%[[D:.*]]: !tt.ptr<f32>):
// CHECK: tt.call @negative(%[[D]], %{{.*}})
tt.func @negative(%x: !tt.ptr<f32>, %i: i32) {
  %s = tt.splat %x : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %t = tt.load %s : tensor<4x!tt.ptr<f32>>
  tt.store %s, %t : tensor<4x!tt.ptr<f32>>
  %one = arith.constant 1.0 : f32
  %true = arith.constant true
  %a = tt.atomic_rmw fadd, acq_rel, gpu, %x, %one, %true : (!tt.ptr<f32>, f32, i1) -> f32
  %q = tt.addptr %x, %i : !tt.ptr<f32>, i32
  cf.br ^next(%q : !tt.ptr<f32>)
^next(%p: !tt.ptr<f32>):
  tt.call @negative(%p, %i) : (!tt.ptr<f32>, i32) -> ()
  tt.return
}
