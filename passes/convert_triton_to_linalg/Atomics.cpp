// SPDX-License-Identifier: Apache-2.0
//
// Atomics: on the view of memory that they touch where pointers and mask are
// tracked, where indices say elsewhere. What is masked off is not touched.

#include "Access.h"

#include "linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;

/// A value as windows; a scalar as one window.
static Value toWindows(Access &access, Value value) {
  if (isa<RankedTensorType>(value.getType()))
    return access.toWindows(value);
  return tensor::FromElementsOp::create(
      access.builder, access.loc, access.tensorOf({1, 1}, value.getType()),
      value);
}

/// What the operation gives, from windows.
static Value fromWindows(Access &access, Value windows) {
  if (!access.shape.empty())
    return access.fromWindows(windows);
  Value zero = arith::ConstantIndexOp::create(access.builder, access.loc, 0);
  return tensor::ExtractOp::create(access.builder, access.loc, windows,
                                   ValueRange{zero, zero});
}

/// The memory and where in it the windows are; for a scalar a view of it alone.
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

/// The elements of memory that an atomic is on, if they lie evenly.
struct Piece {
  static std::optional<Piece> of(Access &access, Operation *op, Value pointers,
                                 Value mask);

  /// The part of an operand that is on this.
  Value slice(Access &access, Value operand) const {
    if (isWhole(box, access.shape))
      return operand;
    return access.slice(operand, box, sizes);
  }
  Value init(Access &access) const {
    return tensor::EmptyOp::create(access.builder, access.loc, sizes,
                                   access.element);
  }
  /// What the operation gives. What Triton gives where the mask is false is
  /// open; it is 0 here.
  Value result(Access &access, Value old) const {
    if (isWhole(box, access.shape))
      return old;
    return access.pad(old, box, access.zero());
  }

  /// Null if no element is touched.
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
    return std::nullopt;
  Piece piece{Value(), tracked->second, {}};
  if (isNothing(piece.box, access.shape))
    return piece;
  piece.memory = access.viewOf(tracked->first, piece.box, piece.sizes);
  return piece;
}

void mlir::triton_ext::convert_triton_to_linalg::convertAtomic(
    tt::AtomicRMWOp op, const AllPointerFacts &facts,
    SmallVectorImpl<Operation *> &made) {
  Access access(op, op.getType(), facts);
  OpBuilder &builder = access.builder;
  auto kind = builder.getStringAttr(kindOf(op.getAtomicRmwOp()));
  auto order = builder.getStringAttr(orderOf(op.getSem()));
  auto scope = builder.getStringAttr(tt::stringifyMemSyncScope(op.getScope()));
  if (auto piece = Piece::of(access, op, op.getPtr(), op.getMask())) {
    if (!piece->memory) {
      op.replaceAllUsesWith(access.zeros());
      op.erase();
      return;
    }
    Value init = piece->init(access);
    auto atomic = linalg_ext::AtomicRMWOp::create(
        builder, access.loc, init.getType(), kind, order, scope,
        piece->slice(access, op.getVal()), piece->memory, init);
    op.replaceAllUsesWith(piece->result(access, atomic.getOld()));
    op.erase();
    return;
  }
  auto where = windowsOf(access, op.getPtr());
  if (!where) {
    made.push_back(accessOneByOne(op));
    return;
  }
  auto [memory, indices] = *where;
  Value value = toWindows(access, op.getVal());
  Value mask = op.getMask();
  if (mask && access.shape.empty())
    mask = tensor::FromElementsOp::create(builder, access.loc, mask);
  else if (mask)
    mask = access.toLine(mask);
  int64_t count = cast<ShapedType>(value.getType()).getDimSize(0);
  Value init = tensor::EmptyOp::create(
      builder, access.loc, ArrayRef<int64_t>{count, 1}, access.element);
  // What Triton gives where the mask is false is open; it is 0 here.
  if (mask)
    init = linalg::FillOp::create(builder, access.loc, access.zero(), init)
               .getResult(0);
  auto atomic = linalg_ext::GatherAtomicRMWOp::create(
      builder, access.loc, init.getType(), kind, order, scope, value, indices,
      mask, memory, init);
  op.replaceAllUsesWith(fromWindows(access, atomic.getOld()));
  op.erase();
}

void mlir::triton_ext::convert_triton_to_linalg::convertAtomic(
    tt::AtomicCASOp op, const AllPointerFacts &facts,
    SmallVectorImpl<Operation *> &made) {
  Access access(op, op.getType(), facts);
  OpBuilder &builder = access.builder;
  auto order = builder.getStringAttr(orderOf(op.getSem()));
  auto scope = builder.getStringAttr(tt::stringifyMemSyncScope(op.getScope()));
  if (auto piece = Piece::of(access, op, op.getPtr(), /*mask=*/Value())) {
    Value init = piece->init(access);
    auto atomic = linalg_ext::AtomicCASOp::create(
        builder, access.loc, init.getType(), order, scope, op.getCmp(),
        op.getVal(), piece->memory, init);
    op.replaceAllUsesWith(piece->result(access, atomic.getResult()));
    op.erase();
    return;
  }
  auto where = windowsOf(access, op.getPtr());
  if (!where) {
    made.push_back(accessOneByOne(op));
    return;
  }
  auto [memory, indices] = *where;
  Value expected = toWindows(access, op.getCmp());
  Value value = toWindows(access, op.getVal());
  int64_t count = cast<ShapedType>(value.getType()).getDimSize(0);
  Value init = tensor::EmptyOp::create(
      builder, access.loc, ArrayRef<int64_t>{count, 1}, access.element);
  auto atomic = linalg_ext::GatherAtomicCASOp::create(
      builder, access.loc, init.getType(), order, scope, expected, value,
      indices, memory, init);
  op.replaceAllUsesWith(fromWindows(access, atomic.getResult()));
  op.erase();
}
