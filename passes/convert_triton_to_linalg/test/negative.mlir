// RUN: triton-linalg-opt %s -convert-triton-to-linalg -split-input-file -verify-diagnostics

tt.func @negative_asm(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.elementwise_inline_asm' cannot be converted to linalg: the assembly is that of one kind of processor}}
  %0 = tt.elementwise_inline_asm "shl.b32 $0, $0, 3;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<8xf32> -> tensor<8xf32>
  tt.return
}

// -----

tt.func @negative_extern(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.extern_elementwise' cannot be converted to linalg: the function has effects}}
  %0 = tt.extern_elementwise %x {libname = "", libpath = "", pure = false, symbol = "__nv_sinf"} : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @negative_unknown_size(%x: f32, %p: tensor<?x!tt.ptr<f32>>) {
  // expected-error @+1 {{'tt.splat' cannot be converted to linalg: a size of its tensors is not known}}
  %0 = tt.splat %x : f32 -> tensor<?xf32>
  // expected-error @+1 {{'tt.store' cannot be converted to linalg: a size of its tensors is not known}}
  tt.store %p, %0 : tensor<?x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @negative_volatile(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{'tt.load' cannot be converted to linalg: no structured load is volatile}}
  %0 = tt.load %p {isVolatile = true} : !tt.ptr<f32>
  tt.return
}

// -----

// expected-error @+1 {{'tt.func' cannot be converted to linalg: an argument is neither a pointer nor a number nor a tensor (tensor descriptors: run -triton-rewrite-tensor-descriptor-to-pointer first)}}
tt.func @negative_descriptor(%d: !tt.tensordesc<8x8xf32>, %i: i32) {
  // expected-error @+1 {{'tt.descriptor_load' cannot be converted to linalg: tensor descriptors have to be pointers (run -triton-rewrite-tensor-descriptor-to-pointer first)}}
  %0 = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<8x8xf32> -> tensor<8x8xf32>
  tt.return
}

// -----

// There is an error for each operation, not only for the first.
tt.func @negative_two(%p: !tt.ptr<i32>) {
  // expected-error @+1 {{'tt.load' cannot be converted to linalg: no structured load is volatile}}
  %0 = tt.load %p {isVolatile = true} : !tt.ptr<i32>
  // expected-error @+1 {{'tt.load' cannot be converted to linalg: no structured load is volatile}}
  %1 = tt.load %p {isVolatile = true} : !tt.ptr<i32>
  tt.return
}

// -----

tt.func @negative_map(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.map_elementwise' cannot be converted to linalg: it maps several elements at a time}}
  %0 = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.map_elementwise.return %a, %b : f32, f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @negative_dot_scaled(%a: tensor<32x64xi8>, %as: tensor<32x2xi8>, %b: tensor<64x32xi8>, %c: tensor<32x32xf32>) {
  // expected-error @+1 {{'tt.dot_scaled' cannot be converted to linalg: no type has the formats e2m3 and e3m2}}
  %0 = tt.dot_scaled %a scale %as, %b, %c lhs = e2m3 rhs = e3m2 {fastMath = false} : tensor<32x64xi8>, tensor<32x2xi8> * tensor<64x32xi8> -> tensor<32x32xf32>
  tt.return
}

// -----

tt.func @negative_map_body(%x: tensor<8xi32>) {
  // expected-error @+1 {{'tt.map_elementwise' cannot be converted to linalg: its body has control flow}}
  %0 = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: i32):
    %c = arith.cmpi slt, %a, %a : i32
    cf.cond_br %c, ^yes, ^no
  ^yes:
    tt.map_elementwise.return %a : i32
  ^no:
    tt.map_elementwise.return %a : i32
  }) : (tensor<8xi32>) -> tensor<8xi32>
  tt.return
}

// -----

#layout = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @negative_layouts(%x: tensor<128xf32, #layout>) {
    // expected-error @+1 {{'arith.addf' cannot be converted to linalg: its tensors have layouts; linalg is made of ttir, not of ttgir}}
    %0 = arith.addf %x, %x : tensor<128xf32, #layout>
    %1 = arith.addf %0, %x : tensor<128xf32, #layout>
    tt.return
  }
}

// -----

tt.func @negative_gpu(%p: !tt.ptr<f32>, %x: f32) -> i32 {
  // expected-error @+1 {{'ttg.warp_id' cannot be converted to linalg: it is for a GPU}}
  %0 = ttg.warp_id
  // A barrier is not refused.
  ttg.barrier all
  tt.return %0 : i32
}

// -----

// expected-error @+1 {{'func.func' cannot be converted to linalg: it has arguments or results that are Triton's pointers or descriptors (make it a tt.func)}}
func.func @negative_function(%p: !tt.ptr<f32>) {
  return
}

// -----

tt.func @negative_atomic_max(%p: !tt.ptr<f32>, %x: f32) {
  // expected-error @+1 {{'tt.atomic_rmw' cannot be converted to linalg: of floats there are only the atomics fadd and exch (tl.atomic_max and tl.atomic_min take their bits as integers)}}
  %0 = tt.atomic_rmw max, acq_rel, gpu, %p, %x : (!tt.ptr<f32>, f32) -> f32
  tt.return
}

// -----

tt.func @negative_atomic_fadd(%p: !tt.ptr<i32>, %x: i32) {
  // expected-error @+1 {{'tt.atomic_rmw' cannot be converted to linalg: fadd takes floats only; the operation for integers is add}}
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %x : (!tt.ptr<i32>, i32) -> i32
  tt.return
}
