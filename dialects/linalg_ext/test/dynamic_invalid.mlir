// RUN: triton-ext-opt %s --load-extension=linalg_ext -split-input-file -verify-diagnostics

// The verifier finds static sizes that cannot be right, even if other sizes are dynamic.

func.func @negative_pad_margins(%t: tensor<?xf32>, %o: tensor<8xf32>, %v: f32) {
  // expected-error @+1 {{'linalg_ext.pad' op expected 8 elements in dimension 0, got 5 + ? + 4}}
  %0 = linalg_ext.pad ins(%t : tensor<?xf32>) outs(%o : tensor<8xf32>) pvalue(%v : f32) low = [5] high = [4] {
  ^bb0(%a: f32):
    linalg_ext.yield %a : f32
  } -> tensor<8xf32>
  return
}

// -----

func.func @negative_pad_input(%t: tensor<8xf32>, %o: tensor<8xf32>, %v: f32, %n: index) {
  // expected-error @+1 {{'linalg_ext.pad' op expected 8 elements in dimension 0, got 1 + 8 + ?}}
  %0 = linalg_ext.pad ins(%t : tensor<8xf32>) outs(%o : tensor<8xf32>) pvalue(%v : f32) low = [1] high = [%n] {
  ^bb0(%a: f32):
    linalg_ext.yield %a : f32
  } -> tensor<8xf32>
  return
}

// -----


func.func @negative_scan(%a: tensor<?xf32>, %b: tensor<4xf32>, %c: tensor<5xf32>) {
  // expected-error @+1 {{'linalg_ext.scan' op expected inits of shape [4], got 'tensor<5xf32>'}}
  %0:2 = linalg_ext.scan dimension = 0 reverse(false)
      ins(%a, %a : tensor<?xf32>, tensor<?xf32>) outs(%b, %c : tensor<4xf32>, tensor<5xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %w: f32):
    linalg_ext.yield %x, %y : f32, f32
  } -> tensor<4xf32>, tensor<5xf32>
  return
}

// -----

func.func @negative_gather_mask(%t: tensor<?xf32>, %i: tensor<?x1xi32>, %m: tensor<5xi1>, %o: tensor<4x1xf32>) {
  // expected-error @+1 {{'linalg_ext.gather' op expected a mask of shape [4], got 'tensor<5xi1>'}}
  %0 = linalg_ext.gather dimension_map = [0] ranged_data(false) signed_indice(true)
      ins(%t, %i, %m : tensor<?xf32>, tensor<?x1xi32>, tensor<5xi1>) outs(%o : tensor<4x1xf32>) {
  ^bb0(%read: f32, %old: f32):
    linalg_ext.yield %read : f32
  } -> tensor<4x1xf32>
  return
}

// -----

func.func @negative_gather_atomic(%v: tensor<4x1xf32>, %i: tensor<?x1xi64>, %m: memref<?xf32>, %o: tensor<5x1xf32>) {
  // expected-error @+1 {{'linalg_ext.gather_atomic_rmw' op expected windows of shape [4, 1], got 'tensor<5x1xf32>'}}
  %0 = linalg_ext.gather_atomic_rmw addf relaxed ins(%v, %i : tensor<4x1xf32>, tensor<?x1xi64>)
      outs(%m, %o : memref<?xf32>, tensor<5x1xf32>) -> tensor<5x1xf32>
  return
}

// -----

func.func @negative_gather_atomic_mask(%v: tensor<4x1xf32>, %i: tensor<?x1xi64>, %k: tensor<5xi1>, %m: memref<?xf32>,
                                       %o: tensor<?x1xf32>) {
  // expected-error @+1 {{'linalg_ext.gather_atomic_rmw' op expected a mask of shape [4], got 'tensor<5xi1>'}}
  %0 = linalg_ext.gather_atomic_rmw addf relaxed ins(%v, %i, %k : tensor<4x1xf32>, tensor<?x1xi64>, tensor<5xi1>)
      outs(%m, %o : memref<?xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  return
}

// -----

func.func @negative_atomic(%v: tensor<4xf32>, %m: memref<?xf32>, %o: tensor<5xf32>) {
  // expected-error @+1 {{'linalg_ext.atomic_rmw' op expected elements of shape [4], got 'tensor<5xf32>'}}
  %0 = linalg_ext.atomic_rmw addf relaxed ins(%v : tensor<4xf32>) outs(%m, %o : memref<?xf32>, tensor<5xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @negative_argmax(%v: tensor<?x8xf32>, %i: tensor<?x8xi32>, %a: tensor<4xf32>, %b: tensor<5xi32>) {
  // expected-error @+1 {{'linalg_ext.argmax' op expected an init of shape [4], got 'tensor<5xi32>'}}
  %0:2 = linalg_ext.argmax dimension = 1 tie_break_left(true) ins(%v, %i : tensor<?x8xf32>, tensor<?x8xi32>)
      outs(%a, %b : tensor<4xf32>, tensor<5xi32>) -> tensor<4xf32>, tensor<5xi32>
  return
}

// -----

func.func @negative_libdevice_call(%x: tensor<4xf32>, %y: tensor<5xf32>, %o: tensor<?xf32>) {
  // expected-error @+1 {{'linalg_ext.libdevice_call' op expected inputs of shape [4], got 'tensor<5xf32>'}}
  %0 = linalg_ext.libdevice_call ins(%x, %y : tensor<4xf32>, tensor<5xf32>) outs(%o : tensor<?xf32>)
      symbol = "__nv_powf" -> tensor<?xf32>
  return
}

// -----

func.func @negative_convolution(%i: tensor<?x1x8x8x4xf32>, %f: tensor<2x3x3x3x4xf32>, %o: tensor<1x1x6x6x3xf32>) {
  // expected-error @+1 {{'linalg_ext.batch_conv_2d_nhwc_fhwc' op expected an init of shape [2, 1, ?, ?, 3], got 'tensor<1x1x6x6x3xf32>'}}
  %0 = linalg_ext.batch_conv_2d_nhwc_fhwc strides = [1, 1] dilations = [1, 1]
      ins(%i, %f : tensor<?x1x8x8x4xf32>, tensor<2x3x3x3x4xf32>) outs(%o : tensor<1x1x6x6x3xf32>) -> tensor<1x1x6x6x3xf32>
  return
}
