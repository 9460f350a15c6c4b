// SPDX-License-Identifier: Apache-2.0
//
// PTX's special registers: those of the grid are operations of Triton, and the
// clocks are assembly of x86-64.

#include "Emitter.h"

#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
namespace tt = mlir::triton;

/// Returns what assembly of x86-64 computes, each time that it runs.
static Value assembled(ImplicitLocOpBuilder &b, StringRef text,
                       StringRef constraints, Type type) {
  auto clock = tt::ElementwiseInlineAsmOp::create(
      b, TypeRange{type}, text, constraints, /*pure=*/false,
      /*packed_element=*/1, ValueRange());
  clock->setAttr("target", b.getStringAttr("x86-64"));
  return clock->getResult(0);
}

Value mlir::triton_ext::convert_ptx_to_arith::specialRegister(
    ImplicitLocOpBuilder &b, StringRef name, unsigned bits) {
  Type type = b.getIntegerType(bits);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  };
  StringRef axis = name;
  bool isCount = axis.consume_front("%nctaid.");
  if (bits == 32 && (isCount || axis.consume_front("%ctaid."))) {
    std::optional<tt::ProgramIDDim> dim;
    if (axis == "x" || axis == "y" || axis == "z")
      dim = tt::ProgramIDDim(axis[0] - 'x');
    if (!dim)
      return {};
    return isCount ? Value(tt::GetNumProgramsOp::create(b, *dim))
                   : Value(tt::GetProgramIdOp::create(b, *dim));
  }
  bool hasAxis = axis.consume_back(".x") || axis.consume_back(".y") ||
                 axis.consume_back(".z");
  if (bits == 32 &&
      ((hasAxis && axis == "%tid") || name == "%laneid" || name == "%warpid"))
    return constant(0);
  if (bits == 32 && ((hasAxis && axis == "%ntid") || name == "%nwarpid"))
    return constant(1);
  // The masks of the lanes before, at and behind this one, which is lane 0.
  if (StringRef lanes = name; bits == 32 && lanes.consume_front("%lanemask_")) {
    if (lanes == "lt")
      return constant(0);
    if (lanes == "eq" || lanes == "le")
      return constant(1);
    if (lanes == "gt" || lanes == "ge")
      return constant(lanes == "gt" ? -2 : -1);
  }
  if (name == "%clock64" || (name == "%clock" && bits == 32)) {
    Value ticks = assembled(b, "rdtsc; shlq $$32, %rdx; orq %rdx, %rax",
                            "={rax},~{rdx},~{flags},~{memory}", b.getI64Type());
    return bits == 64 ? ticks : arith::TruncIOp::create(b, type, ticks);
  }
  if (name == "%smid" && bits == 32)
    // The number of the processor is in the low 12 bits.
    return assembled(b, "rdtscp; andl $$4095, %ecx",
                     "={ecx},~{eax},~{edx},~{flags},~{memory}", type);
  if (name == "%globaltimer" && bits == 64)
    // clock_gettime(CLOCK_REALTIME) of Linux, as a system call with its result
    // below the red zone, in nanoseconds.
    return assembled(b,
                     "leaq -144(%rsp), %rsp; xorl %edi, %edi; "
                     "movq %rsp, %rsi; movl $$228, %eax; syscall; "
                     "imulq $$1000000000, (%rsp), %rax; addq 8(%rsp), %rax; "
                     "leaq 144(%rsp), %rsp",
                     "={rax},~{rcx},~{rdi},~{rsi},~{r11},~{flags},~{memory}",
                     type);
  return {};
}
