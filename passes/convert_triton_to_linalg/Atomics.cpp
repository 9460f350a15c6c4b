// SPDX-License-Identifier: Apache-2.0
//
// Converts atomics. If pointers and mask are tracked, an atomic works on a view
// of the memory that it touches, otherwise on indices. Memory that is masked
// off is not touched.

#include "Access.h"

#include "linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;
using Rewriter = ConversionPatternRewriter;

/// Returns a tensor as windows, and a scalar as one window.
static Value toWindows(Access &access, Value value) {
  if (isa<RankedTensorType>(value.getType()))
    return access.toWindows(value);
  return tensor::FromElementsOp::create(
      access.builder, access.loc, access.tensorOf({1, 1}, value.getType()),
      value);
}

/// Reshapes windows back to the shape of the operation's result.
static Value fromWindows(Access &access, Value windows) {
  if (!access.shape.empty())
    return access.fromWindows(windows);
  Value zero = arith::ConstantIndexOp::create(access.builder, access.loc, 0);
  return tensor::ExtractOp::create(access.builder, access.loc, windows,
                                   ValueRange{zero, zero});
}

/// Returns the memory and the indices of the windows in it. For a scalar, the
/// memory is a view of one element, and its index is 0.
static std::optional<std::pair<Value, Value>> windowsOf(Access &access,
                                                        Value pointers) {
  if (!access.shape.empty())
    return access.memoryAndIndices(pointers);
  std::optional<Pointers> scalar = trackPointers(pointers, access.math);
  OpFoldResult one = access.math.number(1);
  Value view = access.view(access.address(scalar->base), scalar->offsets.offset,
                           one, one);
  Value index =
      arith::ConstantOp::create(access.builder, access.loc,
                                access.builder.getZeroAttr(access.tensorOf(
                                    {1, 1}, access.builder.getI64Type())));
  return std::pair(view, index);
}

static StringRef kindOf(tt::RMWOp op) {
  switch (op) {
  case tt::RMWOp::AND:
    return "andi";
  case tt::RMWOp::OR:
    return "ori";
  case tt::RMWOp::XOR:
    return "xori";
  case tt::RMWOp::ADD:
    return "addi";
  case tt::RMWOp::FADD:
    return "addf";
  case tt::RMWOp::MAX:
    return "maxs";
  case tt::RMWOp::MIN:
    return "mins";
  case tt::RMWOp::UMAX:
    return "maxu";
  case tt::RMWOp::UMIN:
    return "minu";
  case tt::RMWOp::XCHG:
    return "assign";
  }
  llvm_unreachable("all operations are above");
}

static StringRef orderOf(tt::MemSemantic order) {
  switch (order) {
  case tt::MemSemantic::RELAXED:
    return "relaxed";
  case tt::MemSemantic::ACQUIRE:
    return "acquire";
  case tt::MemSemantic::RELEASE:
    return "release";
  case tt::MemSemantic::ACQUIRE_RELEASE:
    return "acq_rel";
  }
  llvm_unreachable("all orders are above");
}

namespace {

/// The elements that an atomic changes, if they are contiguous or strided.
struct Piece {
  static std::optional<Piece> of(Access &access, Operation *op, Value pointers,
                                 Value mask);

  /// Returns the part of an operand that belongs to these elements.
  Value slice(Access &access, Value operand) const {
    if (isWhole(box, access.shape))
      return operand;
    return access.slice(operand, box, sizes);
  }
  Value init(Access &access) const {
    return tensor::EmptyOp::create(access.builder, access.loc, sizes,
                                   access.element);
  }
  /// Returns the result of the operation. Where the mask is false, Triton
  /// leaves it undefined; here it is 0.
  Value result(Access &access, Value old) const {
    if (isWhole(box, access.shape))
      return old;
    return access.pad(old, box, access.zero());
  }

  /// A view of the elements, or null if there are none.
  Value memory;
  Box box;
  SmallVector<OpFoldResult> sizes;
};

} // namespace

std::optional<Piece> Piece::of(Access &access, Operation *op, Value pointers,
                               Value mask) {
  if (access.shape.empty())
    return std::nullopt;
  auto tracked = access.track(op, pointers, mask);
  if (!tracked)
    access.noteMissed();
  if (!tracked || tracked->first.offsets.wrapsAround())
    return std::nullopt;
  Piece piece{Value(), tracked->second, {}};
  if (isNothing(piece.box, access.shape))
    return piece;
  piece.memory = access.viewOf(tracked->first, piece.box, piece.sizes);
  return piece;
}

namespace {
/// The operands of an atomic of linalg_ext. It works on all elements of a view
/// of memory if `indices` is null, otherwise on those at the indices.
struct Operands {
  /// The values that the atomic takes besides memory, in order.
  SmallVector<Value> values = {};
  Value indices = {}, mask = {}, memory = {}, init = {};
};
} // namespace

