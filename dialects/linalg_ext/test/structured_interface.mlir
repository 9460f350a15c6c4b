// RUN: triton-ext-opt %s --load-extension=linalg_ext -mlir-print-op-generic -split-input-file | FileCheck %s --check-prefix=GENERIC
// RUN: triton-ext-opt %s --load-extension=linalg_ext -mlir-print-op-generic -split-input-file | triton-ext-opt --load-extension=linalg_ext -split-input-file | FileCheck %s --check-prefix=SHORT
// RUN: triton-ext-opt %s --load-extension=linalg_ext -canonicalize -split-input-file | FileCheck %s --check-prefix=CANON

// The generic form has the body, and can be read.
// GENERIC-LABEL: sym_name = "range"
// GENERIC: "linalg_ext.make_range"
// GENERIC-NEXT: ^bb0(%[[START:.*]]: i32, %{{.*}}: i32, %{{.*}}: i32):
// GENERIC-NEXT: %[[INDEX:.*]] = "linalg.index"() <{dim = 0 : i64}>
// GENERIC-NEXT: %[[STEP:.*]] = "arith.index_cast"(%[[INDEX]])
// GENERIC-NEXT: %[[SUM:.*]] = "arith.addi"(%[[START]], %[[STEP]])
// GENERIC-NEXT: "linalg.yield"(%[[SUM]])
// SHORT-LABEL: func.func @range
// SHORT: linalg_ext.make_range ins(%{{.*}}, %{{.*}} : i32, i32) outs(%{{.*}} : tensor<?xi32>) -> tensor<?xi32>
func.func @range(%a: i32, %b: i32, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg_ext.make_range ins(%a, %b : i32, i32) outs(%o : tensor<?xi32>) -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

// -----

// GENERIC-LABEL: sym_name = "arg"
// GENERIC: "linalg_ext.argmax"
// GENERIC-NEXT: ^bb0(%[[X:.*]]: f32, %[[J:.*]]: i32, %[[V:.*]]: f32, %[[I:.*]]: i32):
// GENERIC-NEXT: %[[STAYS:.*]] = "arith.cmpf"(%[[V]], %[[X]]) <{{.*}}predicate = 2
// GENERIC-NEXT: %[[VALUE:.*]] = "arith.select"(%[[STAYS]], %[[V]], %[[X]])
// GENERIC-NEXT: %[[INDEX:.*]] = "arith.select"(%[[STAYS]], %[[I]], %[[J]])
// GENERIC-NEXT: "linalg.yield"(%[[VALUE]], %[[INDEX]])
// SHORT-LABEL: func.func @arg
// SHORT: linalg_ext.argmax dimension = 1 tie_break_left(false) ins(
func.func @arg(%x: tensor<4x8xf32>, %j: tensor<4x8xi32>, %o: tensor<4xf32>, %p: tensor<4xi32>) -> tensor<4xi32> {
  %0:2 = linalg_ext.argmax dimension = 1 tie_break_left(false) ins(%x, %j : tensor<4x8xf32>, tensor<4x8xi32>)
      outs(%o, %p : tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>, tensor<4xi32>
  return %0#1 : tensor<4xi32>
}

// -----

// Canonicalizations of linalg take the operations: the static sizes of an operand go to the others. The indexing maps
// of a reduction are permutations, so that this is known of all.
// CANON-LABEL: func.func @static_sizes
// CANON-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[J:.*]]: tensor<?x?xi32>
// CANON: %[[K:.*]] = tensor.cast %[[J]] : tensor<?x?xi32> to tensor<4x8xi32>
// CANON: linalg_ext.argmin dimension = 0 tie_break_left(true) ins(%[[X]], %[[K]] : tensor<4x8xf32>, tensor<4x8xi32>) outs(%{{.*}}, %{{.*}} : tensor<8xf32>, tensor<8xi32>)
// CANON: linalg_ext.reduce_sum dimensions = [1] ins(%{{.*}} : tensor<4x?xf32>) outs(%{{.*}} : tensor<4xf32>)
func.func @static_sizes(%x: tensor<4x8xf32>, %j: tensor<?x?xi32>, %o: tensor<?xf32>, %p: tensor<?xi32>,
                        %y: tensor<?x?xf32>, %q: tensor<4xf32>) -> (tensor<?xf32>, tensor<?xi32>, tensor<4xf32>) {
  %0:2 = linalg_ext.argmin dimension = 0 tie_break_left(true) ins(%x, %j : tensor<4x8xf32>, tensor<?x?xi32>)
      outs(%o, %p : tensor<?xf32>, tensor<?xi32>) -> tensor<?xf32>, tensor<?xi32>
  %1 = linalg_ext.reduce_sum dimensions = [1] ins(%y : tensor<?x?xf32>) outs(%q : tensor<4xf32>) -> tensor<4xf32>
  return %0#0, %0#1, %1 : tensor<?xf32>, tensor<?xi32>, tensor<4xf32>
}

// -----

// The body of the two forms of triton-linalg that only the generic form shows.
// SHORT-LABEL: func.func @generic_form
// SHORT: linalg_ext.im2col strides = [1, 1] dilations = [1, 1] ins(%{{.*}} : tensor<1x8x8x4xf32>)
func.func @generic_form(%i: tensor<1x8x8x4xf32>, %o: tensor<1x6x6x3x3x4xf32>) -> tensor<1x6x6x3x3x4xf32> {
  %0 = "linalg_ext.im2col"(%i, %o) <{strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>}> ({
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }) : (tensor<1x8x8x4xf32>, tensor<1x6x6x3x3x4xf32>) -> tensor<1x6x6x3x3x4xf32>
  return %0 : tensor<1x6x6x3x3x4xf32>
}
