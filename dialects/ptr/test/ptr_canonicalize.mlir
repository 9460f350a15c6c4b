// RUN: triton-ext-opt %s --load-extension=tptr -canonicalize | FileCheck %s

!p = !ptr.ptr<#ptr.generic_space>

// CHECK-LABEL: func.func @sizes
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : i64
// CHECK-NOT: ptr.type_offset
// CHECK: return %[[C1]], %[[C2]], %[[C8]], %[[C8]]
func.func @sizes() -> (i32, index, i64, i64) {
  %0 = ptr.type_offset i1 : i32
  %1 = ptr.type_offset bf16 : index
  %2 = ptr.type_offset !p : i64
  %3 = ptr.type_offset index : i64
  return %0, %1, %2, %3 : i32, index, i64, i64
}

// Constant offsets are added in 64 bits: 2^30 + 2^30 does not fit an i32. An i1 of 1 is -1.
// CHECK-LABEL: func.func @sums
// CHECK-SAME: (%[[P:.*]]: !ptr.ptr
// CHECK-DAG: %[[C:.*]] = arith.constant 2147483648 : i64
// CHECK-DAG: %[[D:.*]] = arith.constant 7 : i64
// CHECK: %[[Q:.*]] = ptr.ptr_add %[[P]], %[[C]]
// CHECK: %[[R:.*]] = ptr.ptr_add %[[P]], %[[D]]
// CHECK: return %[[Q]], %[[R]], %[[P]]
func.func @sums(%p: !p) -> (!p, !p, !p) {
  %big = arith.constant 1073741824 : i32
  %eight = arith.constant 8 : index
  %true = arith.constant true
  %zero = arith.constant 0 : i16
  %a = ptr.ptr_add nuw %p, %big : !p, i32
  %b = ptr.ptr_add nuw %a, %big : !p, i32
  %c = ptr.ptr_add %p, %eight : !p, index
  %d = ptr.ptr_add %c, %true : !p, i1
  %e = ptr.ptr_add %p, %zero : !p, i16
  return %b, %d, %e : !p, !p, !p
}

// Zeros leave a tensor of pointers as it is, and make many pointers of one.
// CHECK-LABEL: func.func @tensors
// CHECK-SAME: (%[[P:.*]]: !ptr.ptr<#ptr.generic_space>, %[[T:.*]]: tensor<4x!ptr.ptr<#ptr.generic_space>>)
// CHECK: %[[Q:.*]] = ptr.ptr_add %[[P]], %{{.*}} : !ptr.ptr<#ptr.generic_space>, tensor<4xi32>
// CHECK: return %[[T]], %[[Q]]
func.func @tensors(%p: !p, %t: tensor<4x!p>) -> (tensor<4x!p>, tensor<4x!p>) {
  %zeros = arith.constant dense<0> : tensor<4xi32>
  %a = ptr.ptr_add %t, %zeros : tensor<4x!p>, tensor<4xi32>
  %b = ptr.ptr_add %p, %zeros : !p, tensor<4xi32>
  return %a, %b : tensor<4x!p>, tensor<4x!p>
}

// CHECK-LABEL: func.func @constants
// CHECK-DAG: %[[Q:.*]] = ptr.constant #ptr.address<-4> : !ptr.ptr<#ptr.generic_space>
// CHECK-DAG: %[[D:.*]] = arith.constant -4096 : i32
// CHECK: return %[[Q]], %[[D]]
func.func @constants() -> (!p, i32) {
  %null = ptr.constant #ptr.null : !p
  %known = ptr.constant #ptr.address<0x1000> : !p
  %c = arith.constant -4 : i8
  %q = ptr.ptr_add %null, %c : !p, i8
  %d = ptr.ptr_diff %null, %known : !p -> i32
  return %q, %d : !p, i32
}

