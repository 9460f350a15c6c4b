// RUN: triton-ext-opt %s -triton-ext-lower-tptr | FileCheck %s

!p = !ptr.ptr<#ptr.generic_space>
!s = memref<?x4xf32, strided<[?, 2], offset: ?>, #ptr.generic_space>

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
  %a = ptr.ptr_add %p, %i : !p, i32
  %b = ptr.ptr_add nuw %a, %n : !p, index
  %c = ptr.ptr_add %p, %l : !p, i128
  return %a, %b, %c : !p, !p, !p
}

// An address has no sign, a difference has one.
// CHECK-LABEL: func.func @casts
// CHECK-SAME: (%[[I:.*]]: i32, %[[P:.*]]: i64, %[[N:.*]]: index)
// CHECK-DAG: %[[A:.*]] = arith.extui %[[I]] : i32 to i64
// CHECK-DAG: %[[B:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK-DAG: %[[C:.*]] = arith.index_cast %[[P]] : i64 to index
// CHECK-DAG: %[[D:.*]] = arith.trunci %[[P]] : i64 to i8
// CHECK-DAG: %[[E:.*]] = arith.extui %[[P]] : i64 to i128
// CHECK-DAG: %[[S:.*]] = arith.constant 4 : i16
// CHECK-DAG: %[[F:.*]] = arith.subi %[[P]], %[[A]] : i64
// CHECK-DAG: %[[G:.*]] = arith.extsi %[[F]] : i64 to i128
// CHECK: return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]], %[[S]], %[[G]], %[[P]], %[[P]]
func.func @casts(%i: i32, %p: !p, %n: index) -> (!p, !p, index, i8, i128, i16, i128, i64, !p) {
  %a = tptr.int_to_ptr %i : i32 to !p
  %b = tptr.int_to_ptr %n : index to !p
  %c = tptr.ptr_to_int %p : !p to index
  %d = tptr.ptr_to_int %p : !p to i8
  %e = tptr.ptr_to_int %p : !p to i128
  %s = ptr.type_offset f32 : i16
  %g = ptr.ptr_diff nsw %p, %a : !p -> i128
  %u = builtin.unrealized_conversion_cast %p : !p to i64
  %v = builtin.unrealized_conversion_cast %u : i64 to !p
  return %a, %b, %c, %d, %e, %s, %g, %u, %v : !p, !p, index, i8, i128, i16, i128, i64, !p
}

// CHECK-LABEL: func.func @constants
// CHECK-DAG: %[[A:.*]] = arith.constant 0 : i64
// CHECK-DAG: %[[B:.*]] = arith.constant 4096 : i64
// CHECK-DAG: %[[C:.*]] = arith.constant -1 : i64
// CHECK: return %[[A]], %[[B]], %[[C]], %[[C]]
func.func @constants() -> (!p, !p, !p, !p) {
  %a = ptr.constant #ptr.null : !p
  %b = ptr.constant #ptr.address<0x1000> : !p
  %c = ptr.constant #ptr.address<-1> : !p
  %d = ptr.constant #ptr.address<0xFFFFFFFFFFFFFFFF> : !p
  return %a, %b, %c, %d : !p, !p, !p, !p
}

// CHECK-LABEL: func.func @memory
// CHECK-SAME: (%[[P:.*]]: i64, %[[V:.*]]: f32, %[[Q:.*]]: i64)
// CHECK: %[[L:.*]] = llvm.inttoptr %[[P]] : i64 to !llvm.ptr
// CHECK: %[[M:.*]] = aux.view %[[L]] to offset: [0], sizes: [1], strides: [1] : !llvm.ptr to memref<1xf32>
// CHECK: memref.load %[[M]][%{{.*}}] : memref<1xf32>
// CHECK: memref.store %[[V]], %{{.*}}[%{{.*}}] {nontemporal = true} : memref<1xf32>
// A pointer lies in memory as an address.
// CHECK: memref.load %{{.*}}[%{{.*}}] {nontemporal = true} : memref<1xi64>
// CHECK: memref.store %[[Q]], %{{.*}}[%{{.*}}] : memref<1xi64>
func.func @memory(%p: !p, %v: f32, %q: !p) -> (f32, !p) {
  %a = ptr.load %p : !p -> f32
  ptr.store %v, %p nontemporal : f32, !p
  %b = ptr.load %p nontemporal : !p -> !p
  ptr.store %q, %p : !p, !p
  return %a, %b : f32, !p
}

