// RUN: triton-ext-opt %s --load-extension=tptr -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @sizes
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : i64
// CHECK-NOT: tptr
// CHECK: return %[[C1]], %[[C2]], %[[C8]], %[[C8]]
func.func @sizes() -> (i32, index, i64, i64) {
  %0 = tptr.type_offset i1 : i32
  %1 = tptr.type_offset bf16
  %2 = tptr.type_offset !ptr.ptr<#ptr.generic_space> : i64
  %3 = tptr.type_offset index : i64
  return %0, %1, %2, %3 : i32, index, i64, i64
}

// Constant offsets are added in 64 bits: 2^30 + 2^30 does not fit an i32. An i1 of 1 is -1.
// CHECK-LABEL: func.func @sums
// CHECK-SAME: (%[[P:.*]]: !ptr.ptr
// CHECK-DAG: %[[C:.*]] = arith.constant 2147483648 : i64
// CHECK-DAG: %[[D:.*]] = arith.constant 7 : i64
// CHECK: %[[Q:.*]] = tptr.ptradd %[[P]] %[[C]]
// CHECK: %[[R:.*]] = tptr.ptradd %[[P]] %[[D]]
// CHECK: return %[[Q]], %[[R]], %[[P]]
func.func @sums(%p: !ptr.ptr<#ptr.generic_space>)
    -> (!ptr.ptr<#ptr.generic_space>, !ptr.ptr<#ptr.generic_space>, !ptr.ptr<#ptr.generic_space>) {
  %big = arith.constant 1073741824 : i32
  %eight = arith.constant 8 : index
  %true = arith.constant true
  %zero = arith.constant 0 : i16
  %a = tptr.ptradd %p %big : <#ptr.generic_space>, i32 to <#ptr.generic_space>
  %b = tptr.ptradd %a %big : <#ptr.generic_space>, i32 to <#ptr.generic_space>
  %c = tptr.ptradd %p %eight : <#ptr.generic_space>, index to <#ptr.generic_space>
  %d = tptr.ptradd %c %true : <#ptr.generic_space>, i1 to <#ptr.generic_space>
  %e = tptr.ptradd %p %zero : <#ptr.generic_space>, i16 to <#ptr.generic_space>
  return %b, %d, %e : !ptr.ptr<#ptr.generic_space>, !ptr.ptr<#ptr.generic_space>, !ptr.ptr<#ptr.generic_space>
}

// CHECK-LABEL: func.func @there_and_back
// CHECK-SAME: (%[[P:.*]]: !ptr.ptr<#ptr.generic_space>, %[[A:.*]]: i64)
// CHECK-NEXT: return %[[P]], %[[A]]
func.func @there_and_back(%p: !ptr.ptr<#ptr.generic_space>, %a: i64) -> (!ptr.ptr<#ptr.generic_space>, i64) {
  %0 = tptr.ptrtoint %p : <#ptr.generic_space> to i64
  %1 = tptr.inttoptr %0 : i64 to <#ptr.generic_space>
  %2 = tptr.inttoptr %a : i64 to <#ptr.generic_space>
  %3 = tptr.ptrtoint %2 : <#ptr.generic_space> to i64
  return %1, %3 : !ptr.ptr<#ptr.generic_space>, i64
}

// An address of 32 bits has lost its upper half, an i128 has lost it on the way, and a space is not another one.
// CHECK-LABEL: func.func @not_back
// CHECK: tptr.ptrtoint
// CHECK: tptr.inttoptr %{{.*}} : i32
// CHECK: tptr.inttoptr %{{.*}} : i128
// CHECK: tptr.ptrtoint %{{.*}} to i128
// CHECK: tptr.ptrtoint
// CHECK: tptr.inttoptr
func.func @not_back(%p: !ptr.ptr<#ptr.generic_space>, %a: i128)
    -> (!ptr.ptr<#ptr.generic_space>, i128, !ptr.ptr<#tptr.default_memory_space>) {
  %0 = tptr.ptrtoint %p : <#ptr.generic_space> to i32
  %1 = tptr.inttoptr %0 : i32 to <#ptr.generic_space>
  %2 = tptr.inttoptr %a : i128 to <#ptr.generic_space>
  %3 = tptr.ptrtoint %2 : <#ptr.generic_space> to i128
  %4 = tptr.ptrtoint %p : <#ptr.generic_space> to i64
  %5 = tptr.inttoptr %4 : i64 to <#tptr.default_memory_space>
  return %1, %3, %5 : !ptr.ptr<#ptr.generic_space>, i128, !ptr.ptr<#tptr.default_memory_space>
}

// CHECK-LABEL: func.func @memrefs
// CHECK-SAME: (%[[P:.*]]: !ptr.ptr<#ptr.generic_space>, %[[M:.*]]: memref<4xf32>)
// CHECK-NEXT: return %[[P]], %[[M]]
func.func @memrefs(%p: !ptr.ptr<#ptr.generic_space>, %m: memref<4xf32>) -> (!ptr.ptr<#ptr.generic_space>, memref<4xf32>) {
  %0 = tptr.to_memref %p : <#ptr.generic_space> to memref<4xf32, strided<[2]>>
  %1 = tptr.from_memref %0 : memref<4xf32, strided<[2]>> to <#ptr.generic_space>
  %2 = tptr.from_memref %m : memref<4xf32> to <#ptr.generic_space>
  %3 = tptr.to_memref %2 : <#ptr.generic_space> to memref<4xf32>
  return %1, %3 : !ptr.ptr<#ptr.generic_space>, memref<4xf32>
}

// The pointer to the first element is not that to which the offset is added.
// CHECK-LABEL: func.func @memrefs_with_offset
// CHECK: tptr.to_memref
// CHECK: tptr.from_memref
// CHECK: tptr.from_memref
// CHECK: tptr.to_memref
func.func @memrefs_with_offset(%p: !ptr.ptr<#ptr.generic_space>, %m: memref<4xf32, strided<[1], offset: 2>>)
    -> (!ptr.ptr<#ptr.generic_space>, memref<4xf32, strided<[1], offset: 2>>) {
  %0 = tptr.to_memref %p : <#ptr.generic_space> to memref<4xf32, strided<[1], offset: 2>>
  %1 = tptr.from_memref %0 : memref<4xf32, strided<[1], offset: 2>> to <#ptr.generic_space>
  %2 = tptr.from_memref %m : memref<4xf32, strided<[1], offset: 2>> to <#ptr.generic_space>
  %3 = tptr.to_memref %2 : <#ptr.generic_space> to memref<4xf32, strided<[1], offset: 2>>
  return %1, %3 : !ptr.ptr<#ptr.generic_space>, memref<4xf32, strided<[1], offset: 2>>
}
