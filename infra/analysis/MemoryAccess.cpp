// SPDX-License-Identifier: Apache-2.0
//
// One case for each operation of tt that accesses global memory.

#include "analysis/MemoryAccess.h"

#include "mlir/IR/BuiltinTypes.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton_ext::analysis;
namespace tt = mlir::triton;

using Kind = MemoryAccess::Kind;

/// Returns the bytes of an element in memory. Pointers have 64 bits; a value of
/// i1 takes a byte.
static int64_t bytesOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  int64_t bits =
      element.isIntOrFloat() ? int64_t(element.getIntOrFloatBitWidth()) : 64;
  return int64_t(llvm::divideCeil(bits, 8));
}

static MemoryAccess accessOf(Operation *op, Kind kind, Type type) {
  MemoryAccess access{};
  access.op = op;
  access.kind = kind;
  access.type = type;
  auto tensor = dyn_cast<RankedTensorType>(type);
  access.lanes = tensor ? tensor.getNumElements() : 1;
  access.laneBytes = bytesOf(type);
  return access;
}

static MemoryAccess byPointer(Operation *op, Kind kind, Type type,
                              Value pointer, Value mask, bool isAtomic) {
  MemoryAccess access = accessOf(op, kind, type);
  access.pointer = pointer;
  access.mask = mask;
  access.isAtomic = isAtomic;
  return access;
}

static MemoryAccess byDescriptor(Operation *op, Kind kind, Type type,
                                 Value descriptor) {
  MemoryAccess access = accessOf(op, kind, type);
  access.descriptor = descriptor;
  access.isAtomic = kind == Kind::Atomic;
  return access;
}

std::optional<MemoryAccess>
mlir::triton_ext::analysis::memoryAccessOf(Operation *op) {
  using Result = std::optional<MemoryAccess>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](tt::LoadOp load) {
        MemoryAccess access = byPointer(op, Kind::Load, load.getType(),
                                        load.getPtr(), load.getMask(), false);
        access.other = load.getOther();
        return access;
      })
      .Case([&](tt::StoreOp store) {
        return byPointer(op, Kind::Store, store.getValue().getType(),
                         store.getPtr(), store.getMask(), false);
      })
      .Case([&](tt::AtomicLoadOp load) {
        return byPointer(op, Kind::Load, load.getType(), load.getPtr(),
                         load.getMask(), true);
      })
      .Case([&](tt::AtomicStoreOp store) {
        return byPointer(op, Kind::Store, store.getValue().getType(),
                         store.getPtr(), store.getMask(), true);
      })
      .Case([&](tt::AtomicRMWOp rmw) {
        return byPointer(op, Kind::Atomic, rmw.getVal().getType(), rmw.getPtr(),
                         rmw.getMask(), true);
      })
      .Case([&](tt::AtomicCASOp cas) {
        return byPointer(op, Kind::Atomic, cas.getVal().getType(), cas.getPtr(),
                         {}, true);
      })
      // The number of its reads is known only at run time. It reads at least
      // once.
      .Case([&](tt::AtomicPollOp poll) {
        return byPointer(op, Kind::Load, poll.getExpected().getType(),
                         poll.getPtr(), {}, true);
      })
      .Case<tt::DescriptorLoadOp, tt::DescriptorGatherOp>([&](auto load) {
        return byDescriptor(op, Kind::Load, load.getResult().getType(),
                            load.getDesc());
      })
      .Case<tt::DescriptorStoreOp, tt::DescriptorScatterOp>([&](auto store) {
        return byDescriptor(op, Kind::Store, store.getSrc().getType(),
                            store.getDesc());
      })
      .Case([&](tt::DescriptorReduceOp reduce) {
        return byDescriptor(op, Kind::Atomic, reduce.getSrc().getType(),
                            reduce.getDesc());
      })
      .Default([](Operation *) { return Result(); });
}
