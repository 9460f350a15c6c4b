// RUN: triton-ext-opt %s --load-extension=linalg_ext -split-input-file -verify-diagnostics

func.func @negative_body_of_another_name(%t: tensor<4xf32>, %o: tensor<f32>) {
  %0 = linalg_ext.reduce_sum ins(%t : tensor<4xf32>) outs(%o : tensor<f32>) dimensions = [0]
      // expected-error @+1 {{expected a body of arith.addf or arith.addi, as the name of linalg_ext.reduce_sum says; linalg.reduce takes any other}}
      (%x: f32, %acc: f32) {
        %s = arith.mulf %x, %acc : f32
        linalg.yield %s : f32
      }
  return
}

// -----

func.func @negative_unsigned_maximum(%t: tensor<4xi32>, %o: tensor<i32>) {
  // expected-error @+1 {{expected a body of arith.maxnumf or arith.maxsi, as the name of linalg_ext.reduce_max says; linalg.reduce takes any other}}
  %0 = linalg_ext.reduce_max { arith.maxui } ins(%t : tensor<4xi32>) outs(%o : tensor<i32>) dimensions = [0]
  return
}

// -----

func.func @negative_body_of_two_operations(%t: tensor<4xf32>, %o: tensor<f32>) {
  %0 = linalg_ext.reduce_max_nan ins(%t : tensor<4xf32>) outs(%o : tensor<f32>) dimensions = [0]
      // expected-error @+1 {{expected a body of arith.maximumf, as the name}}
      (%x: f32, %acc: f32) {
        %n = arith.negf %x : f32
        %s = arith.maximumf %n, %acc : f32
        linalg.yield %s : f32
      }
  return
}

// -----

func.func @negative_body_type(%t: tensor<4xf32>, %o: tensor<f32>) {
  %0 = linalg_ext.reduce_sum ins(%t : tensor<4xf32>) outs(%o : tensor<f32>) dimensions = [0]
      // expected-error @+1 {{expected a body with arguments of type 'f32', got 'i32'}}
      (%x: i32, %acc: i32) {
        %s = arith.addi %x, %acc : i32
        linalg.yield %s : i32
      }
  return
}

// -----

func.func @negative_two_inputs(%t: tensor<4xf32>, %o: tensor<f32>) {
  // expected-error @+1 {{expected 1 operands in ins, got 2}}
  %0 = linalg_ext.reduce_sum ins(%t, %t : tensor<4xf32>, tensor<4xf32>) outs(%o : tensor<f32>) dimensions = [0]
  return
}

// -----

func.func @negative_no_dimensions(%t: tensor<4xf32>, %o: tensor<f32>) {
  // expected-error @+1 {{'linalg_ext.reduce_sum' op requires attribute 'dimensions'}}
  %0 = linalg_ext.reduce_sum ins(%t : tensor<4xf32>) outs(%o : tensor<f32>)
  return
}

// -----

func.func @negative_dimensions_twice(%t: tensor<4xf32>, %o: tensor<f32>) {
  // expected-error @+1 {{expected dimensions once}}
  %0 = linalg_ext.reduce_sum dimensions = [0] ins(%t : tensor<4xf32>) outs(%o : tensor<f32>) dimensions = [0]
  return
}

// -----

func.func @negative_two_dimensions(%x: tensor<4x4xf32>, %j: tensor<4x4xi32>, %o: tensor<f32>, %p: tensor<i32>) {
  // expected-error @+1 {{expected one dimension, as in `dimension = 1` or `dimensions = [1]`}}
  %0:2 = linalg_ext.argmax ins(%x, %j : tensor<4x4xf32>, tensor<4x4xi32>) outs(%o, %p : tensor<f32>, tensor<i32>)
      dimensions = [0, 1] tie_break_left(true)
  return
}

// -----

func.func @negative_tie_and_body(%x: tensor<4xf32>, %j: tensor<4xi32>, %o: tensor<f32>, %p: tensor<i32>) {
  %0:2 = linalg_ext.argmax ins(%x, %j : tensor<4xf32>, tensor<4xi32>) outs(%o, %p : tensor<f32>, tensor<i32>)
      dimensions = [0] tie_break_left(true)
      // expected-error @+1 {{expected tie_break_left or a body, which says it itself}}
      (%a: f32, %b: i32, %c: f32, %d: i32) {
        linalg.yield %a, %b : f32, i32
      }
  return
}

