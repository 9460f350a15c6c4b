// SPDX-License-Identifier: Apache-2.0
//
// Compares the code of two looks operation by operation, and remembers in which
// scalars they differ.

#include "Likeness.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "probe/Probe.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;

IntegerAttr mlir::triton_ext::sanitizer::integerOf(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (!constant)
    return {};
  if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
    return dyn_cast<IntegerAttr>(splat.getSplatValue<Attribute>());
  return dyn_cast<IntegerAttr>(constant.getValue());
}

static bool isReportOfOne(probe::FailuresOp op) {
  return op.getMessages().size() == 1 && matchPattern(op.getSite(), m_Zero());
}

bool Likeness::areAlike(OpOperand &one, Value other) {
  if (one.get().getType() != other.getType())
    return false;
  if (Value known = counterparts.lookup(one.get()))
    return known == other;
  if (one.get() == other)
    return true;
  // What the other look computes itself is the counterpart of something.
  bool isOwn = llvm::any_of(
      counterparts, [&](const auto &pair) { return pair.second == other; });
  if (isOwn || isa<ShapedType>(other.getType()))
    return false;
  scalars[&one] = other;
  return true;
}

bool Likeness::areAlike(Operation *one, Operation *other) {
  if (one->getName() != other->getName() ||
      one->getNumOperands() != other->getNumOperands() ||
      one->getResultTypes() != other->getResultTypes() ||
      one->getNumRegions() != other->getNumRegions())
    return false;
  for (auto [operand, value] :
       llvm::zip(one->getOpOperands(), other->getOperands()))
    if (!areAlike(operand, value))
      return false;
  if (one->getAttrDictionary() != other->getAttrDictionary()) {
    auto word = dyn_cast<probe::LaunchWordOp>(one);
    auto report = dyn_cast<probe::FailuresOp>(one);
    bool isWord =
        word && !word.getOffset() &&
        word.getOtherwise() == cast<probe::LaunchWordOp>(other).getOtherwise();
    bool isReport = report && isReportOfOne(report) &&
                    isReportOfOne(cast<probe::FailuresOp>(other));
    if (!isWord && !isReport && !(integerOf(one) && integerOf(other)))
      return false;
  }
  if (integerOf(one) || isa<probe::LaunchWordOp, probe::FailuresOp>(one))
    partners[one] = other;
  for (auto [region, counterpart] :
       llvm::zip(one->getRegions(), other->getRegions()))
    if (!areAlike(region, counterpart))
      return false;
  for (auto [result, counterpart] :
       llvm::zip(one->getResults(), other->getResults()))
    counterparts[result] = counterpart;
  return true;
}

bool Likeness::areAlike(Region &one, Region &other) {
  if (one.empty() || other.empty())
    return one.empty() && other.empty();
  if (!one.hasOneBlock() || !other.hasOneBlock())
    return false;
  Block &block = one.front(), &counterpart = other.front();
  if (block.getArgumentTypes() != counterpart.getArgumentTypes() ||
      block.getOperations().size() != counterpart.getOperations().size())
    return false;
  for (auto [argument, value] :
       llvm::zip(block.getArguments(), counterpart.getArguments()))
    counterparts[argument] = value;
  return llvm::all_of(llvm::zip(block, counterpart), [&](auto pair) {
    return areAlike(&std::get<0>(pair), &std::get<1>(pair));
  });
}
