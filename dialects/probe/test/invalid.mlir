// RUN: triton-ext-opt %s --load-extension=probe -split-input-file -verify-diagnostics

tt.func @count_without_a_name() {
  // expected-error @+1 {{'probe.count' op expected a name that is not empty}}
  probe.count ""
  tt.return
}

// -----

tt.func @count_with_a_number_as_mask(%i: i32) {
  // expected-error @+1 {{'probe.count' op operand #0 must be i1 or tensor of i1, but got 'i32'}}
  probe.count "c" mask(%i : i32)
  tt.return
}

// -----

tt.func @count_of_dynamic_shape(%m: tensor<?xi1>) {
  // expected-error @+1 {{'probe.count' op expected tensors of static shape, got 'tensor<?xi1>'}}
  probe.count "c" mask(%m : tensor<?xi1>)
  tt.return
}

// -----

tt.func @record_without_a_name(%i: i32) {
  // expected-error @+1 {{'probe.record' op expected a name that is not empty}}
  probe.record ""(%i : i32)
  tt.return
}

// -----

tt.func @record_of_two_shapes(%a: tensor<8xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'probe.record' op expected tensors of one shape, got 'tensor<8xf32>' and 'tensor<4xf32>'}}
  probe.record "r"(%a, %b : tensor<8xf32>, tensor<4xf32>)
  tt.return
}

// -----

tt.func @record_with_a_mask_of_another_shape(%a: tensor<8xf32>, %m: tensor<4xi1>) {
  // expected-error @+1 {{'probe.record' op expected tensors of one shape, got 'tensor<8xf32>' and 'tensor<4xi1>'}}
  probe.record "r"(%a : tensor<8xf32>) mask(%m : tensor<4xi1>)
  tt.return
}

// -----

tt.func @record_with_a_sign_too_many(%i: i32) {
  // expected-error @+1 {{'probe.record' op expected 'are_unsigned' to have one item for each of the 1 values, got 2}}
  probe.record "r"(%i : i32) {are_unsigned = array<i1: false, true>}
  tt.return
}

// -----

tt.func @check_without_a_sign(%c: i1, %i: i32) {
  // expected-error @+1 {{'probe.check' op expected 'are_unsigned' to have one item for each of the 1 values, got 0}}
  probe.check %c, "c"(%i : i32) {are_unsigned = array<i1>} : i1
  tt.return
}

// -----

tt.func @record_of_a_wide_number(%i: i128) {
  // expected-error @+1 {{'probe.record' op expected numbers of at most 64 bits or pointers, got 'i128'}}
  probe.record "r"(%i : i128)
  tt.return
}

// -----

tt.func @record_of_an_index(%i: index) {
  // expected-error @+1 {{'probe.record' op expected numbers of at most 64 bits or pointers, got 'index'}}
  probe.record "r"(%i : index)
  tt.return
}

// -----

tt.func @record_of_too_much(%i: i1) {
  // expected-error @+1 {{'probe.record' op expected at most 16 values, got 17}}
  probe.record "r"(%i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i :
                   i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1)
  tt.return
}

// -----

tt.func @check_of_a_number(%i: i32) {
  // expected-error @+1 {{'probe.check' op operand #0 must be i1 or tensor of i1, but got 'i32'}}
  probe.check %i, "c" : i32
  tt.return
}

// -----

tt.func @check_without_a_message(%c: i1) {
  // expected-error @+1 {{'probe.check' op expected a name that is not empty}}
  probe.check %c, "" : i1
  tt.return
}

// -----

tt.func @check_of_two_shapes(%c: tensor<8xi1>, %v: tensor<4xf32>) {
  // expected-error @+1 {{'probe.check' op expected tensors of one shape, got 'tensor<8xi1>' and 'tensor<4xf32>'}}
  probe.check %c, "c"(%v : tensor<4xf32>) : tensor<8xi1>
  tt.return
}

// -----

tt.func @check_of_a_wide_number(%c: i1, %i: i65) {
  // expected-error @+1 {{'probe.check' op expected numbers of at most 64 bits or pointers, got 'i65'}}
  probe.check %c, "c"(%i : i65) : i1
  tt.return
}

// -----

tt.func @minmax_without_a_name(%i: i32) {
  // expected-error @+1 {{'probe.minmax' op expected a name that is not empty}}
  probe.minmax ""(%i : i32)
  tt.return
}

// -----

tt.func @minmax_of_a_pointer(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{'probe.minmax' op expected integers of at most 64 bits or floats of 16 to 64 bits, got '!tt.ptr<f32>'}}
  probe.minmax "x"(%p : !tt.ptr<f32>)
  tt.return
}

// -----

