// SPDX-License-Identifier: Apache-2.0
//
// The verifiers of the dialect `probe`.

#include "Probe.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

#include <cmath>

#include "Probe.cpp.inc"

using namespace mlir;
using namespace mlir::triton_ext::probe;

/// The most values that one record holds.
static constexpr size_t kMostValues = 16;
/// The most bins of a histogram.
static constexpr uint32_t kMostBins = 1024;

static LogicalResult verifyName(Operation *op, StringRef name) {
  if (name.empty())
    return op->emitOpError() << "expected a name that is not empty";
  return success();
}

/// Checks that the tensors among the operands have one shape.
static LogicalResult verifyShapes(Operation *op) {
  RankedTensorType first;
  for (Type type : op->getOperandTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      continue;
    if (!tensor.hasStaticShape())
      return op->emitOpError()
             << "expected tensors of static shape, got " << tensor;
    if (first && first.getShape() != tensor.getShape())
      return op->emitOpError() << "expected tensors of one shape, got " << first
                               << " and " << tensor;
    if (!first)
      first = tensor;
  }
  return success();
}

static LogicalResult verifyValues(Operation *op, ValueRange values,
                                  std::optional<ArrayRef<bool>> areUnsigned) {
  if (areUnsigned && areUnsigned->size() != values.size())
    return op->emitOpError()
           << "expected 'are_unsigned' to have one item for each of the "
           << values.size() << " values, got " << areUnsigned->size();
  if (values.size() > kMostValues)
    return op->emitOpError() << "expected at most " << kMostValues
                             << " values, got " << values.size();
  for (Type type : values.getTypes()) {
    Type element = getElementTypeOrSelf(type);
    if (isa<triton::PointerType>(element))
      continue;
    if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() > 64)
      return op->emitOpError()
             << "expected numbers of at most 64 bits or pointers, got " << type;
  }
  return success();
}

LogicalResult CountOp::verify() {
  return failure(failed(verifyName(*this, getName())) ||
                 failed(verifyShapes(*this)));
}

/// Checks the operand of an operation that computes with it.
static LogicalResult verifyNumber(Operation *op, Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  unsigned width = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (!width || width > 64 || (isa<FloatType>(element) && width < 16))
    return op->emitOpError() << "expected integers of at most 64 bits or "
                                "floats of 16 to 64 bits, got "
                             << value.getType();
  return success();
}

LogicalResult MinMaxOp::verify() {
  return failure(failed(verifyName(*this, getName())) ||
                 failed(verifyNumber(*this, getValue())) ||
                 failed(verifyShapes(*this)));
}

LogicalResult HistogramOp::verify() {
  if (getBins() < 1 || getBins() > kMostBins)
    return emitOpError() << "expected 1 to " << kMostBins << " bins, got "
                         << static_cast<int32_t>(getBins());
  double lo = getLo().convertToDouble(), hi = getHi().convertToDouble();
  if (!std::isfinite(hi - lo) || lo >= hi)
    return emitOpError() << "expected finite numbers lo < hi, got " << lo
                         << " and " << hi;
  return failure(failed(verifyName(*this, getName())) ||
                 failed(verifyNumber(*this, getValue())) ||
                 failed(verifyShapes(*this)));
}

LogicalResult StatsOp::verify() {
  return failure(failed(verifyName(*this, getName())) ||
                 failed(verifyNumber(*this, getValue())) ||
                 failed(verifyShapes(*this)));
}

LogicalResult RecordOp::verify() {
  return failure(failed(verifyName(*this, getName())) ||
                 failed(verifyValues(*this, getValues(), getAreUnsigned())) ||
                 failed(verifyShapes(*this)));
}

LogicalResult CheckOp::verify() {
  if (Attribute note = (*this)->getAttr("probe.note"))
    if (!isa<StringAttr>(note))
      return emitOpError() << "expected a string as 'probe.note', got " << note;
  return failure(failed(verifyName(*this, getMessage())) ||
                 failed(verifyValues(*this, getValues(), getAreUnsigned())) ||
                 failed(verifyShapes(*this)));
}

LogicalResult OutsideOp::verify() {
  if (!(*this)->getAttrOfType<StringAttr>("probe.note"))
    return emitOpError() << "expected a string as 'probe.note'";
  return failure(failed(verifyName(*this, getMessage())) ||
                 failed(verifyShapes(*this)));
}

LogicalResult ShadowOp::verify() {
  if (!(*this)->getAttrOfType<StringAttr>("probe.note"))
    return emitOpError() << "expected a string as 'probe.note'";
  if (size_t number = getNumbers().size(); number != 0 && number != 2)
    return emitOpError() << "expected the numbers of the program and of a lock"
                         << ", or none, got " << number;
  if (Value mask = getMask())
    if (isa<RankedTensorType>(mask.getType()) !=
        isa<RankedTensorType>(getAddress().getType()))
      return emitOpError() << "expected a mask of the shape of the addresses, "
                           << "got " << mask.getType();
  return failure(failed(verifyName(*this, getMessage())) ||
                 failed(verifyShapes(*this)));
}

LogicalResult FailuresOp::verify() {
  size_t number = getMessages().size();
  if (!number || getNotes().size() != number || getPlaces().size() != number)
    return emitOpError() << "expected as many notes and places as messages, "
                            "and at least one";
  for (Attribute place : getPlaces())
    if (!isa<LocationAttr>(place))
      return emitOpError() << "expected a location as a place, got " << place;
  return failure(failed(verifyValues(*this, getValues(), std::nullopt)));
}

LogicalResult PromiseOp::verify() {
  auto tensor = dyn_cast<RankedTensorType>(getValue().getType());
  size_t rank = tensor ? tensor.getRank() : 0;
  if (getNumbers().size() != std::max<size_t>(rank, 1))
    return emitOpError() << "expected a number for each dimension, got "
                         << getNumbers().size() << " for "
                         << getValue().getType();
  return success();
}

LogicalResult LaunchWordOp::verify() {
  if (static_cast<int32_t>(getWord()) < 0)
    return emitOpError() << "expected the number of a word, got "
                         << static_cast<int32_t>(getWord());
  return success();
}

LogicalResult RegionBeginOp::verify() {
  if (failed(verifyName(*this, getName())))
    return failure();
  Operation *end = nullptr;
  for (Operation *user : getHandle().getUsers()) {
    if (!isa<RegionEndOp>(user))
      return emitOpError() << "expected a handle that only probe.region_end "
                              "uses, got a use by "
                           << user->getName();
    if (end)
      return emitOpError() << "expected one probe.region_end, got several";
    end = user;
  }
  return success();
}

LogicalResult RegionEndOp::verify() {
  if (!getHandle().getDefiningOp<RegionBeginOp>())
    return emitOpError() << "expected the handle of a probe.region_begin";
  return success();
}
