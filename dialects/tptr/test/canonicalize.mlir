// RUN: triton-ext-opt %s --load-extension=tptr -canonicalize | FileCheck %s

!p = !ptr.ptr<#ptr.generic_space>

// CHECK-LABEL: func.func @there_and_back
// CHECK-SAME: (%[[P:.*]]: !ptr.ptr<#ptr.generic_space>, %[[A:.*]]: i64, %[[T:.*]]: tensor<4xi32>)
// CHECK-NEXT: return %[[P]], %[[A]], %[[T]]
func.func @there_and_back(%p: !p, %a: i64, %t: tensor<4xi32>) -> (!p, i64, tensor<4xi32>) {
  %0 = tptr.ptr_to_int %p : !p to i64
  %1 = tptr.int_to_ptr %0 : i64 to !p
  %2 = tptr.int_to_ptr %a : i64 to !p
  %3 = tptr.ptr_to_int %2 : !p to i64
  %4 = tptr.int_to_ptr %t : tensor<4xi32> to tensor<4x!p>
  %5 = tptr.ptr_to_int %4 : tensor<4x!p> to tensor<4xi32>
  return %1, %3, %5 : !p, i64, tensor<4xi32>
}

// An address of 32 bits has lost its upper half, an i128 has lost it on the way, and a space is not another one.
// CHECK-LABEL: func.func @not_back
// CHECK: tptr.ptr_to_int
// CHECK: tptr.int_to_ptr %{{.*}} : i32
// CHECK: tptr.int_to_ptr %{{.*}} : i128
// CHECK: tptr.ptr_to_int %{{.*}} to i128
// CHECK: tptr.ptr_to_int
// CHECK: tptr.int_to_ptr
func.func @not_back(%p: !p, %a: i128) -> (!p, i128, !ptr.ptr<#tptr.default_memory_space>) {
  %0 = tptr.ptr_to_int %p : !p to i32
  %1 = tptr.int_to_ptr %0 : i32 to !p
  %2 = tptr.int_to_ptr %a : i128 to !p
  %3 = tptr.ptr_to_int %2 : !p to i128
  %4 = tptr.ptr_to_int %p : !p to i64
  %5 = tptr.int_to_ptr %4 : i64 to <#tptr.default_memory_space>
  return %1, %3, %5 : !p, i128, !ptr.ptr<#tptr.default_memory_space>
}

