// SPDX-License-Identifier: Apache-2.0
//
// What an operation asks of global memory: the direction, the mask, the number
// of elements and the size of one.

#include "Access.h"

#include "mlir/IR/BuiltinTypes.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton_ext::instrument;
namespace tt = mlir::triton;

static int64_t numElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getNumElements() : 1;
}

/// Returns the mask whose lanes `mask` repeats, which takes less time to count:
/// that of a row, if all rows have it.
static Value withoutCopies(Value mask) {
  while (Operation *source = mask ? mask.getDefiningOp() : nullptr) {
    if (!isa<tt::BroadcastOp, tt::SplatOp, tt::ExpandDimsOp>(source))
      break;
    mask = source->getOperand(0);
  }
  return mask;
}

/// Returns the access of the elements of `type`, which may be a scalar.
static Access access(StringRef rule, Type type, Value mask = {}) {
  Type element = getElementTypeOrSelf(type);
  // Pointers have 64 bits. A value of i1 takes a byte of memory.
  int64_t bits =
      element.isIntOrFloat() ? int64_t(element.getIntOrFloatBitWidth()) : 64;
  int64_t lanes = numElements(type);
  Value counted = withoutCopies(mask);
  int64_t copies = counted ? lanes / numElements(counted.getType()) : 1;
  return {rule,   mask,  counted,
          copies, lanes, int64_t(llvm::divideCeil(bits, 8))};
}

std::optional<Access> mlir::triton_ext::instrument::accessOf(Operation *op) {
  using Result = std::optional<Access>;
  constexpr StringRef loaded = "loaded", stored = "stored", atomic = "atomic";
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<tt::LoadOp, tt::AtomicLoadOp>([&](auto load) {
        return access(loaded, load.getType(), load.getMask());
      })
      .Case<tt::StoreOp, tt::AtomicStoreOp>([&](auto store) {
        return access(stored, store.getValue().getType(), store.getMask());
      })
      .Case([&](tt::AtomicRMWOp rmw) {
        return access(atomic, rmw.getVal().getType(), rmw.getMask());
      })
      .Case([&](tt::AtomicCASOp cas) {
        return access(atomic, cas.getVal().getType());
      })
      // How often it reads is not known before it ends: this is the least.
      .Case([&](tt::AtomicPollOp poll) {
        return access(loaded, poll.getExpected().getType());
      })
      .Case<tt::DescriptorLoadOp, tt::DescriptorGatherOp>(
          [&](auto load) { return access(loaded, load.getResult().getType()); })
      .Case<tt::DescriptorStoreOp, tt::DescriptorScatterOp>(
          [&](auto store) { return access(stored, store.getSrc().getType()); })
      .Case([&](tt::DescriptorReduceOp reduce) {
        return access(atomic, reduce.getSrc().getType());
      })
      .Default([](Operation *) { return Result(); });
}
