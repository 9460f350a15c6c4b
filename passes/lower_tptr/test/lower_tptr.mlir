// RUN: triton-ext-opt %s -triton-ext-lower-tptr -split-input-file | FileCheck %s

!p = !ptr.ptr<#tptr.default_memory_space>

// CHECK-LABEL: func.func @sums
// CHECK-SAME: (%[[P:.*]]: i64, %[[I:.*]]: i32, %[[N:.*]]: index, %[[L:.*]]: i128) -> (i64, i64, i64)
// CHECK: %[[W:.*]] = arith.extsi %[[I]] : i32 to i64
// CHECK: %[[A:.*]] = arith.addi %[[P]], %[[W]] : i64
// CHECK: %[[X:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK: %[[B:.*]] = arith.addi %[[A]], %[[X]] : i64
// CHECK: %[[T:.*]] = arith.trunci %[[L]] : i128 to i64
// CHECK: %[[C:.*]] = arith.addi %[[P]], %[[T]] : i64
// CHECK: return %[[A]], %[[B]], %[[C]] : i64, i64, i64
func.func @sums(%p: !p, %i: i32, %n: index, %l: i128) -> (!p, !p, !p) {
  %a = tptr.ptradd %p %i : <#tptr.default_memory_space>, i32 to <#tptr.default_memory_space>
  %b = tptr.ptradd %a %n : <#tptr.default_memory_space>, index to <#tptr.default_memory_space>
  %c = tptr.ptradd %p %l : <#tptr.default_memory_space>, i128 to <#tptr.default_memory_space>
  return %a, %b, %c : !p, !p, !p
}

// An address has no sign.
// CHECK-LABEL: func.func @casts
// CHECK-SAME: (%[[I:.*]]: i32, %[[P:.*]]: i64, %[[N:.*]]: index)
// CHECK-DAG: %[[A:.*]] = arith.extui %[[I]] : i32 to i64
// CHECK-DAG: %[[B:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK-DAG: %[[C:.*]] = arith.index_cast %[[P]] : i64 to index
// CHECK-DAG: %[[D:.*]] = arith.trunci %[[P]] : i64 to i8
// CHECK-DAG: %[[E:.*]] = arith.extui %[[P]] : i64 to i128
// CHECK-DAG: %[[S:.*]] = arith.constant 4 : i16
// CHECK: return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]], %[[S]], %[[P]], %[[P]]
func.func @casts(%i: i32, %p: !p, %n: index) -> (!p, !p, index, i8, i128, i16, i64, !p) {
  %a = tptr.inttoptr %i : i32 to <#tptr.default_memory_space>
  %b = tptr.inttoptr %n : index to <#tptr.default_memory_space>
  %c = tptr.ptrtoint %p : <#tptr.default_memory_space> to index
  %d = tptr.ptrtoint %p : <#tptr.default_memory_space> to i8
  %e = tptr.ptrtoint %p : <#tptr.default_memory_space> to i128
  %s = tptr.type_offset f32 : i16
  %u = builtin.unrealized_conversion_cast %p : !p to i64
  %v = builtin.unrealized_conversion_cast %u : i64 to !p
  return %a, %b, %c, %d, %e, %s, %u, %v : !p, !p, index, i8, i128, i16, i64, !p
}

// CHECK-LABEL: func.func @memory
// CHECK-SAME: (%[[P:.*]]: i64, %[[V:.*]]: f32, %[[Q:.*]]: i64)
// CHECK: %[[L:.*]] = llvm.inttoptr %[[P]] : i64 to !llvm.ptr
// CHECK: %[[M:.*]] = aux.view %[[L]] to offset: [0], sizes: [1], strides: [1] : !llvm.ptr to memref<1xf32>
// CHECK: memref.load %[[M]][%{{.*}}] : memref<1xf32>
// CHECK: memref.store %[[V]], %{{.*}}[%{{.*}}] : memref<1xf32>
// A pointer lies in memory as an address.
// CHECK: memref.load %{{.*}}[%{{.*}}] : memref<1xi64>
// CHECK: memref.store %[[Q]], %{{.*}}[%{{.*}}] : memref<1xi64>
// CHECK: aux.view %{{.*}} to offset: [3], sizes: [2, 4], strides: [8, 2] : !llvm.ptr to memref<2x4xf32, strided<[8, 2], offset: 3>>
func.func @memory(%p: !p, %v: f32, %q: !p) -> (f32, !p, memref<2x4xf32, strided<[8, 2], offset: 3>>) {
  %a = tptr.load %p : !p -> f32
  tptr.store %v, %p : f32, !p
  %b = tptr.load %p : !p -> !p
  tptr.store %q, %p : !p, !p
  %c = tptr.to_memref %p : <#tptr.default_memory_space> to memref<2x4xf32, strided<[8, 2], offset: 3>>
  return %a, %b, %c : f32, !p, memref<2x4xf32, strided<[8, 2], offset: 3>>
}

