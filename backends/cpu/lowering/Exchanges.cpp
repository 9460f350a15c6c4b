// SPDX-License-Identifier: Apache-2.0

#include "Exchanges.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// Marks the operations that exchange, and says along which dimension.
static constexpr StringLiteral marker = "triton_ext_cpu.exchanged";

std::optional<int> mlir::triton_ext::cpu::exchangedDim(Operation *op) {
  auto dim = isa<UnrealizedConversionCastOp>(op)
                 ? op->getAttrOfType<IntegerAttr>(marker)
                 : nullptr;
  return dim ? std::optional<int>(dim.getInt()) : std::nullopt;
}

/// Returns whether a reduction combines two elements by `xor`.
static bool isXor(triton::ReduceOp reduce) {
  if (reduce.getNumOperands() != 1 ||
      reduce.getCombineOp().getBlocks().size() != 1)
    return false;
  Block &body = reduce.getCombineOp().front();
  auto combined = dyn_cast<arith::XOrIOp>(body.front());
  if (!combined || combined->getNextNode() != body.getTerminator() ||
      body.getTerminator()->getOperand(0) != combined.getResult())
    return false;
  Value a = body.getArgument(0), b = body.getArgument(1);
  return (combined.getLhs() == a && combined.getRhs() == b) ||
         (combined.getLhs() == b && combined.getRhs() == a);
}

/// Returns the dimension of size 2 along which each element of `both` is the
/// `xor` of the two elements of `tensor`: a reduction, and a broadcast along
/// the reduced dimension. Returns nullopt if there is none.
static std::optional<int> findXorOfPairs(Value both, Value tensor) {
  auto broadcast = both.getDefiningOp<triton::BroadcastOp>();
  auto expand = broadcast
                    ? broadcast.getSrc().getDefiningOp<triton::ExpandDimsOp>()
                    : nullptr;
  auto reduce =
      expand ? expand.getSrc().getDefiningOp<triton::ReduceOp>() : nullptr;
  if (!reduce || !isXor(reduce) || reduce.getOperand(0) != tensor ||
      reduce.getAxis() != expand.getAxis() ||
      reduce.getInputTypes()[0].getDimSize(reduce.getAxis()) != 2)
    return std::nullopt;
  return reduce.getAxis();
}

/// Returns the operand of the bit cast that defines `value`; `value` itself if
/// no bit cast defines it.
static Value beforeBitcast(Value value) {
  auto cast = value.getDefiningOp<triton::BitcastOp>();
  return cast ? cast.getSrc() : value;
}

void mlir::triton_ext::cpu::recognizeExchanges(triton::FuncOp function) {
  SmallVector<arith::XOrIOp> found;
  function.walk([&](arith::XOrIOp op) { found.push_back(op); });
  for (arith::XOrIOp op : found) {
    Value tensor = op.getLhs(), both = op.getRhs();
    std::optional<int> dim = findXorOfPairs(both, tensor);
    if (!dim) {
      std::swap(tensor, both);
      dim = findXorOfPairs(both, tensor);
    }
    if (!dim)
      continue;
    // a ^ (a ^ b) is b. The order of elements and a bit cast commute.
    OpBuilder b(op);
    auto exchange = [&](Value value) {
      auto partner = UnrealizedConversionCastOp::create(b, op.getLoc(),
                                                        value.getType(), value);
      partner->setAttr(marker, b.getI64IntegerAttr(*dim));
      return partner.getResult(0);
    };
    Value before = beforeBitcast(tensor);
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
      if (auto cast = dyn_cast<triton::BitcastOp>(user);
          cast && cast.getType() == before.getType()) {
        cast.replaceAllUsesWith(exchange(before));
        cast.erase();
      }
    if (!op->use_empty())
      op.replaceAllUsesWith(exchange(tensor));
    // Erase the operations that are now unused: an unused reduction would still
    // be computed.
    SmallVector<Operation *> unused = {op};
    while (!unused.empty()) {
      Operation *last = unused.pop_back_val();
      if (!last->use_empty())
        continue;
      SmallVector<Value> operands(last->getOperands());
      bool isChain =
          isa<arith::XOrIOp, triton::BroadcastOp, triton::ExpandDimsOp,
              triton::ReduceOp, triton::BitcastOp>(last);
      if (!isChain)
        continue;
      last->erase();
      for (Value operand : operands)
        if (Operation *source = operand.getDefiningOp();
            source && !llvm::is_contained(unused, source))
          unused.push_back(source);
    }
  }
}