tt.func @minmax_of_a_float_of_8_bits(%v: tensor<8xf8E5M2>) {
  // expected-error @+1 {{'probe.minmax' op expected integers of at most 64 bits or floats of 16 to 64 bits, got 'tensor<8xf8E5M2>'}}
  probe.minmax "x"(%v : tensor<8xf8E5M2>)
  tt.return
}

// -----

tt.func @minmax_with_a_mask_of_another_shape(%v: tensor<8xf32>, %m: tensor<4xi1>) {
  // expected-error @+1 {{'probe.minmax' op expected tensors of one shape, got 'tensor<8xf32>' and 'tensor<4xi1>'}}
  probe.minmax "x"(%v : tensor<8xf32>) mask(%m : tensor<4xi1>)
  tt.return
}

// -----

tt.func @stats_without_a_name(%i: i32) {
  // expected-error @+1 {{'probe.stats' op expected a name that is not empty}}
  probe.stats ""(%i : i32)
  tt.return
}

// -----

tt.func @stats_of_a_pointer(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{'probe.stats' op expected integers of at most 64 bits or floats of 16 to 64 bits, got '!tt.ptr<f32>'}}
  probe.stats "x"(%p : !tt.ptr<f32>)
  tt.return
}

// -----

tt.func @stats_of_a_float_of_8_bits(%v: tensor<8xf8E5M2>) {
  // expected-error @+1 {{'probe.stats' op expected integers of at most 64 bits or floats of 16 to 64 bits, got 'tensor<8xf8E5M2>'}}
  probe.stats "x"(%v : tensor<8xf8E5M2>)
  tt.return
}

// -----

tt.func @stats_with_a_mask_of_another_shape(%v: tensor<8xf32>, %m: tensor<4xi1>) {
  // expected-error @+1 {{'probe.stats' op expected tensors of one shape, got 'tensor<8xf32>' and 'tensor<4xi1>'}}
  probe.stats "x"(%v : tensor<8xf32>) mask(%m : tensor<4xi1>)
  tt.return
}

// -----

tt.func @histogram_without_a_name(%i: i32) {
  // expected-error @+1 {{'probe.histogram' op expected a name that is not empty}}
  probe.histogram ""(%i : i32) {bins = 10 : i32, lo = 0.0 : f64, hi = 1.0 : f64}
  tt.return
}

// -----

tt.func @histogram_without_bins(%i: i32) {
  // expected-error @+1 {{'probe.histogram' op expected 1 to 1024 bins, got 0}}
  probe.histogram "x"(%i : i32) {bins = 0 : i32, lo = 0.0 : f64, hi = 1.0 : f64}
  tt.return
}

// -----

tt.func @histogram_with_fewer_bins(%i: i32) {
  // expected-error @+1 {{'probe.histogram' op expected 1 to 1024 bins, got -1}}
  probe.histogram "x"(%i : i32) {bins = -1 : i32, lo = 0.0 : f64, hi = 1.0 : f64}
  tt.return
}

// -----

tt.func @histogram_with_many_bins(%i: i32) {
  // expected-error @+1 {{'probe.histogram' op expected 1 to 1024 bins, got 1025}}
  probe.histogram "x"(%i : i32) {bins = 1025 : i32, lo = 0.0 : f64, hi = 1.0 : f64}
  tt.return
}

// -----

tt.func @histogram_upside_down(%i: i32) {
  // expected-error @+1 {{'probe.histogram' op expected finite numbers lo < hi, got 0.000000e+00 and -1.000000e+00}}
  probe.histogram "x"(%i : i32) {bins = 10 : i32, lo = 0.0 : f64, hi = -1.0 : f64}
  tt.return
}

// -----

tt.func @histogram_without_end(%i: i32) {
  // expected-error @+1 {{'probe.histogram' op expected finite numbers lo < hi, got 0.000000e+00 and INF}}
  probe.histogram "x"(%i : i32) {bins = 10 : i32, lo = 0.0 : f64, hi = 0x7FF0000000000000 : f64}
  tt.return
}

// -----

tt.func @histogram_of_a_pointer(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{'probe.histogram' op expected integers of at most 64 bits or floats of 16 to 64 bits, got '!tt.ptr<f32>'}}
  probe.histogram "x"(%p : !tt.ptr<f32>) {bins = 10 : i32, lo = 0.0 : f64, hi = 1.0 : f64}
  tt.return
}

// -----

tt.func @histogram_with_a_mask_of_another_shape(%v: tensor<8xf32>, %m: tensor<4xi1>) {
  // expected-error @+1 {{'probe.histogram' op expected tensors of one shape, got 'tensor<8xf32>' and 'tensor<4xi1>'}}
  probe.histogram "x"(%v : tensor<8xf32>) mask(%m : tensor<4xi1>) {bins = 10 : i32, lo = 0.0 : f64, hi = 1.0 : f64}
  tt.return
}