// The offset of a memref counts elements.
// CHECK-LABEL: func.func @memrefs
// CHECK-SAME: (%[[M:.*]]: memref<4xf32>, %[[S:.*]]: memref<4xf64, strided<[1], offset: ?>>, %[[U:.*]]: memref<*xf16>)
// CHECK: %[[A:.*]] = memref.extract_aligned_pointer_as_index %[[M]]
// CHECK-NEXT: arith.index_cast %[[A]] : index to i64
// CHECK: %[[B:.*]] = memref.extract_aligned_pointer_as_index %[[S]]
// CHECK: %{{.*}}, %[[O:.*]], %{{.*}}, %{{.*}} = memref.extract_strided_metadata %[[S]]
// CHECK: %[[C8:.*]] = arith.constant 8 : index
// CHECK: %[[D:.*]] = arith.muli %[[O]], %[[C8]] : index
// CHECK: arith.addi %[[B]], %[[D]] : index
// CHECK: %[[C:.*]] = memref.cast %[[U]] : memref<*xf16> to memref<1xf16>
// CHECK: memref.extract_aligned_pointer_as_index %[[C]]
func.func @memrefs(%m: memref<4xf32>, %s: memref<4xf64, strided<[1], offset: ?>>, %u: memref<*xf16>) -> (!p, !p, !p) {
  %a = tptr.from_memref %m : memref<4xf32> to <#tptr.default_memory_space>
  %b = tptr.from_memref %s : memref<4xf64, strided<[1], offset: ?>> to <#tptr.default_memory_space>
  %c = tptr.from_memref %u : memref<*xf16> to <#tptr.default_memory_space>
  return %a, %b, %c : !p, !p, !p
}

// CHECK-LABEL: func.func @flow
// CHECK-SAME: (%{{.*}}: i64, %{{.*}}: i1, %{{.*}}: index) -> i64
// CHECK-NOT: !ptr.ptr
// CHECK: call @flow
func.func @flow(%p: !p, %c: i1, %n: index) -> !p {
  %c0 = arith.constant 0 : index
  %q = scf.if %c -> (!p) {
    %r = tptr.ptradd %p %n : <#tptr.default_memory_space>, index to <#tptr.default_memory_space>
    scf.yield %r : !p
  } else {
    scf.yield %p : !p
  }
  %s = scf.for %i = %c0 to %n step %n iter_args(%a = %q) -> (!p) {
    scf.yield %a : !p
  }
  %t = arith.select %c, %s, %p : !p
  cf.cond_br %c, ^a(%t : !p), ^b
^a(%u: !p):
  %w = func.call @flow(%u, %c, %n) : (!p, i1, index) -> !p
  return %w : !p
^b:
  return %p : !p
}

// -----

// What is not known keeps its pointers, and so do the blocks of a region that is not a function.
// CHECK-LABEL: tt.func @negative
// CHECK: builtin.unrealized_conversion_cast %{{.*}} : !ptr.ptr<#ptr.generic_space> to !tt.ptr<f32>
tt.func @negative(%p: !ptr.ptr<#ptr.generic_space>) {
  %0 = builtin.unrealized_conversion_cast %p : !ptr.ptr<#ptr.generic_space> to !tt.ptr<f32>
  %1 = tt.load %0 : !tt.ptr<f32>
  tt.store %0, %1 : !tt.ptr<f32>
  tt.return
}

// CHECK-LABEL: func.func @negative_region
// CHECK: ^{{.*}}(%{{.*}}: !ptr.ptr<#ptr.generic_space>):
func.func @negative_region(%a: i64) -> i64 {
  %r = scf.execute_region -> i64 {
    %p = tptr.inttoptr %a : i64 to <#ptr.generic_space>
    cf.br ^next(%p : !ptr.ptr<#ptr.generic_space>)
  ^next(%q: !ptr.ptr<#ptr.generic_space>):
    %b = tptr.ptrtoint %q : <#ptr.generic_space> to i64
    scf.yield %b : i64
  }
  return %r : i64
}
