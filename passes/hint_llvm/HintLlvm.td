// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def HintLlvmPass : Pass<"triton-ext-hint-llvm"> {
  let summary = "Tell LLVM how to optimise this kernel";
  let description = [{
    Gives the functions and loops of one kernel what `clang` and `opt` take as
    options: attributes and loop metadata, which LLVM's optimiser and its code
    generator read. An option of LLVM's command line (`-mllvm`) would act on all
    kernels that the process compiles at that time.

    ```llvm
    br i1 %more, label %loop, label %exit
    ; with unroll=4 becomes
    br i1 %more, label %loop, label %exit, !llvm.loop !0
    !0 = distinct !{!0, !1}
    !1 = !{!"llvm.loop.unroll.count", i32 4}
    ```

    Place the pass at the start of the stage `llvm`. `unroll` is for innermost
    loops; those that ask for something themselves are left as they are.
    `vector-width` is for x86: wider operations are split into such of that
    width. A function that passes vectors to other functions is not changed,
    because these expect them in registers of a certain width.
  }];
  let options = [
    Option<"unroll", "unroll", "int64_t", /*default=*/"0",
           "How often innermost loops are unrolled, 1 for not at all; 0: LLVM decides">,
    Option<"vectorWidth", "vector-width", "int64_t", /*default=*/"0",
           "The most bits of a vector in registers, 128, 256 or 512; 0: as the processor has">,
    Option<"small", "small", "bool", /*default=*/"false",
           "Prefer small code to fast code (attribute optsize)">,
    Option<"vectorize", "vectorize", "bool", /*default=*/"true",
           "Whether LLVM may vectorize loops of scalars">,
  ];
}
