// SPDX-License-Identifier: Apache-2.0
//
// Turns pointers and accesses of tts into arithmetic and accesses of Triton.
// Leaves `tts.get_structured_state` untouched.

#include "IndexValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "tts/Tts.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::triton_ext::lower_structured {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_LOWERSTRUCTUREDPASS
#include "LowerStructured.h.inc"
} // namespace mlir::triton_ext::lower_structured

using namespace mlir;
using namespace mlir::triton_ext;
namespace tt = mlir::triton;

namespace {
struct LowerStructuredPass
    : lower_structured::impl::LowerStructuredPassBase<LowerStructuredPass> {
  using LowerStructuredPassBase::LowerStructuredPassBase;

  void runOnOperation() override;
};

/// Makes operations of Triton for one operation of tts.
struct Lowering {
  OpBuilder builder;
  Location loc;

  explicit Lowering(Operation *op) : builder(op), loc(op->getLoc()) {}

  Type i64() { return builder.getI64Type(); }

  Value toI64(OpFoldResult value) {
    return lower_structured::toI64(value, builder, loc);
  }

  Value splat(Value scalar, ArrayRef<int64_t> shape) {
    return tt::SplatOp::create(
        builder, loc, RankedTensorType::get(shape, scalar.getType()), scalar);
  }

  /// Returns the indices 0, 1, ... of a dimension, as i64.
  Value indices(int64_t size) {
    Value range = tt::MakeRangeOp::create(
        builder, loc, RankedTensorType::get(size, builder.getI32Type()), 0,
        size);
    return arith::ExtSIOp::create(builder, loc,
                                  RankedTensorType::get(size, i64()), range);
  }

  /// Repeats a tensor of one dimension, which becomes the dimension `dim`.
  Value spread(Value line, size_t dim, ArrayRef<int64_t> shape) {
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (axis != dim)
        line = tt::ExpandDimsOp::create(builder, loc, line, axis);
    auto type = cast<RankedTensorType>(line.getType());
    if (type.getShape() == shape)
      return line;
    return tt::BroadcastOp::create(builder, loc, type.clone(shape), line);
  }

  Value extend(Value offsets) {
    auto type = cast<RankedTensorType>(offsets.getType());
    if (type.getElementType() == i64())
      return offsets;
    return arith::ExtSIOp::create(builder, loc, type.clone(i64()), offsets);
  }

  /// Returns the offsets modulo `bound`. A `bound` of 0 leaves them as they
  /// are.
  Value wrap(Value offsets, OpFoldResult bound, int64_t size) {
    if (isConstantIntValue(bound, 0))
      return offsets;
    Value divisor = toI64(bound);
    if (!getConstantIntValue(bound)) {
      Value zero = arith::ConstantIntOp::create(builder, loc, 0, 64);
      Value most = arith::ConstantIntOp::create(
          builder, loc, std::numeric_limits<int64_t>::max(), 64);
      Value isZero = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, divisor, zero);
      divisor = arith::SelectOp::create(builder, loc, isZero, most, divisor);
    }
    return arith::RemSIOp::create(builder, loc, offsets, splat(divisor, size));
  }

  /// Returns the pointers at the sum of the terms, one for each dimension.
  Value addTerms(Value base, ArrayRef<Value> terms, ArrayRef<int64_t> shape) {
    Value pointers = splat(base, shape);
    Value sum;
    for (auto [dim, term] : llvm::enumerate(terms)) {
      Value whole = spread(term, dim, shape);
      sum = sum ? arith::AddIOp::create(builder, loc, sum, whole).getResult()
                : whole;
    }
    if (!sum)
      return pointers;
    return tt::AddPtrOp::create(builder, loc, pointers.getType(), pointers,
                                sum);
  }

  /// Returns `indices * stride + offset`.
  Value term(Value indices, OpFoldResult stride, OpFoldResult offset) {
    int64_t size = cast<RankedTensorType>(indices.getType()).getDimSize(0);
    Value scaled = arith::MulIOp::create(builder, loc, indices,
                                         splat(toI64(stride), size));
    return arith::AddIOp::create(builder, loc, scaled,
                                 splat(toI64(offset), size));
  }

  Value pointersOf(tts::MakeTptrOp op) {
    SmallVector<Value> terms;
    for (auto [size, stride, offset, bound] :
         llvm::zip_equal(op.getSizes(), op.getMixedStrides(),
                         op.getMixedOffsets(), op.getMixedShape())) {
      Value line = term(indices(size), stride, offset);
      terms.push_back(op.getOrder().empty() ? wrap(line, bound, size) : line);
    }
    return addTerms(op.getBase(), terms, op.getSizes());
  }

  Value pointersOf(tts::MakeGatherScatterTptrOp op) {
    SmallVector<Value> terms;
    for (auto [dim, size, stride, offset] : llvm::enumerate(
             op.getSizes(), op.getMixedStrides(), op.getMixedOffsets())) {
      Value line = dim == op.getGatherScatterDim()
                       ? extend(op.getGatherScatterOffset())
                       : indices(size);
      terms.push_back(term(line, stride, offset));
    }
    return addTerms(op.getBase(), terms, op.getSizes());
  }

