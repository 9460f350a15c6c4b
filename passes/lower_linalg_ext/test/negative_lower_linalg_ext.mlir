// RUN: triton-linalg-opt %s -lower-linalg-ext -split-input-file -verify-diagnostics

func.func private @powf(f64) -> f64
func.func @other_type(%x: f32) -> f32 {
  // expected-error @+2 {{'powf' is called as a function of type '(f32, f32) -> f32', but is something else already}}
  // expected-error @+1 {{failed to legalize operation 'linalg_ext.scalar_libdevice_call'}}
  %0 = linalg_ext.scalar_libdevice_call ins(%x, %x : f32, f32) symbol = "powf" -> f32
  return %0 : f32
}

// -----

func.func @fits_no_register(%x: vector<4xf32>) {
  // expected-error @+1 {{failed to legalize operation 'aux.optimization_barrier'}}
  aux.optimization_barrier %x : vector<4xf32>
  return
}

// -----

func.func @for_a_gpu() {
  // expected-error @+1 {{'ttg.barrier' cannot be lowered: it is for a GPU}}
  ttg.barrier all
  return
}

// -----

func.func @of_triton(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  // expected-error @+1 {{'tt.reshape' cannot be lowered: it is Triton's (run -triton-to-linalg first)}}
  %0 = tt.reshape %x : tensor<4xf32> -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

// expected-error @+1 {{'func.func' cannot be lowered: it is on pointers of Triton's (run -triton-to-linalg first)}}
func.func @on_pointers(%p: !tt.ptr<f32>) {
  return
}

// -----

// expected-error @+1 {{'func.func' cannot be lowered: it is on pointers of Triton's (run -triton-to-linalg first)}}
func.func private @gives_pointers() -> tensor<4x!tt.ptr<f32>>

// -----

func.func @unknown_format(%x: f32) -> f8E4M3FNUZ {
  // expected-error @+2 {{rounding toward zero from 'f32' to 'f8E4M3FNUZ' is not supported}}
  // expected-error @+1 {{failed to legalize operation 'arith.truncf'}}
  %0 = arith.truncf %x toward_zero : f32 to f8E4M3FNUZ
  return %0 : f8E4M3FNUZ
}
