// SPDX-License-Identifier: Apache-2.0
//
// Reads counters of the processor, in inline assembly of the target.

#include "Clock.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
namespace tt = mlir::triton;

Clock::Clock(ModuleOp module) {
  auto target = module->getAttrOfType<StringAttr>(kTarget);
  if (!target)
    return;
  auto number = [&](StringRef name, int64_t &value) {
    if (auto attr = module->getAttrOfType<IntegerAttr>(name))
      value = attr.getInt();
  };
  isWithoutAssembly = module->hasAttr(kNoAssembly);
  number(kNumWarps, numWarps);
  number(kWarpSize, warpSize);
  StringRef name = target.getValue();
  isX86 = name == "x86-64";
  isNvidia = name.consume_front("cuda:");
  isAmd = name.consume_front("hip:gfx");
  if (!isAmd)
    return;
  // gfx90a and gfx942 are of generation 9, gfx1100 of generation 11.
  hasDies = name.starts_with("94") || name.starts_with("95");
  if (name.size() < 3 || name.drop_back(2).getAsInteger(10, generation))
    isAmd = false;
}

Clock::Assembly Clock::assemblyOf(Counter counter) const {
  if (isNvidia)
    switch (counter) {
    case Counter::Cycles:
      return {"mov.u64 $0, %clock64;", "=l", ""};
    case Counter::Global:
      return {"mov.u64 $0, %globaltimer;", "=l", ""};
    case Counter::Unit:
      return {"{ .reg .u32 unit; mov.u32 unit, %smid; cvt.u64.u32 $0, unit; }",
              "=l", ""};
    }
  if (isX86)
    switch (counter) {
    case Counter::Cycles:
      return {"rdtsc; shlq $$32, %rdx; orq %rdx, %rax", "={rax}",
              ",~{rdx},~{dirflag},~{fpsr},~{flags}"};
    case Counter::Global:
      return {};
    case Counter::Unit: // the thread, as the address of its control block
      return {"movq %fs:0, $0", "=r", ""};
    }
  // From generation 11 on there is one counter, of 100 MHz.
  std::string wait =
      generation < 12 ? "\ns_waitcnt lgkmcnt(0)" : "\ns_wait_kmcnt 0";
  std::string real = "s_sendmsg_rtn_b64 $0, sendmsg(MSG_RTN_GET_REALTIME)";
  switch (counter) {
  case Counter::Cycles:
    return {(generation < 11 ? "s_memtime $0" : real) + wait, "=s", ""};
  case Counter::Global:
    return {(generation < 11 ? "s_memrealtime $0" : real) + wait, "=s", ""};
  case Counter::Unit: {
    // The compute unit, shader array and engine; the die above them.
    std::string id = generation < 10
                         ? "s_getreg_b32 $0, hwreg(HW_REG_HW_ID, 8, 7)"
                         : "s_getreg_b32 $0, hwreg(HW_REG_HW_ID1, 10, 11)";
    if (hasDies)
      id += "\ns_getreg_b32 s1, hwreg(HW_REG_XCC_ID, 0, 4)\ns_lshl_b32 s1, s1, "
            "8\ns_or_b32 $0, $0, s1";
    return {id, "=&s", hasDies ? ",~{s1},~{scc}" : ""};
  }
  }
  llvm_unreachable("unknown counter");
}

Value Clock::read(ImplicitLocOpBuilder &b, Counter counter, bool isTensor) {
  Type i64 = b.getI64Type();
  int64_t n = isTensor ? numThreads() : 0;
  Assembly assembly = assemblyOf(counter);
  if (assembly.text.empty()) // there are tensors for GPUs only
    return arith::ConstantOp::create(b, b.getI64IntegerAttr(0));

  // In an innermost scf.for, which Triton may pipeline, the operation must not
  // have side effects: the pipeliner can predicate only those that it knows.
  // There it is kept in its place by data: the induction variable is an
  // operand, so it does not leave the loop, and a number in a comment
  // distinguishes it from every other read. In LLVM the memory clobber keeps
  // its order.
  Operation *loop = b.getInsertionBlock()->getParentOp();
  while (loop && !isa<LoopLikeOpInterface, FunctionOpInterface>(loop))
    loop = loop->getParentOp();
  auto counted = dyn_cast_or_null<scf::ForOp>(loop);
  bool isPure = counted && !isX86;
  SmallVector<Value> operands;
  std::string constraints = assembly.result;
  if (isPure) {
    Value turn = counted.getInductionVar();
    unsigned width = turn.getType().getIntOrFloatBitWidth();
    if (width < 32) {
      turn = arith::ExtSIOp::create(b, b.getI32Type(), turn);
      width = 32;
    }
    operands.push_back(turn);
    constraints += isAmd ? ",v" : width == 32 ? ",r" : ",l";
  } else if (n) {
    operands.push_back(arith::ConstantOp::create(b, b.getI32IntegerAttr(0)));
    constraints += isAmd ? ",v" : ",r";
  }
  if (n)
    for (Value &operand : operands)
      operand = tt::SplatOp::create(
          b, RankedTensorType::get({n}, operand.getType()), operand);
  constraints += assembly.clobbers + ",~{memory}";
  // A comment that ends with the line.
  std::string number = (isNvidia ? " // clock "
                        : isAmd  ? " ; clock "
                                 : " # clock ") +
                       std::to_string(numReads++);
  bool isNarrow = isAmd && counter == Counter::Unit;
  Type element = isNarrow ? Type(b.getI32Type()) : i64;
  Type type = n ? Type(RankedTensorType::get({n}, element)) : element;
  auto op = tt::ElementwiseInlineAsmOp::create(
      b, TypeRange{type}, assembly.text + number, constraints, isPure,
      /*packed_element=*/1, operands);
  if (isX86) // which the CPU backend asks for: other assembly is of a GPU
    op->setAttr("target", b.getStringAttr("x86-64"));
  Value value = op->getResult(0);
  if (isNarrow)
    value = arith::ExtUIOp::create(
        b, n ? Type(RankedTensorType::get({n}, i64)) : i64, value);
  return value;
}
