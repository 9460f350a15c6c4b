// SPDX-License-Identifier: Apache-2.0
//
// Finds the numbers of tensors of pointers that wrap around, and makes tensors
// of them. The dividends are carried as numbers, so their sums and products get
// flags that say that they do not wrap, which the pass assumes of addresses.

#include "WrappedNumbers.h"
#include "StridedNumbers.h"
#include "Sums.h"

#include "analysis/PointerTracker.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext::analysis;
using namespace mlir::triton_ext::carry_strides;
namespace tt = mlir::triton;

/// A modulus that is greater than any offset.
static constexpr int64_t mostModulus = int64_t(1) << 61;

bool mlir::triton_ext::carry_strides::addWraps(Value tensor,
                                               llvm::SmallBitVector &wraps,
                                               OpBuilder &b) {
  IndexMath math = mathAt(b, tensor.getLoc());
  auto pointers = trackPointers(tensor, math);
  if (!pointers)
    return false;
  const Offsets &offsets = pointers->offsets;
  size_t rank = offsets.strides.size();
  for (unsigned dim = 0; dim < rank; ++dim)
    if (!getTermAlong(offsets, dim, math))
      return false;
  bool more = wraps.empty();
  wraps.resize(rank);
  for (const WrappedOffset &term : offsets.wrapped) {
    more |= !wraps.test(term.dim);
    wraps.set(term.dim);
  }
  return more;
}

SmallVector<Type> mlir::triton_ext::carry_strides::wrappedTypes(
    RankedTensorType type, const llvm::SmallBitVector &wraps) {
  Type i64 = IntegerType::get(type.getContext(), 64);
  SmallVector<Type> types{type.getElementType(), i64};
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!wraps.test(dim) && size != 1)
      types.push_back(i64);
  types.append(3 * wraps.count(), i64);
  return types;
}

/// Returns a modulus by which it is defined to divide. In place of 0, this is
/// one that leaves all offsets as they are. Only a constant and a product can
/// be 0: other moduli come from remainders, which divide by them.
static Value divisorOf(OpFoldResult modulus, IndexMath &math) {
  OpBuilder &b = math.builder;
  auto most = math.number(mostModulus);
  if (isZero(modulus))
    return math.toValue(most);
  Value value = math.toValue(modulus);
  if (auto choice = value.getDefiningOp<arith::SelectOp>())
    return math.toValue(math.choose(choice.getCondition(),
                                    divisorOf(choice.getTrueValue(), math),
                                    divisorOf(choice.getFalseValue(), math)));
  if (matchPattern(value, m_Zero()))
    return math.toValue(most);
  if (!value.getDefiningOp<arith::MulIOp>())
    return value;
  Value zero = math.toValue(math.number(0));
  Value isZero =
      arith::CmpIOp::create(b, math.loc, arith::CmpIPredicate::eq, value, zero);
  return math.toValue(math.choose(isZero, most, value));
}

std::optional<SmallVector<Value>> mlir::triton_ext::carry_strides::trackWrapped(
    Value tensor, const llvm::SmallBitVector &wraps, OpBuilder &b) {
  auto type = cast<RankedTensorType>(tensor.getType());
  IndexMath math = mathAt(b, tensor.getLoc());
  auto pointers = trackPointers(tensor, math);
  if (!pointers)
    return std::nullopt;
  const Offsets &offsets = pointers->offsets;
  SmallVector<Value> numbers{castBase(pointers->base, type, b, math.loc),
                             math.toValue(offsets.offset)};
  SmallVector<Value> terms;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    auto term = getTermAlong(offsets, dim, math);
    if (!term || (!isZero(term->modulus) && !wraps.test(dim)))
      return std::nullopt;
    if (wraps.test(dim))
      terms.append({math.toValue(term->offset), math.toValue(term->stride),
                    divisorOf(term->modulus, math)});
    else if (size != 1)
      numbers.push_back(math.toValue(term->stride));
  }
  llvm::append_range(numbers, terms);
  return numbers;
}

Value mlir::triton_ext::carry_strides::rebuildWrapped(
    RankedTensorType type, const llvm::SmallBitVector &wraps,
    ValueRange numbers, OpBuilder &b, Location loc) {
  IndexMath math = mathAt(b, loc);
  auto nsw = arith::IntegerOverflowFlags::nsw;
  ValueRange terms = numbers.take_back(3 * wraps.count());
  ValueRange others = numbers.drop_back(terms.size());
  SmallVector<Value> strided(others.take_front(2));
  others = others.drop_front(2);
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (size == 1)
      continue;
    if (wraps.test(dim)) {
      strided.push_back(math.toValue(math.number(0)));
      continue;
    }
    strided.push_back(others.front());
    others = others.drop_front();
  }
  Value result = rebuild(type, strided, b, loc);
  for (unsigned dim : wraps.set_bits()) {
    int64_t size = type.getDimSize(dim);
    auto wide = RankedTensorType::get({size}, b.getI64Type());
    auto splat = [&](Value number) -> Value {
      return tt::SplatOp::create(b, loc, wide, number);
    };
    Value range = tt::MakeRangeOp::create(b, loc, wide.clone(b.getI32Type()), 0,
                                          int32_t(size));
    Value line = arith::ExtSIOp::create(b, loc, wide, range);
    line = arith::MulIOp::create(b, loc, line, splat(terms[1]), nsw);
    line = arith::AddIOp::create(b, loc, line, splat(terms[0]), nsw);
    line = arith::RemSIOp::create(b, loc, line, splat(terms[2]));
    terms = terms.drop_front(3);
    result = tt::AddPtrOp::create(b, loc, type, result,
                                  widen(line, type.getShape(), dim, b, loc));
  }
  return result;
}
