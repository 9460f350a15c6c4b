// SPDX-License-Identifier: Apache-2.0
//
// Atomic operations: element by element, in row-major order.

#include "Roots.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

static LLVM::AtomicOrdering ordering(triton::MemSemantic semantic) {
  switch (semantic) {
  case triton::MemSemantic::RELAXED:
    return LLVM::AtomicOrdering::monotonic;
  case triton::MemSemantic::ACQUIRE:
    return LLVM::AtomicOrdering::acquire;
  case triton::MemSemantic::RELEASE:
    return LLVM::AtomicOrdering::release;
  case triton::MemSemantic::ACQUIRE_RELEASE:
    return LLVM::AtomicOrdering::acq_rel;
  }
  return LLVM::AtomicOrdering::acq_rel;
}

static LLVM::AtomicBinOp binaryOp(triton::RMWOp op) {
  using Bin = LLVM::AtomicBinOp;
  switch (op) {
  case triton::RMWOp::AND:
    return Bin::_and;
  case triton::RMWOp::OR:
    return Bin::_or;
  case triton::RMWOp::XOR:
    return Bin::_xor;
  case triton::RMWOp::ADD:
    return Bin::add;
  case triton::RMWOp::FADD:
    return Bin::fadd;
  case triton::RMWOp::MAX:
    return Bin::max;
  case triton::RMWOp::MIN:
    return Bin::min;
  case triton::RMWOp::UMAX:
    return Bin::umax;
  case triton::RMWOp::UMIN:
    return Bin::umin;
  case triton::RMWOp::XCHG:
    return Bin::xchg;
  }
  return Bin::xchg;
}

/// Updates a bf16, which is lowered to its bits and has no arithmetic: computes
/// in f32 and repeats a compare-and-swap until no other thread has interfered.
/// Returns the old bits.
Value AccessLowering::updateBrainFloat(triton::AtomicRMWOp op, Value ptr,
                                       Value value) {
  Type i16 = b.getI16Type(), f32 = b.getF32Type(), bf16 = b.getBF16Type();
  Value operand = conversion.convert(op, value, bf16, f32);
  Value first = LLVM::LoadOp::create(b, i16, ptr, 2, false, false, false, false,
                                     LLVM::AtomicOrdering::monotonic);
  auto loop = scf::WhileOp::create(b, TypeRange{i16}, ValueRange{first});
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore());
  Value old = before->addArgument(i16, op.getLoc());
  Value wide = conversion.convert(op, old, bf16, f32), next;
  switch (op.getAtomicRmwOp()) {
  case triton::RMWOp::FADD:
    next = arith::AddFOp::create(b, wide, operand);
    break;
  case triton::RMWOp::MAX:
    next = b.intrinsic("llvm.maxnum", f32, {wide, operand});
    break;
  case triton::RMWOp::MIN:
    next = b.intrinsic("llvm.minnum", f32, {wide, operand});
    break;
  default:
    next = operand;
    context.error(op,
                  "this atomic operation is not supported on the CPU for bf16");
  }
  auto order = ordering(op.getSem());
  Value pair = LLVM::AtomicCmpXchgOp::create(
      b, ptr, old, conversion.convert(op, next, f32, bf16), order,
      LLVM::AtomicOrdering::monotonic, "", 2);
  Value done = LLVM::ExtractValueOp::create(b, pair, ArrayRef<int64_t>{1});
  Value again = arith::XOrIOp::create(b, done, b.constant(b.getI1Type(), 1));
  Value found = LLVM::ExtractValueOp::create(b, pair, ArrayRef<int64_t>{0});
  scf::ConditionOp::create(b, again, ValueRange{found});
  Block *after = b.createBlock(&loop.getAfter());
  scf::YieldOp::create(b, ValueRange{after->addArgument(i16, op.getLoc())});
  return loop.getResult(0);
}

Value AccessLowering::scalar(Value value, const Coords &coords) {
  return b.toScalar(evaluator.eval(value, coords));
}

/// Emits `body`, in a branch if there is a mask. If the mask is off, the result
/// of `op`, if it has one, is 0.
Value AccessLowering::underMask(Operation *op, Value mask, const Coords &coords,
                                llvm::function_ref<Value()> body) {
  if (!mask)
    return body();
  bool hasResult = op->getNumResults();
  Type element = hasResult ? loweredType(op->getResult(0).getType()) : Type();
  auto branch =
      scf::IfOp::create(b, hasResult ? TypeRange{element} : TypeRange{},
                        scalar(mask, coords), hasResult);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value value = body();
  if (!hasResult)
    return {};
  scf::YieldOp::create(b, value);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, Value(LLVM::ZeroOp::create(b, element)));
  return branch.getResult(0);
}

/// Returns the old value.
Value AccessLowering::update(triton::AtomicRMWOp op, Value ptr, Value value) {
  triton::RMWOp kind = op.getAtomicRmwOp();
  Type element = loweredType(op.getType());
  if (getElementTypeOrSelf(op.getVal().getType()).isBF16() &&
      kind != triton::RMWOp::XCHG)
    return updateBrainFloat(op, ptr, value);
  LLVM::AtomicBinOp binary = binaryOp(kind);
  if (isa<FloatType>(element) && kind == triton::RMWOp::MAX)
    binary = LLVM::AtomicBinOp::fmax;
  else if (isa<FloatType>(element) && kind == triton::RMWOp::MIN)
    binary = LLVM::AtomicBinOp::fmin;
  return LLVM::AtomicRMWOp::create(b, binary, ptr, value, ordering(op.getSem()),
                                   "", bytesOf(element));
}

