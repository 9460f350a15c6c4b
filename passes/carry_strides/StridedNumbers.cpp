// SPDX-License-Identifier: Apache-2.0
//
// Finds the numbers of strided tensors and makes tensors of them.

#include "StridedNumbers.h"

#include "analysis/PointerTracker.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext::analysis;
using namespace mlir::triton_ext::carry_strides;
namespace tt = mlir::triton;

bool mlir::triton_ext::carry_strides::isPointer(RankedTensorType type) {
  return isa<tt::PointerType>(type.getElementType());
}

bool mlir::triton_ext::carry_strides::isCarriable(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  // Layouts would have to be kept.
  if (!tensor || tensor.getEncoding() || tensor.getRank() == 0)
    return false;
  return isPointer(tensor) || tensor.getElementType().isSignlessInteger(32) ||
         tensor.getElementType().isSignlessInteger(64);
}

SmallVector<Type>
mlir::triton_ext::carry_strides::numberTypes(RankedTensorType type) {
  Type element = type.getElementType(), integer = element;
  SmallVector<Type> types;
  if (isPointer(type)) {
    types.push_back(element);
    integer = IntegerType::get(type.getContext(), 64);
  }
  types.push_back(integer);
  for (int64_t size : type.getShape())
    if (size != 1)
      types.push_back(integer);
  return types;
}

bool mlir::triton_ext::carry_strides::isTracked(Value tensor, OpBuilder &b) {
  IndexMath math{b, tensor.getLoc()};
  math.type = b.getI64Type();
  if (isPointer(cast<RankedTensorType>(tensor.getType())))
    return trackPointers(tensor, math).has_value();
  return trackOffsets(tensor, math).has_value();
}

/// Returns whether the numbers of a tensor of integers hold even if integers
/// wrap. Sums and products do: their low bits depend on low bits only. A sign
/// extension of a number that has wrapped is another number. Remainders are not
/// strided.
static bool isExact(Value tensor, unsigned &budget) {
  Operation *op = tensor.getDefiningOp();
  if (!op || !isa<RankedTensorType>(tensor.getType()))
    return true;
  if (!budget)
    return false;
  --budget;
  if (isa<arith::ExtSIOp, arith::IndexCastOp>(op))
    return op->getOperand(0).getDefiningOp<tt::MakeRangeOp>();
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned index = cast<OpResult>(tensor).getResultNumber();
    return isExact(branch.thenYield().getOperand(index), budget) &&
           isExact(branch.elseYield().getOperand(index), budget);
  }
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isExact(operand, budget); });
}

Value mlir::triton_ext::carry_strides::castBase(Value base,
                                                RankedTensorType type,
                                                OpBuilder &b, Location loc) {
  if (base.getType() == type.getElementType())
    return base;
  return tt::BitcastOp::create(b, loc, type.getElementType(), base);
}

std::optional<SmallVector<Value>>
mlir::triton_ext::carry_strides::trackNumbers(Value tensor, OpBuilder &b) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Location loc = tensor.getLoc();
  IndexMath math{b, loc};
  math.type = b.getI64Type();
  SmallVector<Value> numbers;
  std::optional<Offsets> offsets;
  if (isPointer(type)) {
    auto pointers = trackPointers(tensor, math);
    if (!pointers)
      return std::nullopt;
    offsets = pointers->offsets;
    numbers.push_back(castBase(pointers->base, type, b, loc));
  } else {
    unsigned budget = math.budget;
    if (!isExact(tensor, budget))
      return std::nullopt;
    offsets = trackOffsets(tensor, math);
  }
  if (!offsets || offsets->wrapsAround())
    return std::nullopt;
  auto add = [&](OpFoldResult number) {
    Value value = math.toValue(number);
    if (type.getElementType().isInteger(32))
      value =
          b.createOrFold<arith::TruncIOp>(loc, type.getElementType(), value);
    numbers.push_back(value);
  };
  add(offsets->offset);
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), offsets->strides))
    if (size != 1)
      add(stride);
  return numbers;
}

Value mlir::triton_ext::carry_strides::widen(Value offsets,
                                             ArrayRef<int64_t> shape,
                                             unsigned dim, OpBuilder &b,
                                             Location loc) {
  auto whole =
      RankedTensorType::get(shape, getElementTypeOrSelf(offsets.getType()));
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    if (axis != dim)
      offsets = tt::ExpandDimsOp::create(b, loc, offsets, axis);
  if (offsets.getType() != whole)
    offsets = tt::BroadcastOp::create(b, loc, whole, offsets);
  return offsets;
}

Value mlir::triton_ext::carry_strides::rebuild(RankedTensorType type,
                                               ValueRange numbers, OpBuilder &b,
                                               Location loc) {
  Value base;
  if (isPointer(type)) {
    base = numbers.front();
    numbers = numbers.drop_front();
  }
  Type integer = numbers.front().getType();
  auto whole = RankedTensorType::get(type.getShape(), integer);
  Value offset = numbers.front(), sum;
  numbers = numbers.drop_front();
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (size == 1)
      continue;
    Value stride = numbers.front();
    numbers = numbers.drop_front();
    if (matchPattern(stride, m_Zero()))
      continue;
    auto narrow = RankedTensorType::get({size}, b.getI32Type());
    auto wide = RankedTensorType::get({size}, integer);
    Value line = tt::MakeRangeOp::create(b, loc, narrow, 0, int32_t(size));
    if (wide != narrow)
      line = arith::ExtSIOp::create(b, loc, wide, line);
    if (!matchPattern(stride, m_One()))
      line = arith::MulIOp::create(b, loc, line,
                                   tt::SplatOp::create(b, loc, wide, stride));
    line = widen(line, type.getShape(), dim, b, loc);
    sum = sum ? arith::AddIOp::create(b, loc, sum, line) : line;
  }
  bool isZero = matchPattern(offset, m_Zero());
  if (!base) {
    Value start = tt::SplatOp::create(b, loc, whole, offset);
    if (!sum)
      return start;
    return isZero ? sum : arith::AddIOp::create(b, loc, start, sum);
  }
  if (!isZero)
    base = tt::AddPtrOp::create(b, loc, base.getType(), base, offset);
  Value start = tt::SplatOp::create(b, loc, type, base);
  if (!sum)
    return start;
  return tt::AddPtrOp::create(b, loc, type, start, sum);
}

bool mlir::triton_ext::carry_strides::isSame(
    Value a, Value b, const llvm::DenseMap<Value, Value> &known) {
  if (Value value = known.lookup(a))
    a = value;
  if (a == b)
    return true;
  Operation *left = a.getDefiningOp(), *right = b.getDefiningOp();
  if (!left || !right || left->getName() != right->getName() ||
      left->getAttrDictionary() != right->getAttrDictionary() ||
      left->getNumRegions() != 0 || !isPure(left) ||
      left->getNumOperands() != right->getNumOperands() ||
      a.getType() != b.getType() ||
      cast<OpResult>(a).getResultNumber() !=
          cast<OpResult>(b).getResultNumber())
    return false;
  return llvm::all_of(
      llvm::zip(left->getOperands(), right->getOperands()), [&](auto pair) {
        return isSame(std::get<0>(pair), std::get<1>(pair), known);
      });
}