/// Replaces an atomic by what `create` makes of its operands, which returns the
/// previous values. `values` are the tensors or scalars that it takes. If the
/// addresses are not tracked and may not be whole elements apart, replaces it
/// by loops instead.
static void convertAtomic(Access &access, Operation *op, Value pointers,
                          ArrayRef<Value> values, Value mask,
                          Rewriter &rewriter,
                          function_ref<Value(const Operands &)> create) {
  if (auto piece = Piece::of(access, op, pointers, mask)) {
    if (!piece->memory) {
      rewriter.replaceOp(op, access.zeros());
      return;
    }
    Operands operands{.memory = piece->memory, .init = piece->init(access)};
    for (Value value : values)
      operands.values.push_back(piece->slice(access, value));
    rewriter.replaceOp(op, piece->result(access, create(operands)));
    return;
  }
  auto where = windowsOf(access, pointers);
  if (!where) {
    accessOneByOne(op, rewriter);
    return;
  }
  Operands operands{.indices = where->second, .memory = where->first};
  for (Value value : values)
    operands.values.push_back(toWindows(access, value));
  int64_t count =
      cast<ShapedType>(operands.values.front().getType()).getDimSize(0);
  operands.init = tensor::EmptyOp::create(
      rewriter, access.loc, ArrayRef<int64_t>{count, 1}, access.element);
  if (mask) {
    operands.mask =
        access.shape.empty()
            ? tensor::FromElementsOp::create(rewriter, access.loc, mask)
                  .getResult()
            : access.toLine(mask);
    // Where the mask is false, Triton leaves the result undefined; here it is
    // 0.
    operands.init = linalg::FillOp::create(rewriter, access.loc, access.zero(),
                                           operands.init)
                        .getResult(0);
  }
  rewriter.replaceOp(op, fromWindows(access, create(operands)));
}

namespace {
struct AtomicRMWPattern : AccessPattern<tt::AtomicRMWOp> {
  using AccessPattern::AccessPattern;

  static Reason whyNot(tt::AtomicRMWOp op) {
    tt::RMWOp kind = op.getAtomicRmwOp();
    bool isFloat = isa<FloatType>(getElementTypeOrSelf(op.getVal().getType()));
    if (kind == tt::RMWOp::XCHG || isFloat == (kind == tt::RMWOp::FADD))
      return std::nullopt;
    if (isFloat)
      return "of floats there are only the atomics fadd and exch "
             "(tl.atomic_max and tl.atomic_min take their bits as integers)";
    return "fadd takes floats only; the operation for integers is add";
  }

  LogicalResult matchAndRewrite(tt::AtomicRMWOp op, OpAdaptor,
                                Rewriter &rewriter) const override {
    if (Reason reason = whyNot(op))
      return rewriter.notifyMatchFailure(op, *reason);
    Access access(op, op.getType(), facts, rewriter);
    auto kind = rewriter.getStringAttr(kindOf(op.getAtomicRmwOp()));
    auto order = rewriter.getStringAttr(orderOf(op.getSem()));
    auto scope =
        rewriter.getStringAttr(tt::stringifyMemSyncScope(op.getScope()));
    convertAtomic(access, op, op.getPtr(), {op.getVal()}, op.getMask(),
                  rewriter, [&](const Operands &of) {
                    Type type = of.init.getType();
                    if (!of.indices)
                      return linalg_ext::AtomicRMWOp::create(
                                 rewriter, access.loc, type, kind, order, scope,
                                 of.values[0], of.memory, of.init)
                          .getOld();
                    return linalg_ext::GatherAtomicRMWOp::create(
                               rewriter, access.loc, type, kind, order, scope,
                               of.values[0], of.indices, of.mask, of.memory,
                               of.init)
                        .getOld();
                  });
    return success();
  }
};

struct AtomicCASPattern : AccessPattern<tt::AtomicCASOp> {
  using AccessPattern::AccessPattern;

  LogicalResult matchAndRewrite(tt::AtomicCASOp op, OpAdaptor,
                                Rewriter &rewriter) const override {
    Access access(op, op.getType(), facts, rewriter);
    auto order = rewriter.getStringAttr(orderOf(op.getSem()));
    auto scope =
        rewriter.getStringAttr(tt::stringifyMemSyncScope(op.getScope()));
    convertAtomic(access, op, op.getPtr(), {op.getCmp(), op.getVal()},
                  /*mask=*/Value(), rewriter, [&](const Operands &of) -> Value {
                    Type type = of.init.getType();
                    if (!of.indices)
                      return linalg_ext::AtomicCASOp::create(
                                 rewriter, access.loc, type, order, scope,
                                 of.values[0], of.values[1], of.memory, of.init)
                          .getResult();
                    return linalg_ext::GatherAtomicCASOp::create(
                               rewriter, access.loc, type, order, scope,
                               of.values[0], of.values[1], of.indices,
                               of.memory, of.init)
                        .getResult();
                  });
    return success();
  }
};
} // namespace

void mlir::triton_ext::convert_triton_to_linalg::populateAtomicPatterns(
    const AllPointerFacts &facts, PatternSet &patterns) {
  patterns.add<AtomicCASPattern, AtomicRMWPattern>(facts);
}
