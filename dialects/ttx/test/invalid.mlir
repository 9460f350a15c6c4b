// RUN: triton-ext-opt %s --load-extension=ttx -split-input-file -verify-diagnostics

func.func @negative_two_inputs(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected one input and one output, got 2 and 1}}
  %0 = ttx.cumsum {axis = 0 : ui32} ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @negative_shapes(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{expected an output of the input's shape, got 'tensor<4xf32>' and 'tensor<8xf32>'}}
  %0 = ttx.cumsum {axis = 0 : ui32} ins(%x : tensor<4xf32>) outs(%y : tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @negative_types(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error @+1 {{expected elements of one type of integers or floats, got 'f32' and 'f16'}}
  %0 = ttx.cumsum {axis = 0 : ui32} ins(%x : tensor<4xf32>) outs(%y : tensor<4xf16>) -> tensor<4xf16>
  return
}

// -----

func.func @negative_index(%x: tensor<4xindex>) {
  // expected-error @+1 {{expected elements of one type of integers or floats, got 'index' and 'index'}}
  %0 = ttx.cumsum {axis = 0 : ui32} ins(%x : tensor<4xindex>) outs(%x : tensor<4xindex>) -> tensor<4xindex>
  return
}

// -----

func.func @negative_axis(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected an axis below 1, got 1}}
  %0 = ttx.cumsum {axis = 1 : ui32} ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @negative_no_axis(%x: tensor<4xf32>) {
  // expected-error @+1 {{requires attribute 'axis'}}
  %0 = ttx.cumsum ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @negative_no_result(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  ttx.cumsum {axis = 0 : ui32} ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>)
  return
}

// -----

func.func @negative_syntax(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 'outs'}}
  %0 = ttx.cumsum {axis = 0 : ui32} ins(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}
