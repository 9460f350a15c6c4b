// SPDX-License-Identifier: Apache-2.0
//
// A packed operand is the same in two programs if the scalars that it is
// computed from are, and if nothing has written the memory that it was loaded
// from. The scalars are compared in front of the loop. Each store compares the
// range of its addresses with that of the loads. Stores of other threads race
// with the loads, since nothing is shared in a kernel whose programs may
// synchronize.

#include "SharedPanels.h"

#include "Operations.h"
#include "PanelSources.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// The bytes of a number of the state.
static constexpr int64_t stateBytes = 8;

static Value compare(LaneBuilder &b, arith::CmpIPredicate predicate, Value x,
                     Value y) {
  return arith::CmpIOp::create(b, predicate, x, y);
}

Value SharedPanels::place(Value base, int64_t number) {
  return b.offset(base, b.constant(b.getI64Type(), number * stateBytes));
}

Value SharedPanels::load(Value address) {
  return LLVM::LoadOp::create(b, b.getI64Type(), address, stateBytes);
}

void SharedPanels::store(Value value, Value address) {
  LLVM::StoreOp::create(b, value, address, stateBytes);
}

void SharedPanels::find(const ProgramOrder &order) {
  if (synchronizes(context.function))
    return;
  SmallVector<SharedPanel> found;
  context.function.walk([&](triton::DotOp op) {
    auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
    std::optional<DotUnit> unit = chooseDotUnit(context.target, op);
    if (!unit || !mayWait(op, unit->sum()) || found.size() == mostProducts ||
        multipliesStoredRight(plan, op, *unit))
      return;
    PanelSources sources{loop, plan, {}, {}, {}};
    if (!sources.visit(op.getB(), true) || sources.loads.empty() ||
        llvm::any_of(sources.key, [&](Value value) {
          return differsByProgram(value, order);
        }))
      return;
    found.push_back({op, sources.key.takeVector(), std::move(sources.loads)});
  });
  // Products of a kernel get equal parts of the memory. What one cannot use is
  // left to those behind it.
  int64_t left = context.target.limits.mostSharedBytes;
  for (auto [i, panel] : llvm::enumerate(found)) {
    DotUnit unit = *chooseDotUnit(context.target, panel.product);
    int64_t slots = joinedIterations(panel.product, unit);
    DotShape shape = shapeOf(panel.product);
    int64_t bytes = slots * shape.K * shape.N / unit.elementsOfWord();
    for (int64_t size : shape.batches)
      bytes *= size;
    bytes *= unit.wordBytes() * unit.parts;
    int64_t blocks = left / int64_t(found.size() - i) / bytes;
    if (!blocks)
      continue;
    left -= blocks * bytes;
    panel.iterations = blocks * slots;
    panels.push_back(std::move(panel));
  }
  if (panels.empty())
    return;
  if (order.id)
    together = order.rows;
  // When a thread begins with a launch, the runtime sets the first of these
  // numbers to whether nothing is to be kept, and the others to 0.
  Type i64 = b.getI64Type();
  Value valid = scratch.allocate(i64, {1 + mostProducts}).ptr;
  keeps = compare(b, arith::CmpIPredicate::eq, load(valid), b.constant(i64, 0));
  Value range = scratch.allocate(i64, {2}).ptr;
  storeLow = range;
  storeHigh = place(range, 1);
  for (auto [i, panel] : llvm::enumerate(panels)) {
    Value state = scratch.allocate(i64, {2 + int64_t(panel.key.size())}).ptr;
    panel.valid = place(valid, 1 + i);
    panel.kept = arith::SelectOp::create(
        b, keeps, b.constant(i64, panel.iterations), b.constant(i64, 0));
    panel.low = state;
    panel.high = place(state, 1);
    panel.keys = place(state, 2);
  }
}

const SharedPanel *SharedPanels::of(triton::DotOp op) const {
  for (const SharedPanel &panel : panels)
    if (panel.product == op)
      return &panel;
  return nullptr;
}

void SharedPanels::clear(Value low, Value high) {
  store(b.constant(b.getI64Type(), -1), low);
  store(b.constant(b.getI64Type(), 0), high);
}

/// Returns the bits of a scalar as an i64.
static Value bitsOf(LaneBuilder &b, Value scalar) {
  Type i64 = b.getI64Type();
  if (isa<LLVM::LLVMPointerType>(scalar.getType()))
    return LLVM::PtrToIntOp::create(b, i64, scalar);
  if (scalar.getType() == i64)
    return scalar;
  if (scalar.getType().isIndex())
    return arith::IndexCastOp::create(b, i64, scalar);
  return arith::ExtUIOp::create(b, i64, scalar);
}