  /// Returns the mask of a structured access; null if it has none.
  Value maskOf(Value ptr, ArrayRef<OpFoldResult> maskDims) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(ptr.getType()).getShape();
    auto gather = ptr.getDefiningOp<tts::MakeGatherScatterTptrOp>();
    Value own = gather ? gather.getGatherScatterMask() : Value();
    Value mask;
    auto restrict = [&](Value line, size_t dim) {
      Value whole = spread(line, dim, shape);
      mask = mask ? arith::AndIOp::create(builder, loc, mask, whole).getResult()
                  : whole;
    };
    if (own)
      restrict(own, gather.getGatherScatterDim());
    for (auto [place, bound] : llvm::enumerate(maskDims)) {
      size_t dim = place % shape.size();
      bool isBegin = place >= shape.size();
      if (own && dim == gather.getGatherScatterDim())
        continue;
      int64_t size = shape[dim];
      std::optional<int64_t> number = getConstantIntValue(bound);
      if (number && (isBegin ? *number == 0 : *number >= size))
        continue;
      auto predicate =
          isBegin ? arith::CmpIPredicate::sge : arith::CmpIPredicate::slt;
      restrict(arith::CmpIOp::create(builder, loc, predicate, indices(size),
                                     splat(toI64(bound), size)),
               dim);
    }
    return mask;
  }

  /// Returns the pointer or pointers at offsets from a pointer.
  Value pointersAt(Value ptr, Value offset) {
    auto type = dyn_cast<RankedTensorType>(offset.getType());
    Value pointers = type ? splat(ptr, type.getShape()) : ptr;
    return tt::AddPtrOp::create(builder, loc, pointers.getType(), pointers,
                                offset);
  }

  tt::LoadOp load(Value ptr, Value mask, Value other) {
    if (!mask)
      return tt::LoadOp::create(builder, loc, ptr);
    if (!other)
      return tt::LoadOp::create(builder, loc, ptr, mask);
    if (auto type = dyn_cast<RankedTensorType>(ptr.getType()))
      other = splat(other, type.getShape());
    return tt::LoadOp::create(builder, loc, ptr, mask, other);
  }

  tt::StoreOp store(Value ptr, Value value, Value mask) {
    auto op = tt::StoreOp::create(builder, loc, ptr, value);
    if (mask)
      op.getMaskMutable().assign(mask);
    return op;
  }
};
} // namespace

/// Returns what the results of `op` become; nullopt if it is not lowered.
static std::optional<SmallVector<Value>> lower(Operation *op) {
  using Results = std::optional<SmallVector<Value>>;
  Lowering to(op);
  return llvm::TypeSwitch<Operation *, Results>(op)
      .Case([&](tts::LoadOp op) -> Results {
        Value mask = to.maskOf(op.getPtr(), op.getMixedMaskDims());
        tt::LoadOp load = to.load(op.getPtr(), mask, op.getOther());
        load.setCachePolicyAttr(op.getCachePolicyAttr());
        return {{load}};
      })
      .Case([&](tts::StoreOp op) -> Results {
        Value mask = to.maskOf(op.getPtr(), op.getMixedMaskDims());
        to.store(op.getPtr(), op.getValue(), mask)
            .setCachePolicyAttr(op.getCachePolicyAttr());
        return SmallVector<Value>();
      })
      .Case([&](tts::GatherOp op) -> Results {
        Value ptr = to.pointersAt(op.getPtr(), op.getOffset());
        return {{to.load(ptr, op.getMask(), op.getOther())}};
      })
      .Case([&](tts::ScatterOp op) -> Results {
        to.store(to.pointersAt(op.getPtr(), op.getOffset()), op.getValue(),
                 op.getMask());
        return SmallVector<Value>();
      })
      .Case([&](tts::AtomicRMWOp op) -> Results {
        Value ptr = op.isStructured()
                        ? op.getPtr()
                        : to.pointersAt(op.getPtr(), op.getOffset());
        Value mask = op.isStructured()
                         ? to.maskOf(op.getPtr(), op.getMixedMaskDims())
                         : op.getMask();
        return {{tt::AtomicRMWOp::create(to.builder, to.loc, op.getType(),
                                         op.getAtomicRmwOp(), ptr, op.getVal(),
                                         mask, op.getSem(), op.getScope())}};
      })
      .Case([&](tts::AtomicCASOp op) -> Results {
        Value ptr = op.isStructured()
                        ? op.getPtr()
                        : to.pointersAt(op.getPtr(), op.getOffset());
        return {{tt::AtomicCASOp::create(to.builder, to.loc, op.getType(), ptr,
                                         op.getCmp(), op.getVal(), op.getSem(),
                                         op.getScope())}};
      })
      .Default([](Operation *) { return std::nullopt; });
}

void LowerStructuredPass::runOnOperation() {
  auto replace = [](Operation *op, ValueRange values) {
    op->replaceAllUsesWith(values);
    op->erase();
  };
  // Accesses first, which look at the mask of their pointers.
  getOperation().walk([&](Operation *op) {
    if (auto values = lower(op))
      replace(op, *values);
  });
  getOperation().walk([&](Operation *op) {
    Lowering to(op);
    if (auto strided = dyn_cast<tts::MakeTptrOp>(op))
      replace(op, to.pointersOf(strided));
    else if (auto gather = dyn_cast<tts::MakeGatherScatterTptrOp>(op))
      replace(op, to.pointersOf(gather));
  });
}
