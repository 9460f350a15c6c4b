// SPDX-License-Identifier: Apache-2.0
//
// Computes with offsets that are described by numbers for each dimension.

#include "analysis/OffsetMath.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext::analysis;
namespace tt = mlir::triton;

/// The greatest distance between two elements of a dividend. Distances in tiles
/// are smaller, and multipliers of hashes larger.
static constexpr int64_t mostDistance = 1 << 20;

Offsets mlir::triton_ext::analysis::addOffsets(const Offsets &a,
                                               const Offsets &b,
                                               IndexMath &math) {
  Offsets result{math.add(a.offset, b.offset), {}, a.wrapped};
  for (auto [x, y] : llvm::zip_equal(a.strides, b.strides))
    result.strides.push_back(math.add(x, y));
  llvm::append_range(result.wrapped, b.wrapped);
  return result;
}

Offsets mlir::triton_ext::analysis::subtractOffsets(const Offsets &a,
                                                    const Offsets &b,
                                                    IndexMath &math) {
  Offsets result{math.sub(a.offset, b.offset), {}, a.wrapped};
  for (auto [x, y] : llvm::zip_equal(a.strides, b.strides))
    result.strides.push_back(math.sub(x, y));
  OpFoldResult zero = math.number(0);
  // The remainder of -x is minus the remainder of x.
  for (const WrappedOffset &term : b.wrapped)
    result.wrapped.push_back({term.dim, math.sub(zero, term.offset),
                              math.sub(zero, term.stride), term.modulus});
  return result;
}

Offsets mlir::triton_ext::analysis::scaleOffsets(const Offsets &offsets,
                                                 OpFoldResult factor,
                                                 IndexMath &math) {
  Offsets result{math.mul(offsets.offset, factor), {}};
  for (OpFoldResult stride : offsets.strides)
    result.strides.push_back(math.mul(stride, factor));
  // The remainder of f * x by f * m is f times the remainder of x by m. If f is
  // 0, the modulus of 0 leaves the offset of 0.
  for (const WrappedOffset &term : offsets.wrapped)
    result.wrapped.push_back({term.dim, math.mul(term.offset, factor),
                              math.mul(term.stride, factor),
                              math.mul(term.modulus, factor)});
  return result;
}

std::optional<Offsets> mlir::triton_ext::analysis::wrapOffsets(
    const Offsets &offsets, OpFoldResult modulus, ArrayRef<int64_t> shape,
    bool isExact, IndexMath &math) {
  if (offsets.wrapsAround() || shape.empty())
    return std::nullopt;
  WrappedOffset term{0, offsets.offset, math.number(0), modulus};
  for (auto [dim, stride] : llvm::enumerate(offsets.strides)) {
    if (isZero(stride))
      continue;
    std::optional<int64_t> number = getConstantIntValue(stride);
    int64_t distance;
    bool isShort = number &&
                   !llvm::MulOverflow(*number, shape[dim] - 1, distance) &&
                   distance >= -mostDistance && distance <= mostDistance;
    if (!isZero(term.stride) || !(isShort || isExact))
      return std::nullopt;
    term.dim = dim;
    term.stride = stride;
  }
  SmallVector<OpFoldResult> zeros(shape.size(), math.number(0));
  return Offsets{math.number(0), zeros, {term}};
}

std::optional<WrappedOffset>
mlir::triton_ext::analysis::getTermAlong(const Offsets &offsets, unsigned dim,
                                         IndexMath &math) {
  OpFoldResult stride = offsets.strides[dim];
  WrappedOffset result{dim, math.number(0), stride, math.number(0)};
  unsigned count = isZero(stride) ? 0 : 1;
  for (const WrappedOffset &term : offsets.wrapped) {
    if (term.dim != dim)
      continue;
    result = term;
    ++count;
  }
  if (count > 1)
    return std::nullopt;
  return result;
}

