// RUN: triton-ext-opt %s --load-extension=linalg_ext -split-input-file -verify-diagnostics

func.func @negative_pad_rank(%t: tensor<4xf32>, %o: tensor<4x4xf32>, %z: f32) {
  // expected-error @+1 {{'linalg_ext.pad' op expected input and init of one rank, got 'tensor<4xf32>' and 'tensor<4x4xf32>'}}
  %0 = linalg_ext.pad ins(%t : tensor<4xf32>) outs(%o : tensor<4x4xf32>) pvalue(%z : f32) low = [0] high = [0] {
  ^bb0(%a: f32):
    linalg_ext.yield %a : f32
  } -> tensor<4x4xf32>
  return
}

// -----

func.func @negative_pad_pvalue(%t: tensor<4xf32>, %z: f16) {
  // expected-error @+1 {{'linalg_ext.pad' op expected a pvalue of type 'f32', got 'f16'}}
  %0 = linalg_ext.pad ins(%t : tensor<4xf32>) outs(%t : tensor<4xf32>) pvalue(%z : f16) low = [0] high = [0] {
  ^bb0(%a: f32):
    linalg_ext.yield %a : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @negative_pad_sizes(%t: tensor<4xf32>, %o: tensor<8xf32>, %z: f32) {
  // expected-error @+1 {{'linalg_ext.pad' op expected 8 elements in dimension 0, got 1 + 4 + 2}}
  %0 = linalg_ext.pad ins(%t : tensor<4xf32>) outs(%o : tensor<8xf32>) pvalue(%z : f32) low = [1] high = [2] {
  ^bb0(%a: f32):
    linalg_ext.yield %a : f32
  } -> tensor<8xf32>
  return
}

// -----

func.func @negative_pad_margin(%t: tensor<?xf32>, %o: tensor<8xf32>, %z: f32) {
  // expected-error @+1 {{'linalg_ext.pad' op expected margins that are not negative in dimension 0}}
  %0 = linalg_ext.pad ins(%t : tensor<?xf32>) outs(%o : tensor<8xf32>) pvalue(%z : f32) low = [-1] high = [2] {
  ^bb0(%a: f32):
    linalg_ext.yield %a : f32
  } -> tensor<8xf32>
  return
}

// -----

func.func @negative_pad_margins(%t: tensor<?x?xf32>, %z: f32) {
  // expected-error @+1 {{'linalg_ext.pad' op expected 2 numbers in low and high, got 1 and 2}}
  %0 = linalg_ext.pad ins(%t : tensor<?x?xf32>) outs(%t : tensor<?x?xf32>) pvalue(%z : f32) low = [1] high = [2, 2] {
  ^bb0(%a: f32):
    linalg_ext.yield %a : f32
  } -> tensor<?x?xf32>
  return
}

// -----

func.func @negative_pad_body(%t: tensor<4xf32>, %z: f32) {
  // expected-error @+1 {{'linalg_ext.pad' op expected a body with arguments of type 'f32', got 'index'}}
  %0 = linalg_ext.pad ins(%t : tensor<4xf32>) outs(%t : tensor<4xf32>) pvalue(%z : f32) low = [0] high = [0] {
  ^bb0(%a: index):
    linalg_ext.yield %z : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @negative_pad_yield(%t: tensor<4xf32>, %z: f32, %i: i32) {
  // expected-error @+1 {{'linalg_ext.pad' op expected a body that yields 'f32', got 'i32'}}
  %0 = linalg_ext.pad ins(%t : tensor<4xf32>) outs(%t : tensor<4xf32>) pvalue(%z : f32) low = [0] high = [0] {
  ^bb0(%a: f32):
    linalg_ext.yield %i : i32
  } -> tensor<4xf32>
  return
}

// -----

func.func @negative_pad_result(%t: tensor<4xf32>, %z: f32) {
  // expected-error @+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  linalg_ext.pad ins(%t : tensor<4xf32>) outs(%t : tensor<4xf32>) pvalue(%z : f32) low = [0] high = [0] {
  ^bb0(%a: f32):
    linalg_ext.yield %a : f32
  }
  return
}

// -----

func.func @negative_yield(%z: f32) {
  // expected-error @+1 {{'linalg_ext.yield' op expects parent op to be one of}}
  linalg_ext.yield %z : f32
}

// -----

func.func @negative_range_rank(%a: i32, %o: tensor<2x2xi32>) {
  // expected-error @+1 {{'linalg_ext.make_range' op expected an init of one dimension, got 'tensor<2x2xi32>'}}
  %0 = linalg_ext.make_range ins(%a, %a : i32, i32) outs(%o : tensor<2x2xi32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @negative_range_type(%a: i32, %o: tensor<4xi64>) {
  // expected-error @+1 {{'linalg_ext.make_range' op expected start and end of type 'i64', got 'i32' and 'i32'}}
  %0 = linalg_ext.make_range ins(%a, %a : i32, i32) outs(%o : tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @negative_range_size(%o: tensor<4xi32>) {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  // expected-error @+1 {{'linalg_ext.make_range' op expected end - start to be 4, as in the init}}
  %0 = linalg_ext.make_range ins(%c0, %c8 : i32, i32) outs(%o : tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @negative_gather_map(%d: tensor<16x8xf32>, %i: tensor<4x1xi32>, %o: tensor<4x2x4xf32>) {
  // expected-error @+1 {{'linalg_ext.gather' op expected a dimension_map of as many dimensions as the last dimension of the indices has elements, got 2 and 'tensor<4x1xi32>'}}
  %0 = linalg_ext.gather dimension_map = [0, 1] ranged_data(true) signed_indice(false)
      ins(%d, %i : tensor<16x8xf32>, tensor<4x1xi32>) outs(%o : tensor<4x2x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg_ext.yield %a : f32
  } -> tensor<4x2x4xf32>
  return
}

// -----

func.func @negative_gather_dimension(%d: tensor<16x8xf32>, %i: tensor<4x1xi32>, %o: tensor<4x2x4xf32>) {
  // expected-error @+1 {{'linalg_ext.gather' op expected a dimension_map of different dimensions of 'tensor<16x8xf32>', got 2}}
  %0 = linalg_ext.gather dimension_map = [2] ranged_data(true) signed_indice(false)
      ins(%d, %i : tensor<16x8xf32>, tensor<4x1xi32>) outs(%o : tensor<4x2x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg_ext.yield %a : f32
  } -> tensor<4x2x4xf32>
  return
}

// -----

func.func @negative_gather_window(%d: tensor<16x8xf32>, %i: tensor<4x1xi32>, %o: tensor<4x2x9xf32>) {
  // expected-error @+1 {{'linalg_ext.gather' op expected windows that fit into 'tensor<16x8xf32>', got 'tensor<4x2x9xf32>'}}
  %0 = linalg_ext.gather dimension_map = [0] ranged_data(true) signed_indice(false)
      ins(%d, %i : tensor<16x8xf32>, tensor<4x1xi32>) outs(%o : tensor<4x2x9xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg_ext.yield %a : f32
  } -> tensor<4x2x9xf32>
  return
}

// -----

func.func @negative_gather_batch(%d: tensor<16xf32>, %i: tensor<4x1xi32>, %o: tensor<8x1xf32>) {
  // expected-error @+1 {{'linalg_ext.gather' op expected windows of shape [4, ?], got 'tensor<8x1xf32>'}}
  %0 = linalg_ext.gather dimension_map = [0] ranged_data(true) signed_indice(false)
      ins(%d, %i : tensor<16xf32>, tensor<4x1xi32>) outs(%o : tensor<8x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg_ext.yield %a : f32
  } -> tensor<8x1xf32>
  return
}

// -----

func.func @negative_gather_mask(%d: tensor<16xf32>, %i: tensor<4x1xi32>, %m: tensor<8xi1>, %o: tensor<4x1xf32>) {
  // expected-error @+1 {{'linalg_ext.gather' op expected a mask of shape [4], got 'tensor<8xi1>'}}
  %0 = linalg_ext.gather dimension_map = [0] ranged_data(true) signed_indice(false)
      ins(%d, %i, %m : tensor<16xf32>, tensor<4x1xi32>, tensor<8xi1>) outs(%o : tensor<4x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg_ext.yield %a : f32
  } -> tensor<4x1xf32>
  return
}

// -----

func.func @negative_gather_operands(%d: tensor<16xf32>, %o: tensor<4x1xf32>) {
  %0 = linalg_ext.gather dimension_map = [0] ranged_data(true) signed_indice(false)
      // expected-error @+1 {{expected 2 operands and an optional mask, got 1 operands}}
      ins(%d : tensor<16xf32>) outs(%o : tensor<4x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg_ext.yield %a : f32
  } -> tensor<4x1xf32>
  return
}

// -----

func.func @negative_scatter_indices(%u: tensor<4x1xf32>, %i: tensor<4x1xf32>, %o: memref<?xf32>) {
  // expected-error @+1 {{'linalg_ext.scatter' op expected indices that are signless integers, got 'tensor<4x1xf32>'}}
  linalg_ext.scatter dimension_map = [0] ranged_data(true) overlap_window(false) signed_indice(false)
      ins(%u, %i : tensor<4x1xf32>, tensor<4x1xf32>) outs(%o : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg_ext.yield %a : f32
  }
  return
}

// -----

func.func @negative_scatter_mask(%u: tensor<4x1xf32>, %i: tensor<4x1xi32>, %m: tensor<4xi8>, %o: memref<?xf32>) {
  // expected-error @+1 {{'linalg_ext.scatter' op expected a mask of i1, got 'tensor<4xi8>'}}
  linalg_ext.scatter dimension_map = [0] ranged_data(true) overlap_window(false) signed_indice(false)
      ins(%u, %i, %m : tensor<4x1xf32>, tensor<4x1xi32>, tensor<4xi8>) outs(%o : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg_ext.yield %a : f32
  }
  return
}

// -----

func.func @negative_scan_dimension(%t: tensor<4xf32>) {
  // expected-error @+1 {{'linalg_ext.scan' op expected a dimension of 'tensor<4xf32>', got 1}}
  %0 = linalg_ext.scan dimension = 1 reverse(false) ins(%t : tensor<4xf32>) outs(%t : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg_ext.yield %a : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @negative_scan_body(%t: tensor<4xf32>) {
  // expected-error @+1 {{'linalg_ext.scan' op expected a body with arguments of type 'f32', 'f32', got 'f32'}}
  %0 = linalg_ext.scan dimension = 0 reverse(false) ins(%t : tensor<4xf32>) outs(%t : tensor<4xf32>) {
  ^bb0(%a: f32):
    linalg_ext.yield %a : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @negative_histogram(%t: tensor<4xf32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{'linalg_ext.histogram' op expected signless integers, got 'tensor<4xf32>'}}
  %0 = linalg_ext.histogram ins(%t : tensor<4xf32>) outs(%o : tensor<8xi32>) -> tensor<8xi32>
  return
}

// -----

func.func @negative_flip(%t: tensor<4xf32>, %o: tensor<8xf32>) {
  // expected-error @+1 {{'linalg_ext.flip' op expected an init of shape [4], got 'tensor<8xf32>'}}
  %0 = linalg_ext.flip dimension = 0 ins(%t : tensor<4xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @negative_assert(%t: tensor<4xf32>) {
  // expected-error @+1 {{'linalg_ext.assert' op expected a condition of signless integers, got 'tensor<4xf32>'}}
  linalg_ext.assert "no" ins(%t : tensor<4xf32>)
  return
}

// -----

func.func @negative_atomic_kind(%v: tensor<8x1xf32>, %i: tensor<8x1xi64>, %mem: memref<?xf32>) {
  // expected-error @+1 {{'linalg_ext.gather_atomic_rmw' op expected a kind of memref.atomic_rmw, got fadd}}
  %0 = linalg_ext.gather_atomic_rmw fadd acq_rel ins(%v, %i : tensor<8x1xf32>, tensor<8x1xi64>)
      outs(%mem, %v : memref<?xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
  return
}

// -----

func.func @negative_atomic_element(%v: tensor<8x1xf32>, %i: tensor<8x1xi64>, %mem: memref<?xf32>) {
  // expected-error @+1 {{'linalg_ext.gather_atomic_rmw' op expected elements that addi can be done with, got 'f32'}}
  %0 = linalg_ext.gather_atomic_rmw addi acq_rel ins(%v, %i : tensor<8x1xf32>, tensor<8x1xi64>)
      outs(%mem, %v : memref<?xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
  return
}

// -----

func.func @negative_atomic_order(%v: tensor<8x1xf32>, %i: tensor<8x1xi64>, %mem: memref<?xf32>) {
  // expected-error @+1 {{'linalg_ext.gather_atomic_rmw' op expected relaxed, acquire, release or acq_rel, got seq_cst}}
  %0 = linalg_ext.gather_atomic_rmw addf seq_cst ins(%v, %i : tensor<8x1xf32>, tensor<8x1xi64>)
      outs(%mem, %v : memref<?xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
  return
}

// -----

func.func @negative_atomic_windows(%v: tensor<4x1xi64>, %i: tensor<8x1xi64>, %mem: memref<?xi64>) {
  // expected-error @+1 {{'linalg_ext.gather_atomic_cas' op expected windows of shape [8, 1], got 'tensor<4x1xi64>'}}
  %0 = linalg_ext.gather_atomic_cas acq_rel ins(%v, %i, %i : tensor<4x1xi64>, tensor<8x1xi64>, tensor<8x1xi64>)
      outs(%mem, %i : memref<?xi64>, tensor<8x1xi64>) -> tensor<8x1xi64>
  return
}

// -----

func.func @negative_libdevice(%x: tensor<4xf32>, %o: tensor<8xf32>) {
  // expected-error @+1 {{'linalg_ext.libdevice_call' op expected inputs of shape [8], got 'tensor<4xf32>'}}
  %0 = linalg_ext.libdevice_call ins(%x : tensor<4xf32>) outs(%o : tensor<8xf32>) symbol = "f" -> tensor<8xf32>
  return
}

// -----

func.func @negative_scalar_assert(%c: i32) {
  // expected-error @+1 {{'linalg_ext.scalar_assert' op operand #0 must be 1-bit signless integer, but got 'i32'}}
  "linalg_ext.scalar_assert"(%c) <{msg = "no"}> : (i32) -> ()
  return
}

// -----

func.func @negative_scalar_libdevice(%x: tensor<4xf32>) {
  // expected-error @+1 {{'linalg_ext.scalar_libdevice_call' op operand #0 must be variadic of signless integer or index or floating-point, but got 'tensor<4xf32>'}}
  %0 = linalg_ext.scalar_libdevice_call ins(%x : tensor<4xf32>) symbol = "f" -> f32
  return
}