void SharedPanels::begin(const SharedPanel &panel) {
  Value isNew = compare(b, arith::CmpIPredicate::eq, load(panel.valid),
                        b.constant(b.getI64Type(), 0));
  SmallVector<Value> values;
  for (auto [i, value] : llvm::enumerate(panel.key)) {
    values.push_back(bitsOf(b, context.scalar(value)));
    Value differs = compare(b, arith::CmpIPredicate::ne, values.back(),
                            load(place(panel.keys, i)));
    isNew = arith::OrIOp::create(b, isNew, differs);
  }
  b.ifTrue(isNew, [&] {
    for (auto [i, value] : llvm::enumerate(values))
      store(value, place(panel.keys, i));
    store(b.constant(b.getI64Type(), 0), panel.valid);
    clear(panel.low, panel.high);
  });
}

void SharedPanels::packOnce(const SharedPanel &panel, Value iteration,
                            llvm::function_ref<void()> pack) {
  Type i64 = b.getI64Type();
  Value isMissing =
      compare(b, arith::CmpIPredicate::uge, iteration, load(panel.valid));
  b.ifTrue(isMissing, [&] {
    pack();
    // Iterations become valid in order.
    Value isNext =
        compare(b, arith::CmpIPredicate::eq, iteration, load(panel.valid));
    Value isKept = compare(b, arith::CmpIPredicate::ult, iteration, panel.kept);
    b.ifTrue(arith::AndIOp::create(b, isNext, isKept), [&] {
      for (triton::LoadOp op : panel.loads)
        widen(op.getPtr(), panel.low, panel.high);
      store(arith::AddIOp::create(b, iteration, b.constant(i64, 1)),
            panel.valid);
    });
  });
}

void SharedPanels::limit(const SharedPanel &panel, Value iterations) {
  store(arith::MinUIOp::create(b, load(panel.valid), iterations), panel.valid);
}

void SharedPanels::widen(Value pointers, Value low, Value high) {
  Type i64 = b.getI64Type();
  auto widenBy = [&](const Coords &coords) {
    Lanes lanes = evaluator.eval(pointers, coords);
    Value first, last;
    if (lanes.vec || lanes.exact) {
      Value all = b.toVector(lanes);
      if (isa<VectorType>(all.getType())) {
        all = LLVM::PtrToIntOp::create(b, like(all, i64), all);
        std::string type = ".v" + std::to_string(b.lanes()) + "i64";
        first = b.intrinsic("llvm.vector.reduce.umin" + type, i64, {all});
        last = b.intrinsic("llvm.vector.reduce.umax" + type, i64, {all});
      } else {
        first = last = LLVM::PtrToIntOp::create(b, i64, all);
      }
    } else {
      first = last = LLVM::PtrToIntOp::create(b, i64, lanes.base);
      if (lanes.isPattern()) {
        auto [least, most] =
            std::minmax_element(lanes.pattern.begin(), lanes.pattern.end());
        first = arith::AddIOp::create(b, first, b.constant(i64, *least));
        last = arith::AddIOp::create(b, last, b.constant(i64, *most));
      }
    }
    last = arith::AddIOp::create(
        b, last, b.constant(i64, pointeeBytes(pointers.getType())));
    store(arith::MinUIOp::create(b, load(low), first), low);
    store(arith::MaxUIOp::create(b, load(high), last), high);
  };
  if (!isa<RankedTensorType>(pointers.getType()))
    return evaluator.withScope(1, [&] { widenBy({}); });
  tiles.forTensor(pointers, widenBy);
}

void SharedPanels::storesTo(triton::StoreOp op) {
  if (panels.empty())
    return;
  b.ifTrue(keeps, [&] {
    clear(storeLow, storeHigh);
    widen(op.getPtr(), storeLow, storeHigh);
    Value low = load(storeLow), high = load(storeHigh);
    for (const SharedPanel &panel : panels) {
      Value overlaps = arith::AndIOp::create(
          b, compare(b, arith::CmpIPredicate::ult, low, load(panel.high)),
          compare(b, arith::CmpIPredicate::ult, load(panel.low), high));
      b.ifTrue(overlaps,
               [&] { store(b.constant(b.getI64Type(), 0), panel.valid); });
    }
  });
}
