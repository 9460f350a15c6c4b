// RUN: triton-ext-opt %s --load-extension=aux -split-input-file -verify-diagnostics

func.func @negative_view_size(%p: !llvm.ptr) {
  // expected-error @+1 {{'aux.view' op expected size of dimension 1 to be 8 as in the result type, got 4}}
  %0 = aux.view %p to offset: [0], sizes: [2, 4], strides: [8, 1] : !llvm.ptr to memref<2x8xf32>
  return
}

// -----

func.func @negative_view_dynamic_size(%p: !llvm.ptr, %n: index) {
  // expected-error @+1 {{'aux.view' op expected size of dimension 0 to be 8 as in the result type, got a value}}
  %0 = aux.view %p to offset: [0], sizes: [%n], strides: [1] : !llvm.ptr to memref<8xf32>
  return
}

// -----

func.func @negative_view_below_zero(%p: !llvm.ptr) {
  // expected-error @+1 {{expected sizes to be non-negative, but got -3}}
  %0 = aux.view %p to offset: [0], sizes: [-3], strides: [1] : !llvm.ptr to memref<?xf32>
  return
}

// -----

func.func @negative_view_stride(%p: !llvm.ptr) {
  // expected-error @+1 {{'aux.view' op expected stride of dimension 0 to be 1 as in the result type, got 2}}
  %0 = aux.view %p to offset: [0], sizes: [8], strides: [2] : !llvm.ptr to memref<8xf32>
  return
}

// -----

func.func @negative_view_offset(%p: !llvm.ptr) {
  // expected-error @+1 {{'aux.view' op expected offset 0 as in the result type, got 7}}
  %0 = aux.view %p to offset: [7], sizes: [8], strides: [1] : !llvm.ptr to memref<8xf32>
  return
}

// -----

func.func @negative_view_rank(%p: !llvm.ptr) {
  // expected-error @+1 {{expected mixed sizes rank to match mixed strides rank (2 vs 1)}}
  %0 = aux.view %p to offset: [0], sizes: [8, 8], strides: [1] : !llvm.ptr to memref<8xf32>
  return
}

// -----

func.func @negative_view_two_offsets(%p: !llvm.ptr) {
  // expected-error @+1 {{expected 1 offset values, got 2}}
  %0 = aux.view %p to offset: [0, 0], sizes: [8, 8], strides: [8, 1] : !llvm.ptr to memref<8x8xf32>
  return
}

// -----

func.func @negative_view_of_integer(%p: i64) {
  // expected-error @+1 {{'aux.view' op operand #0 must be LLVM pointer type, but got 'i64'}}
  %0 = aux.view %p to offset: [0], sizes: [8], strides: [1] : i64 to memref<8xf32>
  return
}

// -----

func.func @negative_store_indices(%v: f32, %m: memref<2x2xf32>, %i: index) {
  // expected-error @+1 {{'aux.store' op expected an index for each dimension of 'memref<2x2xf32>', got 1}}
  aux.store %v, %m[%i] : memref<2x2xf32>
  return
}

// -----

func.func @negative_store_type(%v: f16, %m: memref<2xf32>, %i: index) {
  // expected-error @+1 {{'aux.store' op failed to verify that type of the value to be that of the elements}}
  "aux.store"(%v, %m, %i) : (f16, memref<2xf32>, index) -> ()
  return
}

// -----

func.func @negative_print_result(%m: memref<4xf32>) {
  // expected-error @+1 {{'aux.print' op expected no result for 'memref<4xf32>'}}
  %0 = aux.print(%m : memref<4xf32>) -> (tensor<4xf32>)
  return
}

// -----

func.func @negative_print_result_type(%t: tensor<4xf32>) {
  // expected-error @+1 {{'aux.print' op expected a result of type 'tensor<4xf32>', got 'tensor<8xf32>'}}
  %0 = aux.print(%t : tensor<4xf32>) -> (tensor<8xf32>)
  return
}

// -----

func.func @negative_scalar_print_of_nothing() {
  // expected-error @+1 {{'aux.scalar.print' op expected a value or a format}}
  aux.scalar.print
  return
}

// -----

func.func @negative_conversion_of_nothing() {
  // expected-error @+1 {{'aux.scalar.print' op expected a value for the conversion in "100%% of %d"}}
  aux.scalar.print {format = "100%% of %d"}
  return
}

// -----

// A conversion without a value, for another type, or that reads or writes memory must not reach printf.
func.func @negative_integer_of_float(%f: f32) {
  // expected-error @+1 {{'aux.scalar.print' op expected a conversion of 'f32' in "%d" (one of %f, %F, %e, %E, %g, %G, %a, %A; %% for a percent sign), got %d}}
  aux.scalar.print(%f : f32) {format = "%d"}
  return
}

// -----

func.func @negative_float_of_integer(%i: i32) {
  // expected-error @+1 {{'aux.scalar.print' op expected a conversion of 'i32' in "x = %8.3f" (one of %d, %i, %u, %o, %x, %X, %c; %% for a percent sign), got %8.3f}}
  aux.scalar.print(%i : i32) {format = "x = %8.3f"}
  return
}

// -----

func.func @negative_two_conversions(%i: i32) {
  // expected-error @+1 {{'aux.scalar.print' op expected one conversion at most in "%d%% %d", got 2}}
  aux.scalar.print(%i : i32) {format = "%d%% %d"}
  return
}

// -----

