// RUN: triton-ext-opt %s -triton-ext-lower-linalg-ext -canonicalize | FileCheck %s

// A store to several lines becomes a copy, which MLIR lowers to loops. The part that is stored is a part of the buffer,
// whose elements lie side by side.
// CHECK-LABEL: func.func @part
// CHECK-SAME: %[[T:.*]]: tensor<8x4xf32>, %[[V:.*]]: memref<?x?xf32, strided<[?, 1], offset: ?>>, %[[A:[^:]*]]: index, %[[N:[^:]*]]: index
// CHECK: %[[B:.*]] = bufferization.to_buffer %[[T]] read_only : tensor<8x4xf32> to memref<8x4xf32>
// CHECK: %[[S:.*]] = memref.subview %[[B]][%[[A]], 0] [%[[N]], %[[N]]] [1, 1] : memref<8x4xf32> to memref<?x?xf32, strided<[4, 1], offset: ?>>
// CHECK: linalg.copy ins(%[[S]] : {{.*}}) outs(%[[V]] : {{.*}})
func.func @part(%t: tensor<8x4xf32>, %v: memref<?x?xf32, strided<[?, 1], offset: ?>>, %a: index, %n: index) {
  %p = tensor.extract_slice %t[%a, 0] [%n, %n] [1, 1] : tensor<8x4xf32> to tensor<?x?xf32>
  bufferization.materialize_in_destination %p in writable %v : (tensor<?x?xf32>, memref<?x?xf32, strided<[?, 1], offset: ?>>) -> ()
  return
}

// A slice of fewer dimensions, and one with gaps, are tensors of their own.
// CHECK-LABEL: func.func @own
// CHECK: %[[A:.*]] = tensor.extract_slice
// CHECK: %[[B:.*]] = bufferization.to_buffer %[[A]] read_only : tensor<8xf32> to memref<8xf32>
// CHECK: linalg.copy ins(%[[B]] : memref<8xf32>)
// CHECK: %[[C:.*]] = tensor.extract_slice
// CHECK: %[[D:.*]] = bufferization.to_buffer %[[C]] read_only : tensor<8x2xf32> to memref<8x2xf32>
// CHECK: linalg.copy ins(%[[D]] : memref<8x2xf32>)
func.func @own(%t: tensor<8x4xf32>, %v: memref<8xf32, strided<[3]>>, %w: memref<8x2xf32, strided<[9, 1]>>) {
  %p = tensor.extract_slice %t[0, 1] [8, 1] [1, 1] : tensor<8x4xf32> to tensor<8xf32>
  bufferization.materialize_in_destination %p in writable %v : (tensor<8xf32>, memref<8xf32, strided<[3]>>) -> ()
  %q = tensor.extract_slice %t[0, 0] [8, 2] [1, 2] : tensor<8x4xf32> to tensor<8x2xf32>
  bufferization.materialize_in_destination %q in writable %w : (tensor<8x2xf32>, memref<8x2xf32, strided<[9, 1]>>) -> ()
  return
}

// One line, of whatever length, and whole arrays become a memcpy if they stay as they are.
// CHECK-LABEL: func.func @lines
// CHECK-COUNT-2: bufferization.materialize_in_destination
// CHECK-NOT: linalg.copy
func.func @lines(%t: tensor<?xf32>, %v: memref<?xf32, strided<[1], offset: ?>>, %u: tensor<8x4xf32>, %w: memref<8x4xf32, strided<[4, 1], offset: ?>>) {
  bufferization.materialize_in_destination %t in writable %v : (tensor<?xf32>, memref<?xf32, strided<[1], offset: ?>>) -> ()
  bufferization.materialize_in_destination %u in writable %w : (tensor<8x4xf32>, memref<8x4xf32, strided<[4, 1], offset: ?>>) -> ()
  return
}

// A tile of several lines is copied into its padding.
// CHECK-LABEL: func.func @padded
// CHECK-SAME: %[[T:.*]]: tensor<?x?xf32>
// CHECK: %[[W:.*]] = linalg.fill
// CHECK: %[[P:.*]] = tensor.extract_slice %[[W]][1, 0] [%[[I:.*]], %[[J:.*]]] [1, 1] : tensor<8x4xf32> to tensor<?x?xf32>
// CHECK: %[[C:.*]] = linalg.copy ins(%[[T]] : tensor<?x?xf32>) outs(%[[P]] : tensor<?x?xf32>)
// CHECK: tensor.insert_slice %[[C]] into %[[W]][1, 0] [%[[I]], %[[J]]] [1, 1]
func.func @padded(%t: tensor<?x?xf32>, %v: f32, %n: index, %m: index) -> tensor<8x4xf32> {
  %o = tensor.empty() : tensor<8x4xf32>
  %r = linalg_ext.pad ins(%t : tensor<?x?xf32>) outs(%o : tensor<8x4xf32>) pvalue(%v : f32) low = [1, 0] high = [%n, %m] {
  ^bb0(%x: f32):
    linalg_ext.yield %x : f32
  } -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// What is padded is what the body makes of the elements.
// CHECK-LABEL: func.func @mapped
// CHECK-SAME: %[[T:.*]]: tensor<?xf32>
// CHECK: %[[M:.*]] = linalg.map { arith.negf } ins(%[[T]] : tensor<?xf32>)
// CHECK: tensor.insert_slice %[[M]] into
func.func @mapped(%t: tensor<?xf32>, %v: f32, %n: index) -> tensor<8xf32> {
  %o = tensor.empty() : tensor<8xf32>
  %r = linalg_ext.pad ins(%t : tensor<?xf32>) outs(%o : tensor<8xf32>) pvalue(%v : f32) low = [0] high = [%n] {
  ^bb0(%x: f32):
    %y = arith.negf %x : f32
    linalg_ext.yield %y : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// A line is inserted, not copied by a loop.
// CHECK-LABEL: func.func @line
// CHECK-NOT: linalg.copy
// CHECK: tensor.insert_slice
func.func @line(%t: tensor<?xf32>, %v: f32, %n: index) -> tensor<8xf32> {
  %o = tensor.empty() : tensor<8xf32>
  %r = linalg_ext.pad ins(%t : tensor<?xf32>) outs(%o : tensor<8xf32>) pvalue(%v : f32) low = [0] high = [%n] {
  ^bb0(%x: f32):
    linalg_ext.yield %x : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// A copy into a tensor that has elements is not a load.
// CHECK-LABEL: func.func @into
// CHECK-SAME: (%[[M:.*]]: memref<8xf32>, %[[O:.*]]: tensor<8xf32>,
// CHECK: %[[T:.*]] = bufferization.to_tensor %[[M]]
// CHECK: linalg.copy ins(%[[T]] : tensor<8xf32>) outs(%[[O]] : tensor<8xf32>)
func.func @into(%m: memref<8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %t = bufferization.to_tensor %m restrict : memref<8xf32> to tensor<8xf32>
  %r = linalg.copy ins(%t : tensor<8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