// -----

tt.func @clock_of_another_type() {
  // expected-error @+1 {{'probe.clock' op result #0 must be 64-bit signless integer, but got 'i32'}}
  %t = probe.clock : i32
  tt.return
}

// -----

tt.func @region_without_a_name() {
  // expected-error @+1 {{'probe.region_begin' op expected a name that is not empty}}
  %h = probe.region_begin "" : i64
  tt.return
}

// -----

tt.func @region_whose_handle_is_a_number() -> i64 {
  // expected-error @+1 {{'probe.region_begin' op expected a handle that only probe.region_end uses, got a use by arith.addi}}
  %h = probe.region_begin "r" : i64
  %twice = arith.addi %h, %h : i64
  tt.return %twice : i64
}

// -----

tt.func @region_of_two_ends() {
  // expected-error @+1 {{'probe.region_begin' op expected one probe.region_end, got several}}
  %h = probe.region_begin "r" : i64
  probe.region_end %h
  probe.region_end %h
  tt.return
}

// -----

tt.func @region_without_a_beginning(%i: i64) {
  // expected-error @+1 {{'probe.region_end' op expected the handle of a probe.region_begin}}
  probe.region_end %i
  tt.return
}

// -----

tt.func @launch_word_that_is_negative() {
  // expected-error @+1 {{'probe.launch_word' op expected the number of a word, got -1}}
  %w = probe.launch_word -1 : i64
  tt.return
}

// -----

tt.func @check_with_a_number_as_note(%c: i1) {
  // expected-error @+1 {{'probe.check' op expected a string as 'probe.note', got 1 : i32}}
  probe.check %c, "c" {probe.note = 1 : i32} : i1
  tt.return
}

// -----

tt.func @failures_without_a_note(%i: i32, %n: i64) {
  // expected-error @+1 {{'probe.failures' op expected as many notes and places as messages, and at least one}}
  probe.failures %i, %n, %i messages ["a"] notes [] places [loc("a.py":1:2)]
  tt.return
}

// -----

tt.func @failures_without_a_place(%i: i32, %n: i64) {
  // expected-error @+1 {{'probe.failures' op expected a location as a place, got "a.py"}}
  probe.failures %i, %n, %i messages ["a"] notes ["{}"] places ["a.py"]
  tt.return
}

// -----

tt.func @promise_without_a_number(%v: tensor<4x8xi32>) {
  // expected-error @+1 {{'probe.promise' op expected a number for each dimension, got 1 for 'tensor<4x8xi32>'}}
  probe.promise "tt.divisibility" [4] %v : tensor<4x8xi32>
  tt.return
}

// -----

tt.func @outside_without_a_note(%x: tensor<4xi64>) {
  // expected-error @+1 {{'probe.outside' op expected a string as 'probe.note'}}
  probe.outside %x, "view" {argument = 0 : i32, bytes = 4 : i32} : tensor<4xi64>
  tt.return
}

// -----

tt.func @outside_of_two_shapes(%x: tensor<4xi64>, %on: tensor<8xi1>) {
  // expected-error @+1 {{'probe.outside' op expected tensors of one shape, got 'tensor<4xi64>' and 'tensor<8xi1>'}}
  probe.outside %x, "view" mask(%on : tensor<8xi1>) {argument = 0 : i32, bytes = 4 : i32, probe.note = "{}"} : tensor<4xi64>
  tt.return
}

// -----

tt.func @shadow_without_note(%x: i64) {
  // expected-error @+1 {{'probe.shadow' op expected a string as 'probe.note'}}
  probe.shadow %x, "uninit" {argument = 0 : i32, bytes = 4 : i32, how = 1 : i64} : i64
  tt.return
}

// -----

tt.func @shadow_of_a_number_too_few(%x: i64) {
  // expected-error @+1 {{'probe.shadow' op expected the numbers of the program and of a lock, or none, got 1}}
  probe.shadow %x, "race" numbers(%x) {argument = 0 : i32, bytes = 4 : i32, how = 1 : i64, probe.note = "{}"} : i64
  tt.return
}

// -----

tt.func @shadow_with_another_mask(%x: i64, %on: tensor<8xi1>) {
  // expected-error @+1 {{'probe.shadow' op expected a mask of the shape of the addresses, got 'tensor<8xi1>'}}
  probe.shadow %x, "uninit" mask(%on : tensor<8xi1>) {argument = 0 : i32, bytes = 4 : i32, how = 1 : i64, probe.note = "{}"} : i64
  tt.return
}
