// SPDX-License-Identifier: Apache-2.0
//
// How far an address moves from one iteration of a loop to the next. A wrong
// result would cost time only: a prefetch never faults and changes no value.

#include "LoadPrefetch.h"

#include "Operations.h"
#include "Strides.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// Returns the number, or that of all elements of a constant tensor.
static std::optional<int64_t> constantOf(Value value) {
  if (auto splat = value.getDefiningOp<triton::SplatOp>())
    value = splat.getSrc();
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.getSExtValue();
  return std::nullopt;
}

/// Returns by how much `value` grows from one iteration of `loop` to the next,
/// pointers in elements; nullopt if that is unknown or varies.
static std::optional<int64_t> growthOf(Value value, scf::ForOp loop) {
  if (loop.isDefinedOutsideOfLoop(value))
    return 0;
  if (value == loop.getInductionVar())
    return constantOf(loop.getStep());
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != loop.getBody())
      return std::nullopt;
    Operation *next =
        loop.getTiedLoopYieldedValue(argument)->get().getDefiningOp();
    if (isa_and_nonnull<triton::AddPtrOp, arith::AddIOp>(next) &&
        next->getOperand(0) == value)
      return constantOf(next->getOperand(1));
    return std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  if (isa<triton::SplatOp, triton::BroadcastOp, triton::ExpandDimsOp,
          arith::ExtSIOp, arith::ExtUIOp>(op))
    return growthOf(op->getOperand(0), loop);
  if (!isa<triton::AddPtrOp, arith::AddIOp>(op))
    return std::nullopt;
  std::optional<int64_t> left = growthOf(op->getOperand(0), loop);
  std::optional<int64_t> right = growthOf(op->getOperand(1), loop);
  return left && right ? std::optional(*left + *right) : std::nullopt;
}

int64_t mlir::triton_ext::cpu::bytesToNextIteration(triton::LoadOp load) {
  // A larger tile might leave the second-level cache before it is read.
  constexpr int64_t most = 128 << 10;
  auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
  auto type = dyn_cast<RankedTensorType>(load.getPtr().getType());
  if (!loop || !type || type.getRank() < 2)
    return 0;
  int64_t bytes = pointeeBytes(type), size = type.getShape().back();
  std::optional<int64_t> growth = growthOf(load.getPtr(), loop);
  if (growth != size || size * bytes >= pageBytes ||
      type.getNumElements() * bytes > most ||
      Strides().of(load.getPtr()).back() != 1)
    return 0;
  return size * bytes;
}
