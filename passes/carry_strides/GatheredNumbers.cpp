// SPDX-License-Identifier: Apache-2.0
//
// Finds the numbers of tensors of pointers that gather along one dimension, and
// makes tensors of them. A product of loaded indices and a stride stays as it
// was computed and is then extended to i64, so it wraps as before.

#include "GatheredNumbers.h"
#include "StridedNumbers.h"
#include "Sums.h"

#include "analysis/LineTracker.h"
#include "analysis/PointerTracker.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext::analysis;
using namespace mlir::triton_ext::carry_strides;
namespace tt = mlir::triton;

namespace {
/// Pointers plus a line of offsets.
struct Gathered {
  /// They do not wrap around.
  Pointers pointers;
  /// A tensor of i64 of one dimension; null if all offsets are 0.
  Value line = {};
  /// The dimension whose index the line depends on.
  unsigned dim = 0;
};
} // namespace

static std::optional<Gathered> findGathered(Value tensor, IndexMath &math);

/// Adds offsets along one dimension; returns false if they are not known to
/// depend on the index along the dimension of the line only.
static bool addLine(Gathered &sum, Value offsets, IndexMath &math) {
  auto line = trackLine(offsets, math);
  if (!line || !line->dim || (sum.line && sum.dim != line->dim))
    return false;
  auto wide = cast<RankedTensorType>(line->value.getType())
                  .clone(math.builder.getI64Type());
  if (line->value.getType() != wide)
    line->value =
        arith::ExtSIOp::create(math.builder, math.loc, wide, line->value);
  if (sum.line)
    line->value =
        arith::AddIOp::create(math.builder, math.loc, sum.line, line->value);
  sum.line = line->value;
  sum.dim = *line->dim;
  return true;
}

/// Adds strided offsets or offsets along one dimension; returns false if they
/// are neither.
static bool addPart(Gathered &sum, Value offsets, IndexMath &math) {
  auto strided = trackOffsets(offsets, math);
  // Only scalars can be taken out of an arm of a branch.
  if (!strided || strided->wrapsAround())
    return math.canUse(offsets) && addLine(sum, offsets, math);
  sum.pointers.offsets = addOffsets(sum.pointers.offsets, *strided, math);
  return true;
}

/// Adds a tensor of offsets; returns false if the sum does not have this form.
static bool addTensor(Gathered &sum, Value tensor, IndexMath &math) {
  // Getting all summands would assume that (rows + i) * stride does not wrap.
  if (addPart(sum, tensor, math))
    return true;
  // Sums of narrow integers do wrap around.
  unsigned bits =
      getElementTypeOrSelf(tensor.getType()).getIntOrFloatBitWidth();
  auto add = tensor.getDefiningOp<arith::AddIOp>();
  if (add && bits >= 32 && math.spend())
    return addTensor(sum, add.getLhs(), math) &&
           addTensor(sum, add.getRhs(), math);
  return math.canUse(tensor) &&
         llvm::all_of(getSummands(tensor, math), [&](Value summand) {
           return addPart(sum, summand, math);
         });
}

/// Chooses between two tensors by a scalar condition.
static std::optional<Gathered> chooseGathered(Value tensor, IndexMath &math) {
  auto choice = getChoice(tensor, math);
  auto yes = choice ? findGathered(choice->yes, math) : std::nullopt;
  auto no = yes ? findGathered(choice->no, math) : std::nullopt;
  if (!no || (yes->line && no->line && yes->dim != no->dim))
    return std::nullopt;
  auto offsets = chooseOffsets(choice->condition, yes->pointers.offsets,
                               no->pointers.offsets, math);
  if (!offsets)
    return std::nullopt;
  OpBuilder &b = math.builder;
  Gathered result{{yes->pointers.base, *offsets}, yes->line, yes->dim};
  if (result.pointers.base != no->pointers.base)
    result.pointers.base = arith::SelectOp::create(
        b, math.loc, choice->condition, yes->pointers.base, no->pointers.base);
  if (yes->line == no->line)
    return result;
  result.dim = yes->line ? yes->dim : no->dim;
  auto type =
      cast<RankedTensorType>((yes->line ? yes->line : no->line).getType());
  auto lineOf = [&](Value line) -> Value {
    if (line)
      return line;
    return arith::ConstantOp::create(b, math.loc, b.getZeroAttr(type));
  };
  Value condition = tt::SplatOp::create(b, math.loc, type.clone(b.getI1Type()),
                                        choice->condition);
  result.line = arith::SelectOp::create(b, math.loc, condition,
                                        lineOf(yes->line), lineOf(no->line));
  return result;
}