// -----

func.func @negative_arg_body(%x: tensor<4xf32>, %j: tensor<4xi32>, %o: tensor<f32>, %p: tensor<i32>) {
  // expected-error @+1 {{'linalg_ext.argmin' op expected a body with arguments of type 'f32', 'i32', 'f32', 'i32', got 'f32', 'i32'}}
  %0:2 = linalg_ext.argmin ins(%x, %j : tensor<4xf32>, tensor<4xi32>) outs(%o, %p : tensor<f32>, tensor<i32>) dimensions = [0]
      (%a: f32, %b: i32) {
        linalg.yield %a, %b : f32, i32
      }
  return
}

// -----

func.func @negative_arg_yield(%x: tensor<4xf32>, %j: tensor<4xi32>, %o: tensor<f32>, %p: tensor<i32>) {
  // expected-error @+1 {{'linalg_ext.argmin' op expected a body that yields 'f32', 'i32', got 'i32', 'f32'}}
  %0:2 = linalg_ext.argmin ins(%x, %j : tensor<4xf32>, tensor<4xi32>) outs(%o, %p : tensor<f32>, tensor<i32>) dimensions = [0]
      (%a: f32, %b: i32, %c: f32, %d: i32) {
        linalg.yield %b, %a : i32, f32
      }
  return
}

// -----

func.func @negative_arg_without_tie(%x: tensor<4xf32>, %j: tensor<4xi32>, %o: tensor<f32>, %p: tensor<i32>) {
  // expected-error @+1 {{expected tie_break_left or a body}}
  %0:2 = linalg_ext.argmax ins(%x, %j : tensor<4xf32>, tensor<4xi32>) outs(%o, %p : tensor<f32>, tensor<i32>) dimensions = [0]
  return
}

// -----

func.func @negative_arg_mixed(%x: tensor<4xf32>, %j: memref<4xi32>, %o: tensor<f32>, %p: tensor<i32>) {
  // expected-error @+1 {{'linalg_ext.argmax' op expected to have pure tensor or buffer semantics}}
  %0:2 = linalg_ext.argmax dimension = 0 tie_break_left(true) ins(%x, %j : tensor<4xf32>, memref<4xi32>)
      outs(%o, %p : tensor<f32>, tensor<i32>) -> tensor<f32>, tensor<i32>
  return
}

// -----

func.func @negative_exclusive(%m: memref<4xi32>, %s: memref<i32>) {
  // expected-error @+1 {{expected as many carried values as inputs, with which the lines of an exclusive scan begin, got 1 inits and 1 inputs}}
  linalg_ext.scan ins(%m : memref<4xi32>) outs(%m : memref<4xi32>) dimensions = [0] inclusive = false {
  ^bb0(%acc: i32, %in: i32):
    linalg_ext.yield %in : i32
  }
  return
}

// -----

func.func @negative_exclusive_body(%m: memref<4xi32>, %s: memref<i32>) {
  // expected-error @+1 {{'linalg_ext.scan' op expected a body with arguments of type 'i32', 'i32', 'i32', got 'i32', 'i32'}}
  linalg_ext.scan ins(%m : memref<4xi32>) outs(%m, %s : memref<4xi32>, memref<i32>) dimensions = [0] inclusive = false {
  ^bb0(%in: i32, %carried: i32):
    linalg_ext.yield %in, %in : i32, i32
  }
  return
}

// -----

func.func @negative_inclusive(%m: memref<4xi32>) {
  // expected-error @+1 {{expected inclusive = true or false, got 3}}
  linalg_ext.scan ins(%m : memref<4xi32>) outs(%m : memref<4xi32>) dimensions = [0] inclusive = 3 {
  ^bb0(%acc: i32, %in: i32):
    linalg_ext.yield %in : i32
  }
  return
}

// -----

func.func @negative_no_dimension(%m: memref<4xi32>) {
  // expected-error @+1 {{expected one dimension, as in `dimension = 1` or `dimensions = [1]`}}
  linalg_ext.scan ins(%m : memref<4xi32>) outs(%m : memref<4xi32>) dimensions = [] {
  ^bb0(%acc: i32, %in: i32):
    linalg_ext.yield %in : i32
  }
  return
}

// -----

