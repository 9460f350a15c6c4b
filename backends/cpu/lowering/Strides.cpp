// SPDX-License-Identifier: Apache-2.0
//
// One rule for each operation that keeps strides, and one rule for all other
// elementwise operations. "Unknown" is always a correct result.

#include "Strides.h"

#include "Operations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

Strides::Differences Strides::of(Value tensor) {
  if (auto it = known.find(tensor); it != known.end())
    return it->second;
  Differences differences = compute(tensor);
  known[tensor] = differences;
  return differences;
}

Strides::Differences Strides::compute(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Differences result(type.getRank(), std::nullopt);
  // The difference of two integers wraps around as the integers do.
  auto wrap = [&](uint64_t stride) {
    auto integer = dyn_cast<IntegerType>(type.getElementType());
    return llvm::SignExtend64(stride, integer ? integer.getWidth() : 64);
  };
  if (Operation *op = tensor.getDefiningOp(); op && !isRoot(op)) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](triton::SplatOp) { result.assign(type.getRank(), 0); })
        .Case([&](arith::ConstantOp constant) {
          auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
          if (dense && dense.isSplat())
            result.assign(type.getRank(), 0);
        })
        .Case([&](triton::MakeRangeOp) { result.assign(1, 1); })
        .Case([&](triton::ExpandDimsOp expand) {
          result = of(expand.getSrc());
          result.insert(result.begin() + expand.getAxis(), 0);
        })
        .Case([&](triton::BroadcastOp broadcast) {
          result = of(broadcast.getSrc());
          for (auto [i, size] :
               llvm::enumerate(broadcast.getSrc().getType().getShape()))
            if (size == 1)
              result[i] = 0;
        })
        .Case([&](triton::TransOp trans) {
          Differences from = of(trans.getSrc());
          for (auto [i, d] : llvm::enumerate(trans.getOrder()))
            result[i] = from[d];
        })
        .Case<arith::AddIOp, arith::SubIOp, triton::AddPtrOp>([&](auto add) {
          Differences l = of(add->getOperand(0)), r = of(add->getOperand(1));
          int64_t sign = isa<arith::SubIOp>(add) ? -1 : 1;
          for (int i = 0; i < type.getRank(); ++i)
            if (l[i] && r[i])
              result[i] = wrap(uint64_t(*l[i]) + sign * uint64_t(*r[i]));
        })
        .Case([&](arith::MulIOp mul) {
          Differences l = of(mul.getLhs()), r = of(mul.getRhs());
          APInt number;
          DenseIntElementsAttr dense;
          for (int i = 0; i < type.getRank(); ++i) {
            if (l[i] == 0 && r[i] == 0)
              result[i] = 0;
            else if (l[i] && matchPattern(mul.getRhs(), m_Constant(&dense)) &&
                     dense.isSplat())
              result[i] = wrap(uint64_t(*l[i]) *
                               dense.getSplatValue<APInt>().getSExtValue());
          }
        })
        .Case<arith::ExtSIOp, arith::ExtUIOp>([&](Operation *op) {
          // Ignores that the operand may wrap: few groups of lanes contain a
          // wrap.
          result = of(op->getOperand(0));
        })
        .Case([&](arith::TruncIOp trunc) {
          for (auto [i, s] : llvm::enumerate(of(trunc.getIn())))
            if (s)
              result[i] = wrap(*s);
        })
        .Case([&](triton::BitcastOp cast) {
          int64_t from = 1, to = 1;
          if (isa<triton::PointerType>(type.getElementType())) {
            from = pointeeBytes(cast.getSrc().getType());
            to = pointeeBytes(type);
          }
          bool isFloat = isa<FloatType>(type.getElementType());
          for (auto [i, s] : llvm::enumerate(of(cast.getSrc())))
            if (s && *s * from % to == 0 && (*s == 0 || !isFloat))
              result[i] = *s * from / to;
        })
        .Case<arith::RemSIOp, arith::RemUIOp>([&](Operation *op) {
          // Ignores the jumps at multiples of the divisor: few groups of lanes
          // contain one.
          result = of(op->getOperand(0));
        })
        .Default([&](Operation *op) {
          // Equal operands give equal results.
          if (!op->hasTrait<OpTrait::Elementwise>() || !isMemoryEffectFree(op))
            return;
          result.assign(type.getRank(), 0);
          for (Value operand : op->getOperands()) {
            auto other = dyn_cast<RankedTensorType>(operand.getType());
            if (!other)
              continue;
            if (other.getShape() != type.getShape()) {
              result.assign(type.getRank(), std::nullopt);
              return;
            }
            for (auto [i, s] : llvm::enumerate(of(operand)))
              if (s != 0)
                result[i] = std::nullopt;
          }
        });
  }
  return result;
}
