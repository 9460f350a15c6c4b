// RUN: triton-ext-opt %s -triton-ext-triton-to-ptr="tensors" | FileCheck %s
// RUN: triton-ext-opt %s -triton-ext-triton-to-ptr="tensors accesses=false" | FileCheck %s --check-prefix=PLACES

// CHECK-LABEL: tt.func @copy
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[N:.*]]: i64, %[[M:.*]]: tensor<16xi1>, %[[O:.*]]: tensor<16xf32>, %[[I:.*]]: tensor<16xi32>)
// CHECK: %[[P:.*]] = builtin.unrealized_conversion_cast %[[X]] : !tt.ptr<f32> to !ptr.ptr<#ptr.generic_space>
// CHECK: %[[A:.*]] = tptr.ptr_to_int %[[P]] : !ptr.ptr<#ptr.generic_space> to i64
// CHECK: %[[AS:.*]] = tt.splat %[[A]] : i64 -> tensor<16xi64>
// CHECK: %[[PS:.*]] = tptr.int_to_ptr %[[AS]] : tensor<16xi64> to tensor<16x!ptr.ptr<#ptr.generic_space>>
// CHECK: %[[S:.*]] = ptr.type_offset f32 : i64
// CHECK: %[[SS:.*]] = tt.splat %[[S]] : i64 -> tensor<16xi64>
// CHECK: %[[W:.*]] = arith.extsi %[[I]] : tensor<16xi32> to tensor<16xi64>
// CHECK: %[[B:.*]] = arith.muli %[[W]], %[[SS]] : tensor<16xi64>
// CHECK: %[[Q:.*]] = ptr.ptr_add %[[PS]], %[[B]] : tensor<16x!ptr.ptr<#ptr.generic_space>>, tensor<16xi64>
// CHECK: %[[E:.*]] = tensor.empty() : tensor<16xf32>
// CHECK: %[[V:.*]] = linalg.generic {indexing_maps = [#[[MAP:.*]], #[[MAP]], #[[MAP]], #[[MAP]]], iterator_types = ["parallel"]} ins(%[[Q]], %[[M]], %[[O]] : {{.*}}) outs(%[[E]] : tensor<16xf32>)
// CHECK: ^bb0(%[[EP:.*]]: !ptr.ptr<#ptr.generic_space>, %[[EM:.*]]: i1, %[[EO:.*]]: f32, %{{.*}}: f32):
// CHECK:   %[[EV:.*]] = scf.if %[[EM]] -> (f32) {
// CHECK:     %[[L:.*]] = ptr.load volatile %[[EP]] : !ptr.ptr<#ptr.generic_space> -> f32
// CHECK:     scf.yield %[[L]]
// CHECK:     scf.yield %[[EO]]
// CHECK:   linalg.yield %[[EV]] : f32
// CHECK: linalg.generic {indexing_maps = [#[[MAP]], #[[MAP]], #[[MAP]]], iterator_types = ["parallel"]} ins(%[[Q]], %[[V]], %[[M]] :
// CHECK: ^bb0(%[[SP:.*]]: !ptr.ptr<#ptr.generic_space>, %[[SV:.*]]: f32, %[[SM:.*]]: i1):
// CHECK:   scf.if %[[SM]] {
// CHECK:     ptr.store %[[SV]], %[[SP]] : f32, !ptr.ptr<#ptr.generic_space>
// CHECK:   linalg.yield
// CHECK: linalg.generic {{.*}} ins(%[[Q]], %[[V]] : tensor<16x!ptr.ptr<#ptr.generic_space>>, tensor<16xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: ptr.store
// PLACES-LABEL: tt.func @copy
// PLACES: %[[Q:.*]] = ptr.ptr_add
// PLACES: %[[A:.*]] = tptr.ptr_to_int %[[Q]] : tensor<16x!ptr.ptr<#ptr.generic_space>> to tensor<16xi64>
// PLACES: %[[R:.*]] = tt.int_to_ptr %[[A]] : tensor<16xi64> -> tensor<16x!tt.ptr<f32>>
// PLACES: tt.load %[[R]]
// PLACES: tt.store %[[R]]
tt.func @copy(%x: !tt.ptr<f32>, %n: i64, %m: tensor<16xi1>, %o: tensor<16xf32>, %i: tensor<16xi32>) {
  %s = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %p = tt.addptr %s, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %v = tt.load %p, %m, %o {isVolatile = true} : tensor<16x!tt.ptr<f32>>
  tt.store %p, %v, %m : tensor<16x!tt.ptr<f32>>
  tt.store %p, %v : tensor<16x!tt.ptr<f32>>
  tt.return
}

