// SPDX-License-Identifier: Apache-2.0
//
// Writes tensors to scratch memory, and notes whether their elements are
// contiguous. The reason: in `p + i % n`, nothing is known of neighbours when
// the kernel is compiled, but nearly all are contiguous when it runs.

#include "TileSchedule.h"

#include "Operations.h"
#include "StorePrefetch.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

namespace {
/// Notes, while a tensor is written, whether each group of lanes is contiguous.
/// If this is not known when the code is emitted, the code notes it in a byte
/// of scratch memory.
class RunCheck {
public:
  RunCheck(LaneBuilder &b, Scratch &scratch, Runs runs) : b(b), runs(runs) {
    cell = scratch.allocate(b.getI8Type(), {1}).ptr;
    LLVM::StoreOp::create(b, b.constant(b.getI8Type(), 1), cell, 1);
  }

  void note(const Lanes &lanes) {
    if (lanes.isPattern() && isContiguous(lanes.pattern, runs.step)) {
      if (lanes.holds)
        require(lanes.holds);
      return;
    }
    Value all = b.toVector(lanes), first = b.extract(all, 0);
    Value expected = b.toVector(b.contiguous(first, runs.step));
    if (isa<LLVM::LLVMPointerType>(first.getType())) {
      Type i64 = like(all, b.getI64Type());
      all = LLVM::PtrToIntOp::create(b, i64, all);
      expected = LLVM::PtrToIntOp::create(b, i64, expected);
    }
    Value same =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, all, expected);
    require(b.intrinsic("llvm.vector.reduce.and", b.getI1Type(), same));
  }

  /// Returns what is known of the tensor once it is written.
  Runs result() {
    if (isNoted)
      runs.holds = arith::TruncIOp::create(b, b.getI1Type(), load());
    return runs;
  }

private:
  Value load() { return LLVM::LoadOp::create(b, b.getI8Type(), cell, 1); }
  void require(Value condition) {
    isNoted = true;
    Value byte = arith::ExtUIOp::create(b, b.getI8Type(), condition);
    LLVM::StoreOp::create(b, arith::AndIOp::create(b, load(), byte), cell, 1);
  }

  LaneBuilder &b;
  Runs runs;
  Value cell;
  bool isNoted = false;
};
} // namespace

/// Returns runs of the groups in which `tensor` is written, if it is worth
/// checking whether it consists of them: if it is probably contiguous, and
/// accesses may depend on it.
std::optional<Runs> TileSchedule::possibleRuns(Value tensor, int dim,
                                               int lanes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Type element = type.getElementType();
  bool isPointer = isa<triton::PointerType>(element);
  if (!isPointer && !element.isInteger(32) && !element.isInteger(64))
    return std::nullopt;
  lanes = std::min<int64_t>(lanes, type.getNumElements());
  if (lanes == 1 || type.getDimSize(dim) < lanes ||
      !plan.isProbablyContiguous(tensor, dim))
    return std::nullopt;
  return Runs{dim, lanes, isPointer ? pointeeBytes(element) : 1, {}};
}

std::optional<Runs>
TileSchedule::materialize(Value tensor, const Buffer &buffer, int maxLanes) {
  int dim = plan.contiguousDim(tensor);
  std::optional<RunCheck> check;
  if (std::optional<Runs> runs = possibleRuns(tensor, dim, maxLanes))
    check.emplace(b, scratch, *runs);
  auto eval = [&](const Coords &coords) {
    Lanes elements = evaluator.eval(tensor, coords);
    if (check)
      check->note(elements);
    return elements;
  };
  StorePrefetch prefetch(context, plan, evaluator, context.current, tensor,
                         dim);
  auto write = [&](const Coords &coords) {
    scratch.store(buffer, coords, eval(coords));
    prefetch.emit(coords);
  };
  // All groups of the rest have the elements of its first one.
  auto fill = [&](const Coords &first, llvm::function_ref<void(Body)> forRest) {
    Lanes elements = eval(first);
    forRest(
        [&](const Coords &coords) { scratch.store(buffer, coords, elements); });
  };
  forTile(buffer.shape, dim, write, maxLanes, splits.ofTensors(tensor, dim),
          fill);
  return check ? std::optional(check->result()) : std::nullopt;
}
