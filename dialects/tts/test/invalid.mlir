// RUN: triton-ext-opt %s --load-extension=tts -split-input-file -verify-diagnostics

tt.func @other_elements(%x: !tt.ptr<f32>) {
  // expected-error @+1 {{'tts.make_tptr' op expected pointers of type '!tt.ptr<f32>' as the base, got '!tt.ptr<f16>'}}
  %0 = tts.make_tptr %x to sizes: [4, 8], strides: [8, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<4x8x!tt.ptr<f16>>
  tt.return
}

// -----

tt.func @other_sizes(%x: !tt.ptr<f32>) {
  // expected-error @+1 {{'tts.make_tptr' op expected sizes [4, 8] as in the result type, got [4, 4]}}
  %0 = tts.make_tptr %x to sizes: [4, 4], strides: [8, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<4x8x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @few_strides(%x: !tt.ptr<f32>) {
  // expected-error @+1 {{'tts.make_tptr' op expected 2 strides, got 1}}
  %0 = tts.make_tptr %x to sizes: [4, 8], strides: [8], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<4x8x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @many_offsets(%x: !tt.ptr<f32>, %n: index) {
  // expected-error @+1 {{'tts.make_tptr' op expected 2 offsets, got 3}}
  %0 = tts.make_tptr %x to sizes: [4, 8], strides: [8, 1], offsets: [0, 0, %n], shape: [0, 0], order: [] : <f32> to tensor<4x8x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @no_shape(%x: !tt.ptr<f32>) {
  // expected-error @+1 {{'tts.make_tptr' op expected 2 numbers in shape, got 0}}
  %0 = tts.make_tptr %x to sizes: [4, 8], strides: [8, 1], offsets: [0, 0], shape: [], order: [] : <f32> to tensor<4x8x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @negative_shape(%x: !tt.ptr<f32>) {
  // expected-error @+1 {{'tts.make_tptr' op expected a shape of at least 0, got -1}}
  %0 = tts.make_tptr %x to sizes: [4, 8], strides: [8, 1], offsets: [0, 0], shape: [0, -1], order: [] : <f32> to tensor<4x8x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @order_twice(%x: !tt.ptr<f32>) {
  // expected-error @+1 {{'tts.make_tptr' op expected the order to be empty or to have each dimension once, got [1, 1]}}
  %0 = tts.make_tptr %x to sizes: [4, 8], strides: [8, 1], offsets: [0, 0], shape: [0, 0], order: [1, 1] : <f32> to tensor<4x8x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @scalar_result(%x: !tt.ptr<f32>) {
  // expected-error @+1 {{invalid kind of type specified: expected builtin.tensor, but found '!tt.ptr<f32>'}}
  %0 = tts.make_tptr %x to sizes: [4, 8], strides: [8, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to !tt.ptr<f32>
  tt.return
}

// -----

tt.func @missing_value(%x: !tt.ptr<f32>) {
  // expected-error @+1 {{'tts.make_tptr' op expected a value for each of the 1 dynamic strides, got 0}}
  %0 = "tts.make_tptr"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, order = array<i32>, sizes = array<i64: 4>, static_offsets = array<i64: 0>, static_shape = array<i64: 0>, static_strides = array<i64: -9223372036854775808>}> : (!tt.ptr<f32>) -> tensor<4x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @gather_dim(%x: !tt.ptr<f32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{'tts.make_gather_scatter_tptr' op expected gather_scatter_dim to be less than 2, got 2}}
  %0 = tts.make_gather_scatter_tptr %x to sizes: [4, 8] gather_scatter_dim: 2 gather_scatter_offset: %i, strides: [8, 1], offsets: [0, 0] : tensor<4xi32> <f32> to tensor<4x8x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @gather_offset(%x: !tt.ptr<f32>, %n: index, %i: tensor<4xi32>) {
  // expected-error @+1 {{'tts.make_gather_scatter_tptr' op expected the offset of dimension 0, which gathers, to be 0}}
  %0 = tts.make_gather_scatter_tptr %x to sizes: [4, 8] gather_scatter_dim: 0 gather_scatter_offset: %i, strides: [8, 1], offsets: [%n, 0] : tensor<4xi32> <f32> to tensor<4x8x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @gather_length(%x: !tt.ptr<f32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{'tts.make_gather_scatter_tptr' op expected a gather_scatter_offset of shape [8], got 'tensor<4xi32>'}}
  %0 = tts.make_gather_scatter_tptr %x to sizes: [4, 8] gather_scatter_dim: 1 gather_scatter_offset: %i, strides: [8, 1], offsets: [0, 0] : tensor<4xi32> <f32> to tensor<4x8x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @gather_mask(%x: !tt.ptr<f32>, %i: tensor<4xi32>, %w: tensor<8xi1>) {
  // expected-error @+1 {{'tts.make_gather_scatter_tptr' op expected a gather_scatter_mask of type 'tensor<4xi1>', got 'tensor<8xi1>'}}
  %0 = tts.make_gather_scatter_tptr %x to sizes: [4, 8] gather_scatter_dim: 0 gather_scatter_offset: %i gather_scatter_mask: %w, strides: [8, 1], offsets: [0, 0] : tensor<4xi32> tensor<8xi1> <f32> to tensor<4x8x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @gather_strides(%x: !tt.ptr<f32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{'tts.make_gather_scatter_tptr' op expected 2 strides, got 1}}
  %0 = tts.make_gather_scatter_tptr %x to sizes: [4, 8] gather_scatter_dim: 0 gather_scatter_offset: %i, strides: [8], offsets: [0, 0] : tensor<4xi32> <f32> to tensor<4x8x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @state_segments(%p: tensor<4x8x!tt.ptr<f32>>) {
  // expected-error @+1 {{'tts.get_structured_state' op expected resultSegmentSizes [1, 2, 2] for 'tensor<4x8x!tt.ptr<f32>>', got [1, 2, 1]}}
  %0:4 = "tts.get_structured_state"(%p) <{resultSegmentSizes = array<i32: 1, 2, 1>}> : (tensor<4x8x!tt.ptr<f32>>) -> (tensor<4x8x!tt.ptr<f32>>, index, index, index)
  tt.return
}

// -----

tt.func @state_results(%p: tensor<4x8x!tt.ptr<f32>>) {
  // expected-error @+1 {{'tts.get_structured_state' op expected 5 results, got 4}}
  %0:4 = "tts.get_structured_state"(%p) <{resultSegmentSizes = array<i32: 1, 2, 2>}> : (tensor<4x8x!tt.ptr<f32>>) -> (tensor<4x8x!tt.ptr<f32>>, index, index, index)
  tt.return
}

// -----

tt.func @state_input(%i: tensor<4xi32>) {
  // expected-error @+1 {{'tts.get_structured_state' op expected a first result of type 'tensor<4xi32>', got 'index'}}
  %0:3 = "tts.get_structured_state"(%i) <{resultSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4xi32>) -> (index, index, index)
  tt.return
}

// -----

tt.func @state_offsets(%i: tensor<4xi32>) {
  // expected-error @+1 {{'tts.get_structured_state' op expected offsets and strides of type 'index', got 'i32'}}
  %0:3 = "tts.get_structured_state"(%i) <{resultSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4xi32>) -> (tensor<4xi32>, index, i32)
  tt.return
}

// -----

tt.func @state_base_of_integers(%i: tensor<4xi32>) {
  // expected-error @+1 {{'tts.get_structured_state' op expected no base for 'tensor<4xi32>'}}
  %0:4 = "tts.get_structured_state"(%i) <{resultSegmentSizes = array<i32: 1, 1, 1, 1>}> : (tensor<4xi32>) -> (tensor<4xi32>, index, index, !tt.ptr<f32>)
  tt.return
}

// -----

tt.func @state_base(%x: !tt.ptr<f32>) {
  // expected-error @+1 {{'tts.get_structured_state' op expected a base of type '!tt.ptr<f32>', got '!tt.ptr<f16>'}}
  %0:3 = "tts.get_structured_state"(%x) <{resultSegmentSizes = array<i32: 1, 1, 0, 1>}> : (!tt.ptr<f32>) -> (!tt.ptr<f32>, index, !tt.ptr<f16>)
  tt.return
}

// -----

tt.func @load_result(%p: tensor<4x8x!tt.ptr<f32>>) {
  // expected-error @+1 {{'tts.load' op expected a result of type 'tensor<4x8xf32>', got 'tensor<4x8xf16>'}}
  %0 = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<4x8x!tt.ptr<f32>>) -> tensor<4x8xf16>
  tt.return
}

// -----

tt.func @load_dims(%p: tensor<4x8x!tt.ptr<f32>>) {
  // expected-error @+1 {{'tts.load' op expected 2 mask_dims, got 1}}
  %0 = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64: 4>}> : (tensor<4x8x!tt.ptr<f32>>) -> tensor<4x8xf32>
  tt.return
}

// -----

tt.func @load_values(%n: index, %p: tensor<4x8x!tt.ptr<f32>>) {
  // expected-error @+1 {{'tts.load' op expected a value for each of the 0 dynamic mask_dims, got 1}}
  %0 = "tts.load"(%p, %n) <{operandSegmentSizes = array<i32: 1, 1, 0>, static_mask_dims = array<i64>}> : (tensor<4x8x!tt.ptr<f32>>, index) -> tensor<4x8xf32>
  tt.return
}

// -----

tt.func @load_negative(%p: tensor<4x8x!tt.ptr<f32>>) {
  // expected-error @+1 {{'tts.load' op expected mask_dims of at least 0, got -1}}
  %0 = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64: 4, -1>}> : (tensor<4x8x!tt.ptr<f32>>) -> tensor<4x8xf32>
  tt.return
}

// -----

tt.func @load_other(%p: tensor<4x8x!tt.ptr<f32>>, %d: f64) {
  // expected-error @+1 {{'tts.load' op expected an other of type 'f32', got 'f64'}}
  %0 = "tts.load"(%p, %d) <{operandSegmentSizes = array<i32: 1, 0, 1>, static_mask_dims = array<i64>}> : (tensor<4x8x!tt.ptr<f32>>, f64) -> tensor<4x8xf32>
  tt.return
}

// -----

tt.func @load_scalar(%x: !tt.ptr<f32>) {
  // expected-error @+1 {{'tts.load' op operand #0 must be ranked tensor of ptr values, but got '!tt.ptr<f32>'}}
  %0 = "tts.load"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (!tt.ptr<f32>) -> f32
  tt.return
}

// -----

tt.func @masked_pointers(%x: !tt.ptr<f32>, %i: tensor<4xi32>, %m: tensor<4xi1>) {
  %q = tts.make_gather_scatter_tptr %x to sizes: [4, 8] gather_scatter_dim: 0 gather_scatter_offset: %i gather_scatter_mask: %m, strides: [8, 1], offsets: [0, 0] : tensor<4xi32> tensor<4xi1> <f32> to tensor<4x8x!tt.ptr<f32>>
  // expected-error @+1 {{'tts.load' op expected mask_dims to be 0 in dimension 0, where the pointers have a mask}}
  %0 = "tts.load"(%q) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64: 4, 4>}> : (tensor<4x8x!tt.ptr<f32>>) -> tensor<4x8xf32>
  tt.return
}

// -----

tt.func @store_value(%p: tensor<4x8x!tt.ptr<f32>>, %h: tensor<4x8xf16>) {
  // expected-error @+1 {{'tts.store' op expected a value of type 'tensor<4x8xf32>', got 'tensor<4x8xf16>'}}
  "tts.store"(%p, %h) <{static_mask_dims = array<i64>}> : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf16>) -> ()
  tt.return
}

// -----

tt.func @gather_result(%x: !tt.ptr<f32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{'tts.gather' op expected a result of type 'tensor<4xf32>', got 'f32'}}
  %0 = tts.gather %x[%i] : (<f32>, tensor<4xi32>) -> f32
  tt.return
}

// -----

tt.func @gather_default(%x: !tt.ptr<f32>, %i: tensor<4xi32>, %m: tensor<4xi1>, %d: f64) {
  // expected-error @+1 {{'tts.gather' op failed to verify that the default has the type of an element}}
  %0 = "tts.gather"(%x, %i, %m, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> : (!tt.ptr<f32>, tensor<4xi32>, tensor<4xi1>, f64) -> tensor<4xf32>
  tt.return
}

// -----

tt.func @scatter_value(%x: !tt.ptr<f32>, %i: tensor<4xi32>, %v: tensor<4x8xf32>) {
  // expected-error @+1 {{'tts.scatter' op expected a value of type 'tensor<4xf32>', got 'tensor<4x8xf32>'}}
  tts.scatter %v into %x[%i] : tensor<4x8xf32> into (<f32>, tensor<4xi32>)
  tt.return
}

// -----

tt.func @scatter_mask(%x: !tt.ptr<f32>, %i: tensor<4xi32>, %w: tensor<8xi1>, %e: tensor<4xf32>) {
  // expected-error @+1 {{'tts.scatter' op failed to verify that the mask has the shape of the offset}}
  "tts.scatter"(%x, %i, %e, %w) : (!tt.ptr<f32>, tensor<4xi32>, tensor<4xf32>, tensor<8xi1>) -> ()
  tt.return
}

// -----

tt.func @atomic_kind(%p: tensor<4x8x!tt.ptr<f32>>, %v: tensor<4x8xf32>) {
  // expected-error @+1 {{'tts.atomic_rmw' op expected integers for add, got 'f32'}}
  %0 = tts.atomic_rmw add, relaxed, gpu, %p, %v : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>) -> tensor<4x8xf32>
  tt.return
}

// -----

tt.func @atomic_float(%x: !tt.ptr<f32>, %i: tensor<4xi32>) {
  %z = tt.bitcast %x : !tt.ptr<f32> -> !tt.ptr<i32>
  // expected-error @+1 {{'tts.atomic_rmw' op expected floats for fadd, got 'i32'}}
  %0 = tts.atomic_rmw fadd, relaxed, gpu, %i into %z[%i] : tensor<4xi32> into (<i32>, tensor<4xi32>) -> tensor<4xi32>
  tt.return
}

// -----

tt.func @atomic_word(%p: tensor<4x8x!tt.ptr<f32>>, %v: tensor<4x8xf32>) {
  // expected-error @+1 {{expected a word for 'sem', got 'strong'}}
  %0 = tts.atomic_rmw fadd, strong, gpu, %p, %v : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>) -> tensor<4x8xf32>
  tt.return
}

// -----

tt.func @atomic_operands(%x: !tt.ptr<f32>, %i: tensor<4xi32>, %e: tensor<4xf32>) {
  // expected-error @+1 {{expected 1 operand(s) before 'into', got 2}}
  %0 = tts.atomic_rmw fadd, relaxed, gpu, %e, %e into %x[%i] : tensor<4xf32> into (<f32>, tensor<4xi32>) -> tensor<4xf32>
  tt.return
}

// -----

tt.func @atomic_result(%x: !tt.ptr<f32>, %i: tensor<4xi32>, %e: tensor<4xf32>) {
  // expected-error @+1 {{'tts.atomic_rmw' op expected a result of type 'tensor<4xf32>', got 'f32'}}
  %0 = tts.atomic_rmw fadd, relaxed, gpu, %e into %x[%i] : tensor<4xf32> into (<f32>, tensor<4xi32>) -> f32
  tt.return
}

// -----

tt.func @atomic_scalar(%x: !tt.ptr<f32>, %s: f32) {
  // expected-error @+1 {{'tts.atomic_rmw' op expected a tensor of pointers, or a pointer and an offset, got '!tt.ptr<f32>'}}
  %0 = tts.atomic_rmw fadd, relaxed, gpu, %x, %s : (!tt.ptr<f32>, f32) -> f32
  tt.return
}

// -----

tt.func @atomic_mask_of_tensor(%p: tensor<4x8x!tt.ptr<f32>>, %v: tensor<4x8xf32>, %m: tensor<4xi1>) {
  // expected-error @+1 {{'tts.atomic_rmw' op expected no mask for a tensor of pointers, but mask_dims}}
  %0 = "tts.atomic_rmw"(%p, %v, %m) <{atomic_rmw_op = 5 : i32, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>, scope = 1 : i32, sem = 1 : i32, static_mask_dims = array<i64>}> : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>, tensor<4xi1>) -> tensor<4x8xf32>
  tt.return
}

// -----

tt.func @atomic_dims_with_offset(%x: !tt.ptr<f32>, %i: tensor<4xi32>, %e: tensor<4xf32>) {
  // expected-error @+1 {{'tts.atomic_rmw' op expected no mask_dims with an offset, but a mask}}
  %0 = tts.atomic_rmw fadd, relaxed, gpu, %e into %x[%i] {static_mask_dims = array<i64: 4>} : tensor<4xf32> into (<f32>, tensor<4xi32>) -> tensor<4xf32>
  tt.return
}

// -----

tt.func @cas_operands(%p: tensor<4x8x!tt.ptr<f32>>, %v: tensor<4x8xf32>) {
  // expected-error @+1 {{expected 3 operand(s), got 2}}
  %0 = tts.atomic_cas relaxed, gpu, %p, %v : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>) -> tensor<4x8xf32>
  tt.return
}

// -----

tt.func @cas_compared(%p: tensor<4x8x!tt.ptr<f32>>, %v: tensor<4x8xf32>, %h: tensor<4x8xf16>) {
  // expected-error @+1 {{'tts.atomic_cas' op expected values to compare of type 'tensor<4x8xf32>', got 'tensor<4x8xf16>'}}
  %0 = tts.atomic_cas relaxed, gpu, %p, %h, %v : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf16>, tensor<4x8xf32>) -> tensor<4x8xf32>
  tt.return
}

// -----

tt.func @cas_form(%i: tensor<4xi32>, %p: tensor<4x8x!tt.ptr<f32>>, %v: tensor<4x8xf32>) {
  // expected-error @+1 {{'tts.atomic_cas' op expected a tensor of pointers, or a pointer and an offset, got 'tensor<4x8x!tt.ptr<f32>>' and an offset}}
  %0 = "tts.atomic_cas"(%p, %v, %v, %i) <{scope = 1 : i32, sem = 1 : i32}> : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  tt.return
}

// -----

tt.func @three_bounds(%p: tensor<4x8x!tt.ptr<f32>>, %v: tensor<4x8xf32>) {
  // expected-error @+1 {{'tts.store' op expected 2 mask_dims, got 3}}
  "tts.store"(%p, %v) <{static_mask_dims = array<i64: 4, 8, 1>}> : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>) -> ()
  tt.return
}

// -----

tt.func @begin_with_a_mask(%x: !tt.ptr<f32>, %rows: tensor<8xi32>, %mask: tensor<8xi1>, %v: tensor<8x16xf32>) {
  %p = tts.make_gather_scatter_tptr %x to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %rows
      gather_scatter_mask: %mask, strides: [100, 1], offsets: [0, 0] : tensor<8xi32> tensor<8xi1> <f32> to tensor<8x16x!tt.ptr<f32>>
  // expected-error @+1 {{'tts.store' op expected mask_dims to be 0 in dimension 0, where the pointers have a mask}}
  "tts.store"(%p, %v) <{static_mask_dims = array<i64: 0, 16, 1, 0>}> : (tensor<8x16x!tt.ptr<f32>>, tensor<8x16xf32>) -> ()
  tt.return
}