func.func @negative_string(%p: !llvm.ptr) {
  // expected-error @+1 {{got %s}}
  aux.scalar.print(%p : !llvm.ptr) {format = "%s"}
  return
}

// -----

func.func @negative_number_of_characters(%p: !llvm.ptr) {
  // expected-error @+1 {{got %n}}
  aux.scalar.print(%p : !llvm.ptr) {format = "%n"}
  return
}

// -----

func.func @negative_long_number_of_characters(%i: i64) {
  // expected-error @+1 {{got %lln}}
  aux.scalar.print(%i : i64) {format = "%lln"}
  return
}

// -----

func.func @negative_width_from_arguments(%i: i32) {
  // expected-error @+1 {{got %*}}
  aux.scalar.print(%i : i32) {format = "%*d"}
  return
}

// -----

func.func @negative_precision_from_arguments(%m: memref<4xf32>) {
  // expected-error @+1 {{'aux.print' op expected a conversion of 'f32' in "%.*f"}}
  aux.print(%m : memref<4xf32>) {format = "%.*f"}
  return
}

// -----

func.func @negative_position(%i: i32) {
  // expected-error @+1 {{got %1$}}
  aux.scalar.print(%i : i32) {format = "%1$d"}
  return
}

// -----

func.func @negative_unfinished(%i: i32) {
  // expected-error @+1 {{in "100%" (one of %d, %i, %u, %o, %x, %X, %c; %% for a percent sign), got %}}
  aux.scalar.print(%i : i32) {format = "100%"}
  return
}

// -----

func.func @negative_length(%f: f64) {
  // expected-error @+1 {{got %Lf}}
  aux.scalar.print(%f : f64) {format = "%Lf"}
  return
}

// -----

func.func @negative_percent_without_value() {
  // expected-error @+1 {{'aux.scalar.print' op expected a value for the conversion in "100%"}}
  aux.scalar.print {format = "100%"}
  return
}

// -----

func.func @negative_wide_integer(%t: tensor<4xi128>) {
  // expected-error @+1 {{'aux.print' op expected integers, floats of at most 64 bits or pointers to print, got 'i128'}}
  aux.print(%t : tensor<4xi128>)
  return
}

// -----

func.func @negative_scalar_print_of_tensor(%t: tensor<4xf32>) {
  // expected-error @+1 {{'aux.scalar.print' op operand #0 must be}}
  aux.scalar.print(%t : tensor<4xf32>)
  return
}

// -----

func.func @negative_barrier() {
  // expected-error @+1 {{'aux.optimization_barrier' op requires a single operand}}
  "aux.optimization_barrier"() : () -> ()
  return
}

// -----

func.func @negative_bitcast_width(%a: i32) {
  // expected-error @+1 {{'aux.bitcast_ext' op expected integers, floats or pointers of one width, got 'i32' and '!llvm.ptr'}}
  %0 = aux.bitcast_ext %a : i32 to !llvm.ptr
  return
}

// -----

func.func @negative_bitcast_shape(%a: tensor<4xi32>) {
  // expected-error @+1 {{'aux.bitcast_ext' op expected scalars or ranked tensors of one shape, got 'tensor<4xi32>' and 'tensor<8xf32>'}}
  %0 = aux.bitcast_ext %a : tensor<4xi32> to tensor<8xf32>
  return
}

// -----

func.func @negative_width(%a: tensor<4xi1>, %b: tensor<4xi32>) {
  // expected-error @+1 {{'aux.bitcast_ext' op expected scalars or ranked tensors of one shape, got 'tensor<4xi32>' and 'tensor<128xi1>'}}
  %0 = aux.bitcast_ext %b : tensor<4xi32> to tensor<128xi1>
  return
}

// -----

func.func @negative_bits(%a: tensor<4xi24>) {
  // expected-error @+1 {{'aux.bitcast_ext' op expected integers, floats or pointers of one width, or of whole bytes, got 'tensor<4xi24>' and 'tensor<4xi16>'}}
  %0 = aux.bitcast_ext %a : tensor<4xi24> to tensor<4xi16>
  return
}

// -----

func.func @negative_count(%a: tensor<4x4xi32>) {
  // expected-error @+1 {{'aux.bitcast_ext' op expected tensors that have as many bits along the innermost dimension, and as many elements along the others, got 'tensor<4x4xi32>' and 'tensor<8x4xi16>'}}
  %0 = aux.bitcast_ext %a : tensor<4x4xi32> to tensor<8x4xi16>
  return
}

// -----

func.func @negative_dynamic_count(%a: tensor<4xi32>) {
  // expected-error @+1 {{'aux.bitcast_ext' op expected tensors that have as many bits along the innermost dimension, and as many elements along the others, got 'tensor<4xi32>' and 'tensor<?xi16>'}}
  %0 = aux.bitcast_ext %a : tensor<4xi32> to tensor<?xi16>
  return
}

// -----

func.func @negative_offsets(%m: memref<4x4xi8>, %i: index) {
  // expected-error @+1 {{'aux.print' op expected an offset for each dimension of 'memref<4x4xi8>', got 1}}
  aux.print(%m : memref<4x4xi8>) at [%i]
  return
}

// -----

func.func @negative_whole(%m: memref<4x4xi8>, %i: index) {
  // expected-error @+1 {{'aux.print' op expected a whole of 2 dimensions, got 1}}
  aux.print(%m : memref<4x4xi8>) at [%i, %i] {whole = array<i64: 8>}
  return
}