/// Applies a change of shape.
static std::optional<Gathered> reshapeGathered(Operation *op, Gathered from,
                                               IndexMath &math) {
  auto offsets = reshapeOffsets(op, from.pointers.offsets, math);
  if (!offsets)
    return std::nullopt;
  from.pointers.offsets = *offsets;
  if (!from.line)
    return from;
  std::optional<unsigned> dim = reshapeDimension(op, from.dim);
  // A broadcast of the only element is not a line of it.
  if (!dim || shapeOf(op->getResult(0))[*dim] != shapeOf(from.line).front())
    return std::nullopt;
  from.dim = *dim;
  return from;
}

static std::optional<Gathered> findGathered(Value tensor, IndexMath &math) {
  Operation *op = tensor.getDefiningOp();
  if (!op || !math.spend())
    return std::nullopt;
  if (isa<arith::SelectOp, scf::IfOp>(op))
    return chooseGathered(tensor, math);
  if (isa<tt::SplatOp>(op)) {
    auto pointers = trackPointers(tensor, math);
    if (!pointers)
      return std::nullopt;
    auto type = cast<RankedTensorType>(tensor.getType());
    pointers->base = castBase(pointers->base, type, math.builder, math.loc);
    return Gathered{*pointers};
  }
  if (auto add = dyn_cast<tt::AddPtrOp>(op)) {
    auto sum = findGathered(add.getPtr(), math);
    if (!sum || !addTensor(*sum, add.getOffset(), math))
      return std::nullopt;
    return sum;
  }
  if (!isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp>(op))
    return std::nullopt;
  auto from = findGathered(op->getOperand(0), math);
  return from ? reshapeGathered(op, *from, math) : std::nullopt;
}

/// Returns the multiples of a number by each index, as a tensor of i64.
static Value multiply(OpFoldResult number, int64_t size, IndexMath &math) {
  OpBuilder &b = math.builder;
  auto wide = RankedTensorType::get({size}, b.getI64Type());
  if (isZero(number))
    return arith::ConstantOp::create(b, math.loc, b.getZeroAttr(wide));
  Value range = tt::MakeRangeOp::create(b, math.loc, wide.clone(b.getI32Type()),
                                        0, int32_t(size));
  range = arith::ExtSIOp::create(b, math.loc, wide, range);
  Value factor = tt::SplatOp::create(b, math.loc, wide, math.toValue(number));
  return arith::MulIOp::create(b, math.loc, range, factor);
}

std::optional<unsigned>
mlir::triton_ext::carry_strides::findGathers(Value tensor, OpBuilder &b) {
  IndexMath math = mathAt(b, tensor.getLoc());
  auto gathered = findGathered(tensor, math);
  if (!gathered || !gathered->line)
    return std::nullopt;
  return gathered->dim;
}

SmallVector<Type>
mlir::triton_ext::carry_strides::gatheredTypes(RankedTensorType type,
                                               unsigned dim) {
  Type i64 = IntegerType::get(type.getContext(), 64);
  SmallVector<Type> types{type.getElementType(), i64};
  for (auto [other, size] : llvm::enumerate(type.getShape()))
    if (other != dim && size != 1)
      types.push_back(i64);
  types.push_back(RankedTensorType::get({type.getDimSize(dim)}, i64));
  return types;
}

std::optional<SmallVector<Value>>
mlir::triton_ext::carry_strides::trackGathered(Value tensor, unsigned dim,
                                               OpBuilder &b) {
  auto type = cast<RankedTensorType>(tensor.getType());
  IndexMath math = mathAt(b, tensor.getLoc());
  auto gathered = findGathered(tensor, math);
  if (!gathered || (gathered->line && gathered->dim != dim))
    return std::nullopt;
  const Offsets &offsets = gathered->pointers.offsets;
  SmallVector<Value> numbers{gathered->pointers.base,
                             math.toValue(offsets.offset)};
  for (auto [other, size] : llvm::enumerate(type.getShape()))
    if (other != dim && size != 1)
      numbers.push_back(math.toValue(offsets.strides[other]));
  Value line = gathered->line;
  if (!line || !isZero(offsets.strides[dim])) {
    Value multiples =
        multiply(offsets.strides[dim], type.getDimSize(dim), math);
    line =
        line ? arith::AddIOp::create(b, math.loc, line, multiples) : multiples;
  }
  numbers.push_back(line);
  return numbers;
}

Value mlir::triton_ext::carry_strides::rebuildGathered(RankedTensorType type,
                                                       unsigned dim,
                                                       ValueRange numbers,
                                                       OpBuilder &b,
                                                       Location loc) {
  IndexMath math = mathAt(b, loc);
  SmallVector<Value> strided(numbers.drop_back());
  // The strides up to this dimension come after the base and the offset.
  if (type.getDimSize(dim) != 1) {
    auto before = type.getShape().take_front(dim);
    size_t at = 2 + dim - llvm::count(before, 1);
    strided.insert(strided.begin() + at, math.toValue(math.number(0)));
  }
  Value result = rebuild(type, strided, b, loc);
  return tt::AddPtrOp::create(
      b, loc, type, result,
      widen(numbers.back(), type.getShape(), dim, b, loc));
}