std::optional<Offsets>
mlir::triton_ext::analysis::chooseOffsets(Value condition, const Offsets &yes,
                                          const Offsets &no, IndexMath &math) {
  Offsets result{math.choose(condition, yes.offset, no.offset), {}};
  for (size_t dim = 0; dim < yes.strides.size(); ++dim) {
    auto wraps = [&](const WrappedOffset &term) { return term.dim == dim; };
    if (llvm::none_of(yes.wrapped, wraps) && llvm::none_of(no.wrapped, wraps)) {
      result.strides.push_back(
          math.choose(condition, yes.strides[dim], no.strides[dim]));
      continue;
    }
    auto a = getTermAlong(yes, dim, math), b = getTermAlong(no, dim, math);
    if (!a || !b)
      return std::nullopt;
    result.strides.push_back(math.number(0));
    result.wrapped.push_back({unsigned(dim),
                              math.choose(condition, a->offset, b->offset),
                              math.choose(condition, a->stride, b->stride),
                              math.choose(condition, a->modulus, b->modulus)});
  }
  return result;
}

std::optional<SmallVector<OpFoldResult>>
mlir::triton_ext::analysis::reshapeStrides(Operation *op,
                                           ArrayRef<OpFoldResult> strides,
                                           IndexMath &math) {
  ArrayRef<int64_t> from = shapeOf(op->getOperand(0));
  ArrayRef<int64_t> to = shapeOf(op->getResult(0));
  SmallVector<OpFoldResult> result;
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
    result.assign(strides.begin(), strides.end());
    result.insert(result.begin() + expand.getAxis(), math.number(0));
    return result;
  }
  if (isa<tt::BroadcastOp>(op)) {
    for (auto [dim, stride] : llvm::enumerate(strides))
      result.push_back(from[dim] == to[dim] ? stride : math.number(0));
    return result;
  }
  if (auto transpose = dyn_cast<tt::TransOp>(op)) {
    for (int32_t dim : transpose.getOrder())
      result.push_back(strides[dim]);
    return result;
  }
  auto reshape = dyn_cast<tt::ReshapeOp>(op);
  if (!reshape || reshape.getAllowReorder())
    return std::nullopt;
  if (auto matched = matchDimensions(from, to)) {
    for (std::optional<unsigned> dim : *matched)
      result.push_back(dim ? strides[*dim] : math.number(0));
    return result;
  }
  if (from.size() != 1)
    return std::nullopt;
  // One dimension is split into several.
  result.assign(to.size(), math.number(0));
  OpFoldResult stride = strides[0];
  for (int dim = int(to.size()) - 1; dim >= 0; --dim) {
    if (to[dim] != 1)
      result[dim] = stride;
    stride = math.mul(stride, math.number(to[dim]));
  }
  return result;
}

std::optional<unsigned>
mlir::triton_ext::analysis::reshapeDimension(Operation *op, unsigned dim) {
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op))
    return dim < expand.getAxis() ? dim : dim + 1;
  if (isa<tt::BroadcastOp>(op))
    return dim;
  if (auto transpose = dyn_cast<tt::TransOp>(op))
    return llvm::find(transpose.getOrder(), int32_t(dim)) -
           transpose.getOrder().begin();
  auto reshape = dyn_cast<tt::ReshapeOp>(op);
  if (!reshape || reshape.getAllowReorder())
    return std::nullopt;
  auto matched =
      matchDimensions(shapeOf(op->getOperand(0)), shapeOf(op->getResult(0)));
  if (!matched)
    return std::nullopt;
  const auto *found = llvm::find(*matched, std::optional<unsigned>(dim));
  if (found == matched->end())
    return std::nullopt;
  return found - matched->begin();
}

std::optional<Offsets> mlir::triton_ext::analysis::reshapeOffsets(
    Operation *op, const Offsets &offsets, IndexMath &math) {
  auto strides = reshapeStrides(op, offsets.strides, math);
  if (!strides)
    return std::nullopt;
  Offsets result{offsets.offset, *strides};
  for (WrappedOffset term : offsets.wrapped) {
    std::optional<unsigned> dim = reshapeDimension(op, term.dim);
    if (!dim)
      return std::nullopt;
    // A broadcast repeats the only element.
    if (shapeOf(op->getOperand(0))[term.dim] == 1)
      term.stride = math.number(0);
    term.dim = *dim;
    result.wrapped.push_back(term);
  }
  return result;
}
