// RUN: triton-ext-opt %s --load-extension=linalg_ext -split-input-file -verify-diagnostics

func.func @negative_no_dimension(%t: tensor<4x8xf32>) {
  // expected-error @+1 {{'linalg_ext.reduce_sum' op expected at least one dimension}}
  %0 = linalg_ext.reduce_sum dimensions = [] ins(%t : tensor<4x8xf32>) outs(%t : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @negative_order_of_dimensions(%t: tensor<4x8xf32>, %o: tensor<f32>) {
  // expected-error @+1 {{'linalg_ext.reduce_min' op expected dimensions of 'tensor<4x8xf32>' in ascending order, got 0}}
  %0 = linalg_ext.reduce_min dimensions = [1, 0] ins(%t : tensor<4x8xf32>) outs(%o : tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @negative_dimension(%t: tensor<4x8xf32>, %o: tensor<4xf32>) {
  // expected-error @+1 {{'linalg_ext.reduce_max' op expected dimensions of 'tensor<4x8xf32>' in ascending order, got 2}}
  %0 = linalg_ext.reduce_max dimensions = [2] ins(%t : tensor<4x8xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @negative_reduced_shape(%t: tensor<4x8xf32>, %o: tensor<8xf32>) {
  // expected-error @+1 {{'linalg_ext.reduce_sum' op expected an init of shape [4], got 'tensor<8xf32>'}}
  %0 = linalg_ext.reduce_sum dimensions = [1] ins(%t : tensor<4x8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @negative_reduced_element(%t: tensor<4x8xf32>, %o: tensor<4xf64>) {
  // expected-error @+1 {{'linalg_ext.reduce_sum' op expected an init of 'f32', got 'tensor<4xf64>'}}
  %0 = linalg_ext.reduce_sum dimensions = [1] ins(%t : tensor<4x8xf32>) outs(%o : tensor<4xf64>) -> tensor<4xf64>
  return
}

// -----

func.func @negative_nan_of_integers(%t: tensor<4x8xi32>, %o: tensor<4xi32>) {
  // expected-error @+1 {{'linalg_ext.reduce_max_nan' op expected floating-point numbers, got 'tensor<4x8xi32>'}}
  %0 = linalg_ext.reduce_max_nan dimensions = [1] ins(%t : tensor<4x8xi32>) outs(%o : tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @negative_least_nan_of_integers(%t: tensor<4x8xi32>, %o: tensor<4xi32>) {
  // expected-error @+1 {{'linalg_ext.reduce_min_nan' op expected floating-point numbers, got 'tensor<4x8xi32>'}}
  %0 = linalg_ext.reduce_min_nan dimensions = [1] ins(%t : tensor<4x8xi32>) outs(%o : tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @negative_nan_of_indices(%t: tensor<4x8xindex>, %o: tensor<4xindex>) {
  // expected-error @+1 {{'linalg_ext.reduce_sum' op expected floating-point numbers or signless integers, got 'tensor<4x8xindex>'}}
  %0 = linalg_ext.reduce_sum dimensions = [1] ins(%t : tensor<4x8xindex>) outs(%o : tensor<4xindex>) -> tensor<4xindex>
  return
}

// -----

func.func @negative_result(%t: tensor<4x8xf32>, %o: tensor<4xf32>) {
  // expected-error @+1 {{'linalg_ext.reduce_sum' op expected type of operand #1 ('tensor<4xf32>') to match type of corresponding result ('tensor<?xf32>')}}
  %0 = linalg_ext.reduce_sum dimensions = [1] ins(%t : tensor<4x8xf32>) outs(%o : tensor<4xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @negative_one_init(%x: tensor<8xf32>, %j: tensor<8xi32>, %o: tensor<f32>) {
  // expected-error @+1 {{'linalg_ext.argmax' op expected two inits, of a value and of its index, got 1}}
  %0 = linalg_ext.argmax dimension = 0 tie_break_left(true) ins(%x, %j : tensor<8xf32>, tensor<8xi32>) outs(%o : tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @negative_indices(%x: tensor<8xf32>, %o: tensor<f32>) {
  // expected-error @+1 {{'linalg_ext.argmin' op expected indices that are signless integers, got 'tensor<8xf32>'}}
  %0:2 = linalg_ext.argmin dimension = 0 tie_break_left(true) ins(%x, %x : tensor<8xf32>, tensor<8xf32>) outs(%o, %o : tensor<f32>, tensor<f32>) -> tensor<f32>, tensor<f32>
  return
}

// -----

func.func @negative_indices_shape(%x: tensor<8xf32>, %j: tensor<4xi32>, %o: tensor<f32>, %p: tensor<i32>) {
  // expected-error @+1 {{'linalg_ext.argmax' op expected indices of shape [8], got 'tensor<4xi32>'}}
  %0:2 = linalg_ext.argmax dimension = 0 tie_break_left(true) ins(%x, %j : tensor<8xf32>, tensor<4xi32>) outs(%o, %p : tensor<f32>, tensor<i32>) -> tensor<f32>, tensor<i32>
  return
}

// -----

func.func @negative_arg_init(%x: tensor<8xf32>, %j: tensor<8xi32>, %o: tensor<f32>, %p: tensor<i64>) {
  // expected-error @+1 {{'linalg_ext.argmax' op expected an init of 'i32', got 'tensor<i64>'}}
  %0:2 = linalg_ext.argmax dimension = 0 tie_break_left(true) ins(%x, %j : tensor<8xf32>, tensor<8xi32>) outs(%o, %p : tensor<f32>, tensor<i64>) -> tensor<f32>, tensor<i64>
  return
}

// -----

func.func @negative_strides(%i: tensor<1x8x8x4xf32>, %o: tensor<1x6x6x3x3x4xf32>) {
  // expected-error @+1 {{'linalg_ext.im2col' op expected two strides and two dilations of at least 1, got 1, 0 and 1, 1}}
  %0 = linalg_ext.im2col strides = [1, 0] dilations = [1, 1] ins(%i : tensor<1x8x8x4xf32>) outs(%o : tensor<1x6x6x3x3x4xf32>) -> tensor<1x6x6x3x3x4xf32>
  return
}

// -----

func.func @negative_windows(%i: tensor<1x8x8x4xf32>, %o: tensor<1x6x6x3x3x4xf32>) {
  // expected-error @+1 {{'linalg_ext.im2col' op expected windows that fit into 8 elements, got 6 of 3 elements, which take 10}}
  %0 = linalg_ext.im2col strides = [1, 1] dilations = [1, 2] ins(%i : tensor<1x8x8x4xf32>) outs(%o : tensor<1x6x6x3x3x4xf32>) -> tensor<1x6x6x3x3x4xf32>
  return
}

// -----

func.func @negative_channels(%i: tensor<1x8x8x4xf32>, %o: tensor<1x6x6x3x3x8xf32>) {
  // expected-error @+1 {{'linalg_ext.im2col' op expected an init of shape [1, ?, ?, ?, ?, 4], got 'tensor<1x6x6x3x3x8xf32>'}}
  %0 = linalg_ext.im2col strides = [1, 1] dilations = [1, 1] ins(%i : tensor<1x8x8x4xf32>) outs(%o : tensor<1x6x6x3x3x8xf32>) -> tensor<1x6x6x3x3x8xf32>
  return
}

// -----

func.func @negative_filter(%a: tensor<2x1x8x8x4xf32>, %f: tensor<1x16x3x3x4xf32>, %o: tensor<2x1x6x6x16xf32>) {
  // expected-error @+1 {{'linalg_ext.batch_conv_2d_nhwc_fhwc' op expected a filter of shape [2, ?, ?, ?, 4], got 'tensor<1x16x3x3x4xf32>'}}
  %0 = linalg_ext.batch_conv_2d_nhwc_fhwc strides = [1, 1] dilations = [1, 1]
      ins(%a, %f : tensor<2x1x8x8x4xf32>, tensor<1x16x3x3x4xf32>) outs(%o : tensor<2x1x6x6x16xf32>) -> tensor<2x1x6x6x16xf32>
  return
}

// -----

func.func @negative_narrower_sum(%a: tensor<2x1x8x8x4xf32>, %f: tensor<2x16x3x3x4xf32>, %o: tensor<2x1x6x6x16xf16>) {
  // expected-error @+1 {{'linalg_ext.batch_conv_2d_nhwc_fhwc' op expected elements that can be extended to 'f16', got 'tensor<2x1x8x8x4xf32>'}}
  %0 = linalg_ext.batch_conv_2d_nhwc_fhwc strides = [1, 1] dilations = [1, 1]
      ins(%a, %f : tensor<2x1x8x8x4xf32>, tensor<2x16x3x3x4xf32>) outs(%o : tensor<2x1x6x6x16xf16>) -> tensor<2x1x6x6x16xf16>
  return
}

// -----

func.func @negative_window_rank(%i: tensor<1x8x8x4xf32>, %w: tensor<2xf32>, %o: tensor<1x4x4x4xf32>) {
  // expected-error @+1 {{'linalg_ext.pooling_nhwc_max_nan' op expected a window of 2 dimensions, got 'tensor<2xf32>'}}
  %0 = linalg_ext.pooling_nhwc_max_nan strides = [2, 2] dilations = [1, 1]
      ins(%i, %w : tensor<1x8x8x4xf32>, tensor<2xf32>) outs(%o : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  return
}

// -----

func.func @negative_pooled_integers(%i: tensor<1x8x8x4xi32>, %w: tensor<2x2xi32>, %o: tensor<1x4x4x4xi32>) {
  // expected-error @+1 {{'linalg_ext.pooling_nhwc_min_nan' op expected floating-point numbers, got 'tensor<1x8x8x4xi32>'}}
  %0 = linalg_ext.pooling_nhwc_min_nan strides = [2, 2] dilations = [1, 1]
      ins(%i, %w : tensor<1x8x8x4xi32>, tensor<2x2xi32>) outs(%o : tensor<1x4x4x4xi32>) -> tensor<1x4x4x4xi32>
  return
}

// -----

func.func @negative_kind(%v: tensor<8xi32>, %m: memref<8xi32>) {
  // expected-error @+1 {{'linalg_ext.atomic_rmw' op expected elements that addf can be done with, got 'i32'}}
  %0 = linalg_ext.atomic_rmw addf acq_rel ins(%v : tensor<8xi32>) outs(%m, %v : memref<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  return
}

// -----

func.func @negative_order(%v: tensor<8xi32>, %m: memref<8xi32>) {
  // expected-error @+1 {{'linalg_ext.atomic_cas' op expected relaxed, acquire, release or acq_rel, got seq_cst}}
  %0 = linalg_ext.atomic_cas seq_cst ins(%v, %v : tensor<8xi32>, tensor<8xi32>) outs(%m, %v : memref<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  return
}

// -----

func.func @negative_elements(%v: tensor<8xi32>, %m: memref<4xi32>) {
  // expected-error @+1 {{'linalg_ext.atomic_rmw' op expected elements of shape [4], got 'tensor<8xi32>'}}
  %0 = linalg_ext.atomic_rmw addi acq_rel ins(%v : tensor<8xi32>) outs(%m, %v : memref<4xi32>, tensor<8xi32>) -> tensor<8xi32>
  return
}

// -----

func.func @negative_element_type(%v: tensor<8xi32>, %m: memref<8xi64>) {
  // expected-error @+1 {{'linalg_ext.atomic_cas' op expected elements of 'i64', got 'tensor<8xi32>'}}
  %0 = linalg_ext.atomic_cas relaxed ins(%v, %v : tensor<8xi32>, tensor<8xi32>) outs(%m, %v : memref<8xi64>, tensor<8xi32>) -> tensor<8xi32>
  return
}

// -----

func.func @negative_tri(%k: index, %o: tensor<8xf32>) {
  // expected-error @+1 {{'linalg_ext.tri' op expected an init of 2 dimensions, got 'tensor<8xf32>'}}
  %0 = linalg_ext.tri ins(%k : index) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  return
}
