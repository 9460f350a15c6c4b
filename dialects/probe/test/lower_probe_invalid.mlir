// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="emit=true" -verify-diagnostics

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
