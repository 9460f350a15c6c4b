// RUN: triton-ext-opt %s -triton-ext-lower-tptr | FileCheck %s

!p = !ptr.ptr<#tptr.default_memory_space>

// CHECK-LABEL: func.func @addresses
// CHECK-SAME: (%[[P:.*]]: i64, %[[I:.*]]: i32)
// CHECK-DAG: %[[W:.*]] = arith.extsi %[[I]] : i32 to i64
// CHECK-DAG: %[[A:.*]] = arith.addi %[[P]], %[[W]] : i64
// CHECK-DAG: %[[B:.*]] = arith.extui %[[I]] : i32 to i64
// CHECK-DAG: %[[C:.*]] = arith.trunci %[[P]] : i64 to i8
// CHECK-DAG: %[[S:.*]] = arith.constant 4 : i16
// CHECK: return %[[A]], %[[B]], %[[C]], %[[S]]
func.func @addresses(%p: !p, %i: i32) -> (!p, !p, i8, i16) {
  %a = tptr.ptradd %p %i : <#tptr.default_memory_space>, i32 to <#tptr.default_memory_space>
  %b = tptr.inttoptr %i : i32 to <#tptr.default_memory_space>
  %c = tptr.ptrtoint %p : <#tptr.default_memory_space> to i8
  %s = tptr.type_offset f32 : i16
  return %a, %b, %c, %s : !p, !p, i8, i16
}

// The offset of a memref counts elements.
// CHECK-LABEL: func.func @memrefs
// CHECK-SAME: (%[[M:.*]]: memref<4xf32>, %[[S:.*]]: memref<4xf64, strided<[1], offset: ?>>, %[[U:.*]]: memref<*xf16>, %[[P:.*]]: i64)
// CHECK: %[[A:.*]] = memref.extract_aligned_pointer_as_index %[[M]]
// CHECK-NEXT: arith.index_cast %[[A]] : index to i64
// CHECK: %[[B:.*]] = memref.extract_aligned_pointer_as_index %[[S]]
// CHECK: %[[BI:.*]] = arith.index_cast %[[B]] : index to i64
// CHECK: %{{.*}}, %[[O:.*]], %{{.*}}, %{{.*}} = memref.extract_strided_metadata %[[S]]
// CHECK: %[[C8:.*]] = arith.constant 8 : index
// CHECK: %[[D:.*]] = arith.muli %[[O]], %[[C8]] : index
// CHECK: %[[DI:.*]] = arith.index_cast %[[D]] : index to i64
// CHECK: arith.addi %[[BI]], %[[DI]] : i64
// CHECK: %[[C:.*]] = memref.cast %[[U]] : memref<*xf16> to memref<1xf16>
// CHECK: memref.extract_aligned_pointer_as_index %[[C]]
// CHECK: aux.view %{{.*}} to offset: [3], sizes: [2, 4], strides: [8, 2] : !llvm.ptr to memref<2x4xf32, strided<[8, 2], offset: 3>>
func.func @memrefs(%m: memref<4xf32>, %s: memref<4xf64, strided<[1], offset: ?>>, %u: memref<*xf16>, %p: !p)
    -> (!p, !p, !p, memref<2x4xf32, strided<[8, 2], offset: 3>>) {
  %a = tptr.from_memref %m : memref<4xf32> to <#tptr.default_memory_space>
  %b = tptr.from_memref %s : memref<4xf64, strided<[1], offset: ?>> to <#tptr.default_memory_space>
  %c = tptr.from_memref %u : memref<*xf16> to <#tptr.default_memory_space>
  %d = tptr.to_memref %p : <#tptr.default_memory_space> to memref<2x4xf32, strided<[8, 2], offset: 3>>
  return %a, %b, %c, %d : !p, !p, !p, memref<2x4xf32, strided<[8, 2], offset: 3>>
}
