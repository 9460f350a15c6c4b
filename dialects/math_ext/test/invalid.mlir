// RUN: triton-ext-opt %s --load-extension=math_ext -split-input-file -verify-diagnostics

func.func @negative_float(%a: f32) {
  // expected-error @+1 {{'math_ext.mulhiui' op operand #0 must be signless-integer, but got 'f32'}}
  %0 = math_ext.mulhiui %a, %a : f32
  return
}

// -----

func.func @negative_two_types(%a: i32, %b: i64) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "math_ext.mulhiui"(%a, %b) : (i32, i64) -> i32
  return
}