// Addresses are moved in the places of pointers, in loops, too. What a mask leaves out is 0.
// CHECK-LABEL: tt.func @moves
// CHECK: tt.cat %{{.*}}, %{{.*}} : tensor<4xi64> -> tensor<8xi64>
// CHECK: tt.expand_dims %{{.*}} : tensor<8xi64> -> tensor<8x1xi64>
// CHECK: tt.broadcast %{{.*}} : tensor<8x1xi64> -> tensor<8x2xi64>
// CHECK: tt.trans %{{.*}} : tensor<8x2xi64> -> tensor<2x8xi64>
// CHECK: tt.reshape %{{.*}} : tensor<2x8xi64> -> tensor<16xi64>
// CHECK: %[[F:.*]] = scf.for {{.*}} -> (tensor<16x!ptr.ptr<#ptr.generic_space>>)
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[F]] : tensor<16xi1>, tensor<16x!ptr.ptr<#ptr.generic_space>>
// CHECK: %[[Z:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: ptr.load %{{.*}} : !ptr.ptr<#ptr.generic_space> -> f32
// CHECK: scf.yield %[[Z]]
// CHECK: tptr.ptr_to_int %{{.*}} : tensor<16x!ptr.ptr<#ptr.generic_space>> to tensor<16xi64>
tt.func @moves(%a: tensor<4xi64>, %m: tensor<16xi1>, %n: i32, %i: tensor<16xi32>) -> (tensor<16xi64>, tensor<16xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %p = tt.int_to_ptr %a : tensor<4xi64> -> tensor<4x!tt.ptr<i8>>
  %b = tt.bitcast %p : tensor<4x!tt.ptr<i8>> -> tensor<4x!tt.ptr<f32>>
  %c = tt.cat %b, %b : tensor<4x!tt.ptr<f32>> -> tensor<8x!tt.ptr<f32>>
  %e = tt.expand_dims %c {axis = 1 : i32} : tensor<8x!tt.ptr<f32>> -> tensor<8x1x!tt.ptr<f32>>
  %f = tt.broadcast %e : tensor<8x1x!tt.ptr<f32>> -> tensor<8x2x!tt.ptr<f32>>
  %g = tt.trans %f {order = array<i32: 1, 0>} : tensor<8x2x!tt.ptr<f32>> -> tensor<2x8x!tt.ptr<f32>>
  %h = tt.reshape %g : tensor<2x8x!tt.ptr<f32>> -> tensor<16x!tt.ptr<f32>>
  %l = scf.for %k = %c0 to %n step %c1 iter_args(%q = %h) -> (tensor<16x!tt.ptr<f32>>) : i32 {
    %r = tt.addptr %q, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    scf.yield %r : tensor<16x!tt.ptr<f32>>
  }
  %s = arith.select %m, %h, %l : tensor<16xi1>, tensor<16x!tt.ptr<f32>>
  %v = tt.load %s, %m : tensor<16x!tt.ptr<f32>>
  %z = tt.ptr_to_int %s : tensor<16x!tt.ptr<f32>> -> tensor<16xi64>
  tt.return %z, %v : tensor<16xi64>, tensor<16xf32>
}

// Atomics and functions keep Triton's pointers.
// CHECK-LABEL: tt.func @negative
// CHECK-SAME: (%[[P:.*]]: tensor<4x!tt.ptr<f32>>,
// CHECK: %[[A:.*]] = tt.ptr_to_int %[[P]] : tensor<4x!tt.ptr<f32>> -> tensor<4xi64>
// CHECK: %[[Q:.*]] = tptr.int_to_ptr %[[A]] : tensor<4xi64> to tensor<4x!ptr.ptr<#ptr.generic_space>>
// CHECK: %[[R:.*]] = ptr.ptr_add %[[Q]]
// CHECK: %[[B:.*]] = tptr.ptr_to_int %[[R]]
// CHECK: %[[T:.*]] = tt.int_to_ptr %[[B]] : tensor<4xi64> -> tensor<4x!tt.ptr<f32>>
// CHECK: tt.atomic_rmw fadd, acq_rel, gpu, %[[T]]
tt.func @negative(%p: tensor<4x!tt.ptr<f32>>, %i: tensor<4xi32>, %v: tensor<4xf32>, %m: tensor<4xi1>) {
  %q = tt.addptr %p, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  %a = tt.atomic_rmw fadd, acq_rel, gpu, %q, %v, %m : (tensor<4x!tt.ptr<f32>>, tensor<4xf32>, tensor<4xi1>) -> tensor<4xf32>
  tt.return
}
