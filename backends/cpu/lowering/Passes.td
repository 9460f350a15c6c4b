// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def AllowInliningPass
    : Pass<"triton-ext-cpu-allow-inlining", "::mlir::ModuleOp"> {
  let summary = "Let the inliner inline functions that are marked noinline";
  let description = [{
    Removes `noinline` from every Triton function. On a CPU, a call saves no
    registers, and tensors cannot be passed to a function.
  }];
}

def FuseMultiplyAddPass
    : Pass<"triton-ext-cpu-fuse-multiply-add", "::mlir::ModuleOp"> {
  let summary = "Fuse products and the sums that they are in";
  let description = [{
    Replaces `x * y + z`, `x * y - z` and `z - x * y` of f32 and f64 by one
    `math.fma`, which rounds once, also if the product has other uses. So the
    bits of a result depend on the operations that compute it, and not on what
    else the kernel does.

    With `lowered`, for the output of `triton-ext-cpu-lower-tiles`, it makes
    `llvm.intr.fma`, of products without other uses: functions like `exp` have
    products whose rounding error they compute.

    ```mlir
    %p = arith.mulf %x, %y : tensor<16xf32>
    %r = arith.addf %p, %z : tensor<16xf32>
    // becomes
    %r = math.fma %x, %y, %z : tensor<16xf32>
    ```
  }];
  let options = [
    Option<"isLowered", "lowered", "bool", /*default=*/"false",
           "Make `llvm.intr.fma`, and keep products that have other uses">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect"];
}

def LowerTilesPass : Pass<"triton-ext-cpu-lower-tiles", "::mlir::ModuleOp"> {
  let summary = "Lower Triton functions to loops over vectors";
  let description = [{
    Replaces each public Triton function by an `llvm.func` that runs one
    program, `<name>.program`, and one that runs a range of programs, which the
    runtime calls. Tensors become loops (`scf`) over vectors of at most 16
    elements (`arith`, `vector` types, `llvm`). Functions have to be inlined
    before.

    The module gets the attributes `triton_ext_cpu.scratch`, the bytes of
    scratch memory that a program needs, and `triton_ext_cpu.stored0`,
    `triton_ext_cpu.stored1` and so on: the arguments that the kernel may store
    through, 30 bits in each. It gets `triton_ext_cpu.waits` if a program may
    wait for another one: if it polls, or a while loop has an atomic operation
    or a volatile load.

    A `ttg.global_scratch_alloc` with `third_party_allocation` becomes one more
    argument, a pointer behind all others. `triton_ext_cpu.profile_scratch` and
    `triton_ext_cpu.profile_scratch_alignment` are the bytes that each program
    gets of it and their alignment.

    ```mlir
    tt.func public @increment(%x: !tt.ptr<f32>) { ... }
    // becomes
    llvm.func internal @increment.program(%x: !llvm.ptr, ..., %scratch: !llvm.ptr) {
      scf.for %i = %c0 to %c64 step %c16 : i64 {
        ...
        %v = llvm.load %p : !llvm.ptr -> vector<16xf32>
    ```
  }];
  let options = [
    Option<"vectorBytes", "vector-bytes", "int32_t", /*default=*/"32",
           "The bytes of a vector register: 64 with AVX-512, 32 with AVX, else 16">,
    Option<"hasFma", "has-fma", "bool", /*default=*/"true",
           "Whether the CPU has fused multiply-add">,
    Option<"dotUnits", "dot-units", "int32_t", /*default=*/"0",
           "What the CPU has for products of narrow elements, as a sum: 1 AVX2, 2 AVX512BW, 4 AVX-VNNI, 8 AVX512-VNNI, "
           "16 AVX512-BF16, 32 AMX-INT8, 64 AMX-BF16, 128 AMX-FP16, 256 AVX512-FP16">,
    Option<"isQuiet", "quiet", "bool", /*default=*/"false",
           "Leave a kernel that is not supported as it is, with the attribute triton_ext_cpu.refused on the module, "
           "instead of failing">,
    Option<"mostForTwoViews", "most-for-two-views", "int32_t", /*default=*/"6",
           "What a tensor may cost, in vector additions, that is recomputed where it is needed at several coordinates">,
    Option<"mostForReplication", "most-for-replication", "int32_t", /*default=*/"8",
           "What a tensor may cost that is recomputed in each iteration of a loop or for each element of a broadcast">,
    Option<"mostSharedBytes", "most-shared-bytes", "int32_t", /*default=*/"2097152",
           "The bytes of packed right operands that a thread keeps for its next programs; 0 if each program packs its own">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::scf::SCFDialect"];
}

def ClearModulePass
    : Pass<"triton-ext-cpu-clear-module", "::mlir::ModuleOp"> {
  let summary = "Erase everything that a module holds";
  let description = [{
    For modules that nobody needs any more. Triton's bindings never free a
    module, which would cost 50 KB for each compilation.
  }];
}