/// Returns the old value. Compares floats by their bits.
Value AccessLowering::exchange(triton::AtomicCASOp op, Value ptr,
                               const Coords &coords) {
  Type element = loweredType(op.getType()), bits = element;
  Value expected = scalar(op.getCmp(), coords);
  Value value = scalar(op.getVal(), coords);
  if (isa<FloatType>(element)) {
    bits = b.getIntegerType(element.getIntOrFloatBitWidth());
    expected = LLVM::BitcastOp::create(b, bits, expected);
    value = LLVM::BitcastOp::create(b, bits, value);
  }
  LLVM::AtomicOrdering order = ordering(op.getSem());
  // On failure, the operation is only a load, and a load cannot release.
  bool acquires = order == LLVM::AtomicOrdering::acquire ||
                  order == LLVM::AtomicOrdering::acq_rel;
  Value pair =
      LLVM::AtomicCmpXchgOp::create(b, ptr, expected, value, order,
                                    acquires ? LLVM::AtomicOrdering::acquire
                                             : LLVM::AtomicOrdering::monotonic,
                                    "", bytesOf(element));
  Value old = LLVM::ExtractValueOp::create(b, pair, ArrayRef<int64_t>{0});
  return bits == element ? old : LLVM::BitcastOp::create(b, element, old);
}

/// Emits the operation for one element. Returns the old value in memory; null
/// for a store.
Value AccessLowering::atomic(Operation *op, const Coords &coords) {
  Value ptr = scalar(op->getOperand(0), coords);
  if (auto rmw = dyn_cast<triton::AtomicRMWOp>(op)) {
    Value value = scalar(rmw.getVal(), coords);
    return underMask(op, rmw.getMask(), coords,
                     [&] { return update(rmw, ptr, value); });
  }
  if (auto cas = dyn_cast<triton::AtomicCASOp>(op))
    return exchange(cas, ptr, coords);
  if (auto load = dyn_cast<triton::AtomicLoadOp>(op))
    return underMask(op, load.getMask(), coords, [&]() -> Value {
      Type element = loweredType(load.getType());
      return LLVM::LoadOp::create(b, element, ptr, bytesOf(element), false,
                                  false, false, false, ordering(load.getSem()));
    });
  if (auto store = dyn_cast<triton::AtomicStoreOp>(op)) {
    Value value = scalar(store.getValue(), coords);
    return underMask(op, store.getMask(), coords, [&]() -> Value {
      LLVM::StoreOp::create(b, value, ptr, bytesOf(value.getType()), false,
                            false, false, ordering(store.getSem()));
      return {};
    });
  }
  return context.error(op, "this atomic operation is not supported on the CPU "
                           "(use tl.atomic_cas in a loop)");
}

void AccessLowering::lowerAtomic(Operation *op) {
  auto tensor = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (!tensor)
    return evaluator.withScope(1, [&] {
      Value old = atomic(op, {});
      if (op->getNumResults())
        context.scalars[op->getResult(0)] = old;
    });
  std::optional<Buffer> result;
  if (op->getNumResults() && !op->getResult(0).use_empty())
    result = scratch.allocate(loweredType(op->getResult(0).getType()),
                              tensor.getShape());
  tiles.forTile(
      tensor.getShape(), tensor.getRank() - 1,
      [&](const Coords &coords) {
        Value old = atomic(op, coords);
        if (result)
          scratch.store(*result, coords, Lanes::uniform(old));
      },
      /*maxLanes=*/1);
  if (result)
    context.buffers[op->getResult(0)] = *result;
}

/// Waits in the runtime, element by element. All elements share one time
/// budget.
void AccessLowering::lower(triton::AtomicPollOp op) {
  Type i1 = b.getI1Type(), i32 = b.getI32Type(), i64 = b.getI64Type();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  context.declareFunction("triton_ext_cpu_clock", i64, {});
  context.declareFunction("triton_ext_cpu_poll", i32,
                          {pointer, i64, i32, i64, i64});
  Value start = LLVM::CallOp::create(b, TypeRange{i64}, "triton_ext_cpu_clock",
                                     ValueRange())
                    .getResult();
  // Without a timeout, the budget is 2^64 - 1 nanoseconds: 584 years.
  Value budget = op.getTimeout() ? context.scalars.lookup(op.getTimeout())
                                 : b.constant(i64, -1);
  auto tensor = dyn_cast<RankedTensorType>(op.getPtr().getType());
  std::optional<Buffer> result;
  if (tensor && !op.getResult().use_empty())
    result = scratch.allocate(i1, tensor.getShape());
  auto one = [&](const Coords &coords) {
    Value ptr = b.toScalar(evaluator.eval(op.getPtr(), coords));
    Value expected = b.toScalar(evaluator.eval(op.getExpected(), coords));
    int64_t bytes = bytesOf(expected.getType());
    if (bytes < 8)
      expected = arith::ExtUIOp::create(b, i64, expected);
    // The function always acquires, which costs nothing on x86.
    Value found =
        LLVM::CallOp::create(
            b, TypeRange{i32}, "triton_ext_cpu_poll",
            ValueRange{ptr, expected, b.constant(i32, bytes), start, budget})
            .getResult();
    found = arith::TruncIOp::create(b, i1, found);
    if (!tensor)
      context.scalars[op.getResult()] = found;
    if (result)
      scratch.store(*result, coords, Lanes::uniform(found));
  };
  if (!tensor)
    return evaluator.withScope(1, [&] { one({}); });
  tiles.forTile(tensor.getShape(), tensor.getRank() - 1, one, /*maxLanes=*/1);
  if (result)
    context.buffers[op.getResult()] = *result;
}