// LLVM's accesses have what a memref's lack.
// CHECK-LABEL: func.func @ordered
// CHECK-SAME: (%[[P:.*]]: i64, %[[V:.*]]: i32, %[[F:.*]]: f8E5M2, %[[N:.*]]: index, %[[Q:.*]]: i64)
// CHECK: llvm.load volatile %{{.*}} : !llvm.ptr -> f32
// CHECK: llvm.load %{{.*}} atomic syncscope("agent") acquire {alignment = 4 : i64} : !llvm.ptr -> i32
// CHECK: %[[B:.*]] = llvm.load volatile %{{.*}} : !llvm.ptr -> i8
// CHECK: arith.bitcast %[[B]] : i8 to f8E5M2
// CHECK: %[[X:.*]] = llvm.load volatile %{{.*}} : !llvm.ptr -> i64
// CHECK: arith.index_cast %[[X]] : i64 to index
// CHECK: llvm.store %[[V]], %{{.*}} atomic release {alignment = 4 : i64} : i32, !llvm.ptr
// CHECK: %[[G:.*]] = arith.bitcast %[[F]] : f8E5M2 to i8
// CHECK: llvm.store volatile %[[G]]
// CHECK: %[[Y:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK: llvm.store volatile %[[Y]]
// CHECK: llvm.store volatile %[[Q]], %{{.*}} : i64, !llvm.ptr
func.func @ordered(%p: !p, %v: i32, %f: f8E5M2, %n: index, %q: !p) -> (f32, i32, f8E5M2, index) {
  %a = ptr.load volatile %p : !p -> f32
  %b = ptr.load %p atomic syncscope("agent") acquire alignment = 4 : !p -> i32
  %c = ptr.load volatile %p : !p -> f8E5M2
  %d = ptr.load volatile %p : !p -> index
  ptr.store %v, %p atomic release alignment = 4 : i32, !p
  ptr.store volatile %f, %p : f8E5M2, !p
  ptr.store volatile %n, %p : index, !p
  ptr.store volatile %q, %p : !p, !p
  return %a, %b, %c, %d : f32, i32, f8E5M2, index
}