// CHECK-LABEL: func.func @differences
// CHECK-SAME: (%[[P:.*]]: !ptr.ptr<#ptr.generic_space>, %[[O:.*]]: !ptr.ptr<#ptr.generic_space>, %[[N:.*]]: i64)
// CHECK-DAG: %[[A:.*]] = arith.constant 0 : i64
// CHECK-DAG: %[[B:.*]] = arith.constant 3 : i8
// CHECK-DAG: %[[C:.*]] = arith.constant -9 : index
// CHECK: %[[E:.*]] = ptr.ptr_diff %{{.*}}, %[[P]]
// CHECK: %[[F:.*]] = ptr.ptr_diff %[[P]], %[[O]]
// CHECK: return %[[A]], %[[B]], %[[C]], %[[E]], %[[F]]
func.func @differences(%p: !p, %o: !p, %n: i64) -> (i64, i8, index, i64, i64) {
  %three = arith.constant 3 : i64
  %twelve = arith.constant 12 : i16
  %q = ptr.ptr_add %p, %three : !p, i64
  %r = ptr.ptr_add %p, %twelve : !p, i16
  %s = ptr.ptr_add %p, %n : !p, i64
  %a = ptr.ptr_diff %p, %p : !p -> i64
  %b = ptr.ptr_diff %q, %p : !p -> i8
  %c = ptr.ptr_diff %q, %r : !p -> index
  %e = ptr.ptr_diff %s, %p : !p -> i64
  %f = ptr.ptr_diff %p, %o : !p -> i64
  return %a, %b, %c, %e, %f : i64, i8, index, i64, i64
}

// A memref is restored with its own metadata, or if its type says them all.
// CHECK-LABEL: func.func @memrefs
// CHECK-SAME: (%[[M:.*]]: memref<?xf32, #ptr.generic_space>, %[[S:.*]]: memref<4xf32, strided<[2], offset: 3>, #ptr.generic_space>, %[[P:.*]]: !ptr.ptr
// CHECK-NEXT: return %[[M]], %[[S]], %[[S]], %[[P]]
func.func @memrefs(%m: memref<?xf32, #ptr.generic_space>, %s: memref<4xf32, strided<[2], offset: 3>, #ptr.generic_space>, %p: !p)
    -> (memref<?xf32, #ptr.generic_space>, memref<4xf32, strided<[2], offset: 3>, #ptr.generic_space>,
        memref<4xf32, strided<[2], offset: 3>, #ptr.generic_space>, !p) {
  %a = ptr.to_ptr %m : memref<?xf32, #ptr.generic_space> -> !p
  %b = ptr.get_metadata %m : memref<?xf32, #ptr.generic_space>
  %c = ptr.from_ptr %a metadata %b : !p -> memref<?xf32, #ptr.generic_space>
  %d = ptr.to_ptr %s : memref<4xf32, strided<[2], offset: 3>, #ptr.generic_space> -> !p
  %e = ptr.from_ptr %d : !p -> memref<4xf32, strided<[2], offset: 3>, #ptr.generic_space>
  %f = tptr.from_ptr %d : <#ptr.generic_space> -> memref<4xf32, strided<[2], offset: 3>, #ptr.generic_space>
  %g = ptr.from_ptr %p : !p -> memref<f32, #ptr.generic_space>
  %h = ptr.to_ptr %g : memref<f32, #ptr.generic_space> -> !p
  return %c, %e, %f, %h : memref<?xf32, #ptr.generic_space>, memref<4xf32, strided<[2], offset: 3>, #ptr.generic_space>,
      memref<4xf32, strided<[2], offset: 3>, #ptr.generic_space>, !p
}

// The metadata of another memref, none for what a type does not say, and another type.
// CHECK-LABEL: func.func @negative_memrefs
// CHECK-COUNT-4: ptr.from_ptr
func.func @negative_memrefs(%m: memref<?xf32, #ptr.generic_space>, %n: memref<?xf32, #ptr.generic_space>)
    -> (memref<?xf32, #ptr.generic_space>, memref<?xf32, #ptr.generic_space>, memref<4xf32, #ptr.generic_space>,
        memref<?xf32, #ptr.generic_space>) {
  %p = ptr.to_ptr %m : memref<?xf32, #ptr.generic_space> -> !p
  %d = ptr.get_metadata %n : memref<?xf32, #ptr.generic_space>
  %a = ptr.from_ptr %p metadata %d : !p -> memref<?xf32, #ptr.generic_space>
  %b = ptr.from_ptr %p : !p -> memref<?xf32, #ptr.generic_space>
  %c = ptr.from_ptr %p : !p -> memref<4xf32, #ptr.generic_space>
  %e = tptr.from_ptr %p : <#ptr.generic_space> -> memref<?xf32, #ptr.generic_space>
  return %a, %b, %c, %e : memref<?xf32, #ptr.generic_space>, memref<?xf32, #ptr.generic_space>,
      memref<4xf32, #ptr.generic_space>, memref<?xf32, #ptr.generic_space>
}
