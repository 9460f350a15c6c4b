// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="emit=true" -split-input-file -verify-diagnostics

// Only a kernel has the pointer to the buffer.
tt.func private @helper() {
  // expected-error @+1 {{'probe.count' op expected a kernel or a function that is inlined into one, got the function 'helper'}}
  probe.count "helper"
  tt.return
}

tt.func public @kernel() {
  tt.call @helper() : () -> ()
  tt.return
}

// -----

// The pass has to know whose counter it reads.
tt.func public @region_without_a_target() {
  // expected-error @+1 {{'probe.region_begin' op expected a module with the attribute 'probe.target' that names a known target}}
  %h = probe.region_begin "r" : i64
  probe.region_end %h
  tt.return
}

// -----

module attributes {probe.target = "vulkan:1"} {
  tt.func public @clock_of_an_unknown_target(%p: !tt.ptr<i64>) {
    // expected-error @+1 {{'probe.clock' op expected a module with the attribute 'probe.target' that names a known target}}
    %t = probe.clock : i64
    tt.store %p, %t : !tt.ptr<i64>
    tt.return
  }
}

// -----

module attributes {probe.target = "cuda:90", probe.num_warps = 4 : i32, probe.warp_size = 32 : i32} {
  tt.func public @region_in_another_operation() {
    // expected-error @+1 {{'scf.execute_region' op expected no probe.region_end in this operation: regions are supported in functions, scf.for, scf.if and scf.while}}
    scf.execute_region {
      %h = probe.region_begin "r" : i64
      probe.region_end %h
      scf.yield
    }
    tt.return
  }
}

// -----

// A slot has 8 words and 8 for each argument.
tt.func public @launch_word_of_a_second_argument(%p: !tt.ptr<i64>) {
  // expected-error @+1 {{'probe.launch_word' op expected a word below 16, the size of the slot of 1 arguments, got 16}}
  %w = probe.launch_word 16 : i64
  tt.store %p, %w : !tt.ptr<i64>
  tt.return
}

// -----

tt.func public @failures_without_a_slot(%i: i32, %n: i64) {
  // expected-error @+1 {{'probe.failures' op expected a launch word in the kernel, by which it has a slot}}
  probe.failures %i, %n, %i messages ["a"] notes ["{}"] places [loc("a.py":1:2)]
  tt.return
}

// -----

tt.func public @outside_of_a_second_argument(%x: tensor<4xi64>) {
  // expected-error @+1 {{'probe.outside' op expected an argument below 1, got 1}}
  probe.outside %x, "view" {argument = 1 : i32, bytes = 4 : i32, probe.note = "{}"} : tensor<4xi64>
  tt.return
}
