// SPDX-License-Identifier: Apache-2.0
//
// Divides vectors of integers as vectors of doubles. Scalars, wider integers
// and divisions by constants are left untouched.

#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

#include "DivideVectors.h.inc"

using namespace llvm;

namespace {
struct DivideVectorsPass
    : mlir::triton_ext::divide_vectors::impl::DivideVectorsPassBase<
          DivideVectorsPass> {
  using Base::Base;

  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses);
};
} // namespace

static bool isDivision(const Instruction &instruction) {
  switch (instruction.getOpcode()) {
  case Instruction::SDiv:
  case Instruction::UDiv:
  case Instruction::SRem:
  case Instruction::URem:
    return true;
  default:
    return false;
  }
}

/// Returns the quotient or remainder of `division`.
///
/// Claim: truncating the rounded quotient of doubles gives the quotient of
/// integers of at most 32 bits. The operands are exact, and so is a quotient
/// that is an integer. Any other quotient a/b lies at least 1/|b| away from the
/// next integer, which is a part 1/|a| > 2^-33 of it; rounding to 53 bits moves
/// it by a part 2^-53. With floats it would not hold: 33554431 / 33554432 is
/// rounded to 1.
static Value *divide(BinaryOperator &division) {
  IRBuilder<> builder(&division);
  unsigned opcode = division.getOpcode();
  bool isSigned = opcode == Instruction::SDiv || opcode == Instruction::SRem;
  bool isRemainder = opcode == Instruction::SRem || opcode == Instruction::URem;
  auto *type = cast<FixedVectorType>(division.getType());
  auto *doubles =
      FixedVectorType::get(builder.getDoubleTy(), type->getNumElements());
  Value *lhs = division.getOperand(0), *rhs = division.getOperand(1);
  // The remainder uses an operand twice, and undef may be two values.
  if (isRemainder) {
    lhs = builder.CreateFreeze(lhs);
    rhs = builder.CreateFreeze(rhs);
  }
  auto converted = [&](Value *value) {
    return isSigned ? builder.CreateSIToFP(value, doubles)
                    : builder.CreateUIToFP(value, doubles);
  };
  Value *ratio = builder.CreateFDiv(converted(lhs), converted(rhs));
  Value *quotient = isSigned ? builder.CreateFPToSI(ratio, type)
                             : builder.CreateFPToUI(ratio, type);
  return isRemainder ? builder.CreateSub(lhs, builder.CreateMul(quotient, rhs))
                     : quotient;
}

PreservedAnalyses DivideVectorsPass::run(Function &function,
                                         FunctionAnalysisManager &) {
  SmallVector<BinaryOperator *> divisions;
  for (Instruction &instruction : instructions(function)) {
    auto *type = dyn_cast<FixedVectorType>(instruction.getType());
    if (isDivision(instruction) && type && type->getNumElements() >= minLanes &&
        type->getScalarSizeInBits() <= 32 &&
        !isa<Constant>(instruction.getOperand(1)))
      divisions.push_back(cast<BinaryOperator>(&instruction));
  }
  for (BinaryOperator *division : divisions) {
    Value *result = divide(*division);
    result->takeName(division);
    division->replaceAllUsesWith(result);
    division->eraseFromParent();
  }
  if (divisions.empty())
    return PreservedAnalyses::all();
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}