// Newer operations take the places of older ones.
// CHECK-LABEL: func.func @older
// CHECK-SAME: (%[[A:.*]]: i64, %[[I:.*]]: i32, %[[U:.*]]: memref<*xf16>, %[[S:.*]]: memref<4xf64, strided<[1], offset: ?>>)
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : i32
// CHECK: %[[P:.*]] = tptr.int_to_ptr %[[A]] : i64 to !ptr.ptr<#ptr.generic_space>
// CHECK: %[[Q:.*]] = ptr.ptr_add %[[P]], %[[I]] : !ptr.ptr<#ptr.generic_space>, i32
// CHECK: %[[B:.*]] = tptr.ptr_to_int %[[Q]] : !ptr.ptr<#ptr.generic_space> to i16
// CHECK: %[[F:.*]] = tptr.from_ptr %[[Q]] : <#ptr.generic_space> -> memref<2x4xf32, strided<[8, 2], offset: 3>, #ptr.generic_space>
// CHECK: %[[M:.*]] = memref.memory_space_cast %[[F]]
// CHECK: %[[N:.*]] = memref.cast %[[U]] : memref<*xf16> to memref<1xf16>
// CHECK: %[[NS:.*]] = memref.memory_space_cast %[[N]] : memref<1xf16> to memref<1xf16, #ptr.generic_space>
// CHECK: %[[R:.*]] = ptr.to_ptr %[[NS]]
// CHECK: %[[SS:.*]] = memref.memory_space_cast %[[S]]
// CHECK: %[[T:.*]] = ptr.to_ptr %[[SS]]
// CHECK: %{{.*}}, %[[O:.*]], %{{.*}}, %{{.*}} = memref.extract_strided_metadata %[[S]]
// CHECK: %[[OB:.*]] = arith.muli %[[O]], %[[C8]] : index
// CHECK: %[[V:.*]] = ptr.ptr_add %[[T]], %[[OB]] : !ptr.ptr<#ptr.generic_space>, index
// CHECK: return %[[B]], %[[C4]], %[[M]], %[[R]], %[[V]]
func.func @older(%a: i64, %i: i32, %u: memref<*xf16>, %s: memref<4xf64, strided<[1], offset: ?>>)
    -> (i16, i32, memref<2x4xf32, strided<[8, 2], offset: 3>>, !p, !p) {
  %0 = tptr.inttoptr %a : i64 to <#ptr.generic_space>
  %1 = tptr.ptradd %0 %i : <#ptr.generic_space>, i32 to <#ptr.generic_space>
  %2 = tptr.ptrtoint %1 : <#ptr.generic_space> to i16
  %3 = tptr.type_offset f32 : i32
  %4 = tptr.to_memref %1 : <#ptr.generic_space> to memref<2x4xf32, strided<[8, 2], offset: 3>>
  %5 = tptr.from_memref %u : memref<*xf16> to <#ptr.generic_space>
  %6 = tptr.from_memref %s : memref<4xf64, strided<[1], offset: ?>> to <#ptr.generic_space>
  return %2, %3, %4, %5, %6 : i16, i32, memref<2x4xf32, strided<[8, 2], offset: 3>>, !p, !p
}

// CHECK-LABEL: func.func @older_memrefs
// CHECK-SAME: (%[[P:.*]]: !ptr.ptr<#ptr.generic_space>, %[[M:.*]]: memref<4xf32>)
// CHECK-NEXT: return %[[P]], %[[M]]
func.func @older_memrefs(%p: !p, %m: memref<4xf32>) -> (!p, memref<4xf32>) {
  %0 = tptr.to_memref %p : <#ptr.generic_space> to memref<4xf32, strided<[2]>>
  %1 = tptr.from_memref %0 : memref<4xf32, strided<[2]>> to <#ptr.generic_space>
  %2 = tptr.from_memref %m : memref<4xf32> to <#ptr.generic_space>
  %3 = tptr.to_memref %2 : <#ptr.generic_space> to memref<4xf32>
  return %1, %3 : !p, memref<4xf32>
}

// The pointer to the first element is not that to which the offset is added.
// CHECK-LABEL: func.func @older_memrefs_with_offset
// CHECK-SAME: (%[[P:.*]]: !ptr.ptr<#ptr.generic_space>, %[[M:.*]]: memref
// CHECK: %[[Q:.*]] = ptr.ptr_add %[[P]], %{{.*}} : !ptr.ptr<#ptr.generic_space>, i
// CHECK: %[[R:.*]] = ptr.ptr_add %{{.*}}, %{{.*}} : !ptr.ptr<#ptr.generic_space>, i
// CHECK: tptr.from_ptr %[[R]]
func.func @older_memrefs_with_offset(%p: !p, %m: memref<4xf32, strided<[1], offset: 2>>)
    -> (!p, memref<4xf32, strided<[1], offset: 2>>) {
  %0 = tptr.to_memref %p : <#ptr.generic_space> to memref<4xf32, strided<[1], offset: 2>>
  %1 = tptr.from_memref %0 : memref<4xf32, strided<[1], offset: 2>> to <#ptr.generic_space>
  %2 = tptr.from_memref %m : memref<4xf32, strided<[1], offset: 2>> to <#ptr.generic_space>
  %3 = tptr.to_memref %2 : <#ptr.generic_space> to memref<4xf32, strided<[1], offset: 2>>
  return %1, %3 : !p, memref<4xf32, strided<[1], offset: 2>>
}