func.func @negative_dimension_of_a_point(%m: memref<i32>) {
  // expected-error @+1 {{'linalg_ext.scan' op expected a dimension of 'memref<i32>', got 1}}
  linalg_ext.scan ins(%m : memref<i32>) outs(%m : memref<i32>) dimension = 1 {
  ^bb0(%acc: i32, %in: i32):
    linalg_ext.yield %in : i32
  }
  return
}

// -----

func.func @negative_three_inits(%m: memref<4xi32>, %s: memref<i32>) {
  // expected-error @+1 {{'linalg_ext.scan' op expected as many inits as inputs, or twice as many, got 3 and 1}}
  linalg_ext.scan ins(%m : memref<4xi32>) outs(%m, %s, %s : memref<4xi32>, memref<i32>, memref<i32>) dimensions = [0] {
  ^bb0(%in: i32, %out: i32, %carried: i32):
    linalg_ext.yield %in, %in : i32, i32
  }
  return
}

// -----

func.func @negative_carried_shape(%t: tensor<4x8xf32>, %first: tensor<8xf32>) {
  // expected-error @+1 {{'linalg_ext.scan' op expected inits that are carried of shape [4], got 'tensor<8xf32>'}}
  %0:2 = linalg_ext.scan ins(%t : tensor<4x8xf32>) outs(%t, %first : tensor<4x8xf32>, tensor<8xf32>) dimensions = [1] {
  ^bb0(%in: f32, %out: f32, %carried: f32):
    linalg_ext.yield %in, %in : f32, f32
  } -> tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @negative_carried_element(%t: tensor<4xf32>, %first: tensor<f64>) {
  // expected-error @+1 {{'linalg_ext.scan' op expected an init of 'f32', got 'tensor<f64>'}}
  %0:2 = linalg_ext.scan ins(%t : tensor<4xf32>) outs(%t, %first : tensor<4xf32>, tensor<f64>) dimensions = [0] {
  ^bb0(%in: f32, %out: f32, %carried: f32):
    linalg_ext.yield %in, %in : f32, f32
  } -> tensor<4xf32>, tensor<f64>
  return
}

// -----

func.func @negative_carried_body(%m: memref<4xi32>, %s: memref<i32>) {
  // expected-error @+1 {{'linalg_ext.scan' op expected a body with arguments of type 'i32', 'i32', 'i32', got 'i32', 'i32'}}
  linalg_ext.scan ins(%m : memref<4xi32>) outs(%m, %s : memref<4xi32>, memref<i32>) dimensions = [0] {
  ^bb0(%in: i32, %carried: i32):
    linalg_ext.yield %in, %in : i32, i32
  }
  return
}

// -----

func.func @negative_named_memref(%m: memref<4xi32>, %s: memref<i32>) {
  // expected-error @+1 {{expected results that are tensors, got 'memref<4xi32>': use the operand in outs in place of this result}}
  %0:2 = linalg_ext.scan ins(%m : memref<4xi32>) outs(%m, %s : memref<4xi32>, memref<i32>) dimensions = [0] {
  ^bb0(%in: i32, %out: i32, %carried: i32):
    linalg_ext.yield %in, %in : i32, i32
  } -> memref<4xi32>, memref<i32>
  return
}

// -----

func.func @negative_three_strides(%i: tensor<1x8x8x4xf32>, %o: tensor<1x6x6x3x3x4xf32>) {
  // expected-error @+1 {{'linalg_ext.im2col' op expected two strides and two dilations of at least 1, got 1, 1, 1 and 1, 1}}
  %0 = linalg_ext.im2col {strides = dense<1> : tensor<3xi64>} ins(%i : tensor<1x8x8x4xf32>)
      outs(%o : tensor<1x6x6x3x3x4xf32>) -> tensor<1x6x6x3x3x4xf32>
  return
}

// -----

func.func @negative_strides_of_i32(%i: tensor<1x8x8x4xf32>, %o: tensor<1x6x6x3x3x4xf32>) {
  // expected-error @+1 {{expected strides that are two numbers of i64, got dense<1> : tensor<2xi32>}}
  %0 = linalg_ext.im2col {strides = dense<1> : tensor<2xi32>} ins(%i : tensor<1x8x8x4xf32>)
      outs(%o : tensor<1x6x6x3x3x4xf32>) -> tensor<1x6x6x3x3x4xf32>
  return
}

// -----

func.func @negative_strides_twice(%i: tensor<1x8x8x4xf32>, %o: tensor<1x6x6x3x3x4xf32>) {
  // expected-error @+1 {{expected strides once}}
  %0 = linalg_ext.im2col {strides = dense<1> : tensor<2xi64>} strides = [1, 1] ins(%i : tensor<1x8x8x4xf32>)
      outs(%o : tensor<1x6x6x3x3x4xf32>) -> tensor<1x6x6x3x3x4xf32>
  return
}

// -----

func.func @negative_two_messages(%t: tensor<4xi1>) {
  // expected-error @+1 {{expected one message}}
  linalg_ext.assert "a" {msg = "b"} ins(%t : tensor<4xi1>)
  return
}

// -----

func.func @negative_no_message(%t: tensor<4xi1>) {
  // expected-error @+1 {{'linalg_ext.assert' op requires attribute 'msg'}}
  linalg_ext.assert ins(%t : tensor<4xi1>)
  return
}

// -----

func.func @negative_other_result(%t: tensor<4xi1>) {
  // expected-error @+1 {{'linalg_ext.assert' op expected type of operand #0 ('tensor<4xi1>') to match type of corresponding result ('tensor<?xi1>')}}
  %0 = linalg_ext.assert {msg = "a"} ins(%t : tensor<4xi1>) -> tensor<?xi1>
  return
}

// -----

func.func @negative_memory_of_another_shape(%v: tensor<8xi32>, %t: tensor<4xi32>) {
  // expected-error @+1 {{'linalg_ext.atomic_cas' op expected elements of shape [4], got 'tensor<8xi32>'}}
  %0 = linalg_ext.atomic_cas relaxed ins(%t, %v, %v : tensor<4xi32>, tensor<8xi32>, tensor<8xi32>) outs(%v : tensor<8xi32>) -> tensor<8xi32>
  return
}

// -----

func.func @negative_memory_not_given(%v: tensor<8xi32>) {
  // expected-error @+1 {{'linalg_ext.atomic_rmw' op expected the number of tensor results (1) to be equal to the number of output tensors (2)}}
  %0 = linalg_ext.atomic_rmw addi relaxed ins(%v : tensor<8xi32>) outs(%v, %v : tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  return
}

// -----

func.func @negative_exchange_of_one(%v: tensor<8xi32>, %m: memref<8xi32>) {
  // expected-error @+1 {{expected 2 operands in ins, got 1}}
  %0 = linalg_ext.atomic_cas relaxed ins(%v : tensor<8xi32>) outs(%m, %v : memref<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  return
}

// -----

func.func @negative_mask_of_another_type(%v: tensor<4xi32>, %i: tensor<4xi64>, %m: tensor<4xi16>, %mem: memref<?xi32>) {
  // expected-error @+1 {{'linalg_ext.gather_atomic_rmw' op expected a mask of i1, got 'tensor<4xi16>'}}
  %0 = linalg_ext.gather_atomic_rmw addi relaxed ins(%v, %i, %m : tensor<4xi32>, tensor<4xi64>, tensor<4xi16>)
      outs(%mem, %v : memref<?xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @negative_mask_of_another_shape(%v: tensor<4xi32>, %i: tensor<4xi64>, %m: tensor<5xi8>, %mem: memref<?xi32>) {
  // expected-error @+1 {{'linalg_ext.gather_atomic_rmw' op expected a mask of shape [4], got 'tensor<5xi8>'}}
  %0 = linalg_ext.gather_atomic_rmw addi relaxed ins(%v, %i, %m : tensor<4xi32>, tensor<4xi64>, tensor<5xi8>)
      outs(%mem, %v : memref<?xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @negative_index_that_counts(%t: tensor<4xf32>, %o: tensor<6xf32>, %z: f32) {
  // expected-error @+1 {{'linalg_ext.pad' op expected a body with arguments of type 'f32', got 'index'}}
  %0 = linalg_ext.pad ins(%t : tensor<4xf32>) outs(%o : tensor<6xf32>) pvalue(%z : f32) low = [1] high = [1] {
  ^bb0(%i: index):
    %1 = arith.addi %i, %i : index
    linalg_ext.yield %1 : index
  } -> tensor<6xf32>
  return
}