// Metadata are the memref that they are of. Memory of a pointer is memory of a kernel.
// CHECK-LABEL: func.func @memrefs
// CHECK-SAME: (%[[M:.*]]: memref<4xf32, strided<[1], offset: 7>>, %[[U:.*]]: memref<*xf16>, %[[P:.*]]: i64, %[[D:.*]]: memref<?x4xf32, strided<[?, 2], offset: ?>>)
// CHECK: %[[A:.*]] = memref.extract_aligned_pointer_as_index %[[M]]
// CHECK-NEXT: %[[AI:.*]] = arith.index_cast %[[A]] : index to i64
// CHECK: %[[C:.*]] = memref.cast %[[U]] : memref<*xf16> to memref<1xf16>
// CHECK: memref.extract_aligned_pointer_as_index %[[C]]
// CHECK: aux.view %{{.*}} to offset: [3], sizes: [2, 4], strides: [8, 2] : !llvm.ptr to memref<2x4xf32, strided<[8, 2], offset: 3>>
// CHECK: %{{.*}}, %[[O:.*]], %[[Z:.*]]:2, %[[T:.*]]:2 = memref.extract_strided_metadata %[[D]]
// CHECK: aux.view %{{.*}} to offset: [%[[O]]], sizes: [%[[Z]]#0, 4], strides: [%[[T]]#0, 2] : !llvm.ptr to memref<?x4xf32, strided<[?, 2], offset: ?>>
// CHECK-NOT: memory_space_cast
// CHECK: memref.memory_space_cast %{{.*}} to memref<1xf32, 3>
func.func @memrefs(%m: memref<4xf32, strided<[1], offset: 7>, #ptr.generic_space>,
    %u: memref<*xf16, #tptr.default_memory_space>, %p: !p, %d: !ptr.ptr_metadata<!s>)
    -> (!p, !ptr.ptr<#tptr.default_memory_space>, memref<2x4xf32, strided<[8, 2], offset: 3>>, !s, !ptr.ptr_metadata<!s>, memref<1xf32, 3>) {
  %a = ptr.to_ptr %m : memref<4xf32, strided<[1], offset: 7>, #ptr.generic_space> -> !p
  %b = ptr.to_ptr %u : memref<*xf16, #tptr.default_memory_space> -> !ptr.ptr<#tptr.default_memory_space>
  %c = tptr.from_ptr %p : <#ptr.generic_space> -> memref<2x4xf32, strided<[8, 2], offset: 3>, #ptr.generic_space>
  %e = memref.memory_space_cast %c : memref<2x4xf32, strided<[8, 2], offset: 3>, #ptr.generic_space>
      to memref<2x4xf32, strided<[8, 2], offset: 3>>
  %f = ptr.from_ptr %p metadata %d : !p -> !s
  %g = ptr.get_metadata %f : !s
  %h = ptr.from_ptr %p : !p -> memref<1xf32, #ptr.generic_space>
  %i = memref.memory_space_cast %h : memref<1xf32, #ptr.generic_space> to memref<1xf32, 3>
  return %a, %b, %e, %f, %g, %i : !p, !ptr.ptr<#tptr.default_memory_space>, memref<2x4xf32, strided<[8, 2], offset: 3>>, !s,
      !ptr.ptr_metadata<!s>, memref<1xf32, 3>
}

// Tensors and vectors of pointers.
// CHECK-LABEL: func.func @many
// CHECK-SAME: (%[[P:.*]]: i64, %[[PS:.*]]: tensor<4xi64>, %[[IS:.*]]: tensor<4xi32>, %[[V:.*]]: vector<2xi64>, %[[I:.*]]: i8, %{{.*}}: memref<4xi64>)
// CHECK: %[[W:.*]] = arith.extsi %[[IS]] : tensor<4xi32> to tensor<4xi64>
// CHECK: %[[A:.*]] = arith.addi %[[PS]], %[[W]] : tensor<4xi64>
// CHECK: %[[S:.*]] = tensor.splat %[[P]] : tensor<4xi64>
// CHECK: %[[B:.*]] = arith.addi %[[S]], %{{.*}} : tensor<4xi64>
// CHECK: %[[J:.*]] = arith.extsi %[[I]] : i8 to i64
// CHECK: %[[JS:.*]] = vector.broadcast %[[J]] : i64 to vector<2xi64>
// CHECK: arith.addi %[[V]], %[[JS]] : vector<2xi64>
// CHECK: %[[D:.*]] = arith.subi %[[A]], %[[B]] : tensor<4xi64>
// CHECK: arith.trunci %[[D]] : tensor<4xi64> to tensor<4xi16>
// CHECK: arith.index_cast %{{.*}} : tensor<4xi64> to tensor<4xindex>
// CHECK: arith.extui %[[IS]] : tensor<4xi32> to tensor<4xi64>
func.func @many(%p: !p, %ps: tensor<4x!p>, %is: tensor<4xi32>, %v: vector<2x!p>, %i: i8, %m: memref<4x!p>)
    -> (vector<2x!p>, tensor<4xi16>, tensor<4xindex>, tensor<4x!p>) {
  %a = ptr.ptr_add %ps, %is : tensor<4x!p>, tensor<4xi32>
  %b = ptr.ptr_add %p, %is : !p, tensor<4xi32>
  %c = ptr.ptr_add %v, %i : vector<2x!p>, i8
  %d = ptr.ptr_diff %a, %b : tensor<4x!p> -> tensor<4xi16>
  %e = tptr.ptr_to_int %a : tensor<4x!p> to tensor<4xindex>
  %f = tptr.int_to_ptr %is : tensor<4xi32> to tensor<4x!p>
  return %c, %d, %e, %f : vector<2x!p>, tensor<4xi16>, tensor<4xindex>, tensor<4x!p>
}

// CHECK-LABEL: func.func @flow
// CHECK-SAME: (%{{.*}}: i64, %{{.*}}: i1, %{{.*}}: index) -> i64
// CHECK-NOT: !ptr.ptr
// CHECK: call @flow
func.func @flow(%p: !p, %c: i1, %n: index) -> !p {
  %c0 = arith.constant 0 : index
  %q = scf.if %c -> (!p) {
    %r = ptr.ptr_add %p, %n : !p, index
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

// CHECK-LABEL: func.func @region
// CHECK: ^{{.*}}(%{{.*}}: i64):
func.func @region(%a: i64) -> i64 {
  %r = scf.execute_region -> i64 {
    %p = tptr.int_to_ptr %a : i64 to !p
    cf.br ^next(%p : !p)
  ^next(%q: !p):
    %b = tptr.ptr_to_int %q : !p to i64
    scf.yield %b : i64
  }
  return %r : i64
}

// A cast to another type stays.
// CHECK-LABEL: tt.func @negative
// CHECK: builtin.unrealized_conversion_cast %{{.*}} : i64 to !tt.ptr<f32>
tt.func @negative(%p: !p) {
  %0 = builtin.unrealized_conversion_cast %p : !p to !tt.ptr<f32>
  %1 = tt.load %0 : !tt.ptr<f32>
  tt.store %0, %1 : !tt.ptr<f32>
  tt.return
}
