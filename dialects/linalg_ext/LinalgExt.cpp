// SPDX-License-Identifier: Apache-2.0
//
// The dialect `linalg_ext`: the code that TableGen generates, memory effects,
// and the verifiers and builders of operations that have no file of their own.

#include "LinalgExt.h"

#include "Builders.h"
#include "Checks.h"
#include "Directives.h"
#include "Structure.h"
#include "Syntax.h"
#include "Tiling.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::triton_ext::linalg_ext;

#include "LinalgExt.cpp.inc"

//===----------------------------------------------------------------------===//
// Memory effects
//===----------------------------------------------------------------------===//

void PadOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/false, effects);
}
void MakeRangeOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/false, effects);
}
void GatherOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/true, effects);
}
void ScatterOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/true, effects);
}
void ScanOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/isCarried(), effects);
}
void HistogramOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/true, effects);
}
void FlipOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/false, effects);
}
void LibdeviceCallOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/false, effects);
}
void AssertOp::getEffects(Effects &effects) {
  // It may end the kernel, so that operations after it do not happen. A write
  // to any memory keeps it in place.
  effects.emplace_back(MemoryEffects::Write::get());
  if (isa<MemRefType>(getCondition().getType()))
    effects.emplace_back(MemoryEffects::Read::get(), &getConditionMutable());
}

//===----------------------------------------------------------------------===//
// make_range
//===----------------------------------------------------------------------===//

void MakeRangeOp::build(OpBuilder &builder, OperationState &state, Value start,
                        Value end, Value init) {
  Type storage;
  buildStructured(builder, state, resultOf(init, storage), {start, end, init},
                  {});
}

LogicalResult MakeRangeOp::verify() {
  ShapedType type = shaped(getInit());
  if (type.getRank() != 1)
    return emitOpError() << "expected an init of one dimension, got " << type;
  if (getStart().getType() != type.getElementType() ||
      getEnd().getType() != type.getElementType())
    return emitOpError() << "expected start and end of type "
                         << type.getElementType() << ", got "
                         << getStart().getType() << " and "
                         << getEnd().getType();
  APInt start, end;
  if (!type.isDynamicDim(0) &&
      matchPattern(getStart(), m_ConstantInt(&start)) &&
      matchPattern(getEnd(), m_ConstantInt(&end)) &&
      (end - start) != APInt(start.getBitWidth(), type.getDimSize(0),
                             /*isSigned=*/false, /*implicitTrunc=*/true))
    return emitOpError() << "expected end - start to be " << type.getDimSize(0)
                         << ", as in the init";
  return success();
}

//===----------------------------------------------------------------------===//
// libdevice_call
//===----------------------------------------------------------------------===//

LogicalResult LibdeviceCallOp::verify() {
  SmallVector<int64_t> shape(shaped(getInit()).getShape());
  for (Value input : getInputs())
    if (isa<ShapedType>(input.getType()) &&
        failed(checkSameShape(*this, "inputs", input, shape)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

LogicalResult ScanOp::verify() {
  if (getInputs().empty() ||
      (getInputs().size() != getInits().size() && !isCarried()))
    return emitOpError() << "expected as many inits as inputs, or twice as "
                            "many, got "
                         << getInits().size() << " and " << getInputs().size();
  ShapedType first = shaped(getInputs().front());
  // The one element of an array without dimensions is a line.
  int64_t dimensions = std::max<int64_t>(1, first.getRank());
  if (int64_t(getDimension()) < 0 || int64_t(getDimension()) >= dimensions)
    return emitOpError() << "expected a dimension of " << first << ", got "
                         << int64_t(getDimension());
  SmallVector<Type> elements;
  SmallVector<int64_t> shape(first.getShape());
  for (auto [input, init] : llvm::zip_first(getInputs(), getInits())) {
    elements.push_back(shaped(input).getElementType());
    if (shaped(init).getElementType() != elements.back())
      return emitOpError() << "expected an init of " << elements.back()
                           << ", got " << init.getType();
    if (failed(checkSameShape(*this, "inputs", input, shape)) ||
        failed(checkSameShape(*this, "inits", init, shape)))
      return failure();
  }
  SmallVector<Type> arguments(elements), results(elements);
  arguments.append(elements);
  if (isCarried()) {
    SmallVector<int64_t> line(first.getShape());
    if (!line.empty())
      line.erase(line.begin() + getDimension());
    for (auto [carried, element] :
         llvm::zip(getInits().drop_front(elements.size()), elements)) {
      if (shaped(carried).getElementType() != element)
        return emitOpError() << "expected an init of " << element << ", got "
                             << carried.getType();
      if (failed(checkShape(*this, "inits that are carried", carried, line)))
        return failure();
    }
    arguments.append(elements);
    results.append(elements);
  }
  return checkBody(*this, getBody(), arguments, results);
}

//===----------------------------------------------------------------------===//
// histogram, flip
//===----------------------------------------------------------------------===//

void HistogramOp::build(OpBuilder &builder, OperationState &state, Value input,
                        Value mask, Value init) {
  Type storage;
  build(builder, state, resultOf(init, storage), input, mask, init);
}

LogicalResult HistogramOp::verify() {
  for (Value value : {getInput(), getInit()})
    if (!shaped(value).getElementType().isSignlessInteger())
      return emitOpError() << "expected signless integers, got "
                           << value.getType();
  if (shaped(getInit()).getRank() != 1)
    return emitOpError() << "expected an init of one dimension, got "
                         << getInit().getType();
  return checkMask(*this, getMask(), shaped(getInput()).getShape());
}

LogicalResult FlipOp::verify() {
  ShapedType type = shaped(getInput());
  if (int64_t(getDimension()) < 0 || int64_t(getDimension()) >= type.getRank())
    return emitOpError() << "expected a dimension of " << type << ", got "
                         << int64_t(getDimension());
  if (shaped(getInit()).getElementType() != type.getElementType())
    return emitOpError() << "expected an init of " << type.getElementType()
                         << ", got " << getInit().getType();
  return checkShape(*this, "an init", getInit(), type.getShape());
}

//===----------------------------------------------------------------------===//
// assert, scalar_assert
//===----------------------------------------------------------------------===//

void AssertOp::build(OpBuilder &builder, OperationState &state, Value condition,
                     StringRef msg) {
  build(builder, state, Type(), condition, msg);
}

LogicalResult AssertOp::verify() {
  if (!shaped(getCondition()).getElementType().isSignlessInteger())
    return emitOpError() << "expected a condition of signless integers, got "
                         << getCondition().getType();
  return success();
}

LogicalResult ScalarAssertOp::canonicalize(ScalarAssertOp op,
                                           PatternRewriter &rewriter) {
  if (!matchPattern(op.getCondition(), m_One()))
    return failure();
  rewriter.eraseOp(op);
  return success();
}
