// SPDX-License-Identifier: Apache-2.0
//
// Erases the operations of the dialect `probe`, or lowers them to tt. All other
// operations stay as they are.

#include "Calls.h"
#include "Clock.h"
#include "Emitter.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/InliningUtils.h"
#include "mlir/Transforms/Passes.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::triton_ext::lower_probe {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_LOWERPROBEPASS
#include "LowerProbe.h.inc"
} // namespace mlir::triton_ext::lower_probe

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
using namespace mlir::triton_ext::probe;

/// Marks a module whose operations stay until `emit`, and one in which `emit`
/// has lowered them. The pass `instrument` inserts probes between the two. The
/// first mark is the number of sessions that have set it: a session of the
/// thread and one of the process may both compile a kernel. The last `emit`
/// lowers, so that passes of all sessions have inserted their probes before.
static constexpr StringRef kKept = "probe.kept", kLowered = "probe.lowered";

namespace {
/// Lets functions with operations of the dialect be inlined. Triton inlines
/// every function between `keep` and `emit`.
struct ProbeInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};

struct LowerProbePass
    : mlir::triton_ext::lower_probe::impl::LowerProbePassBase<LowerProbePass> {
  using LowerProbePassBase::LowerProbePassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    LowerProbePassBase::getDependentDialects(registry);
    registry.insert<ProbeDialect>();
    registry.addExtension(+[](MLIRContext *, ProbeDialect *dialect) {
      if (!dialect->getRegisteredInterface<ProbeInliner>())
        dialect->addInterfaces<ProbeInliner>();
    });
  }

  void runOnOperation() override;

private:
  int64_t timesKept();
  void setTimesKept(int64_t number);
  void keepAll();
  LogicalResult emitAll();
};
} // namespace

static bool isProbe(Operation *op) {
  return isa<CountOp, RecordOp, CheckOp, FailuresOp, OutsideOp, ShadowOp,
             MinMaxOp, StatsOp, HistogramOp, ClockOp, LaunchWordOp, RaiseOp,
             FollowOp, RegionBeginOp, RegionEndOp>(op);
}

/// Erases what a pass for promises would have checked.
static void erasePromises(ModuleOp module) {
  module.walk([](PromiseOp op) { op.erase(); });
}

static SmallVector<Operation *> probesIn(Operation *root) {
  SmallVector<Operation *> found;
  root->walk([&](Operation *op) {
    if (isProbe(op))
      found.push_back(op);
  });
  return found;
}

/// Returns what `op` and the operations in it use, from outside of it.
static SetVector<Value> operandsOf(Operation *op) {
  SetVector<Value> found(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), found);
  return found;
}

void mlir::triton_ext::lower_probe::eraseDead(ValueRange values,
                                              bool keepsProbes) {
  SetVector<Operation *> candidates;
  auto add = [&](Value value) {
    if (Operation *source = value.getDefiningOp())
      candidates.insert(source);
  };
  llvm::for_each(values, add);
  while (!candidates.empty()) {
    Operation *op = candidates.pop_back_val();
    if ((keepsProbes && isProbe(op)) || !isOpTriviallyDead(op))
      continue;
    SetVector<Value> operands = operandsOf(op);
    op->erase();
    llvm::for_each(operands, add);
  }
}

/// Erases `op`, and then the operations that have computed its operands and
/// that nothing else uses. They would not change the binary's instructions, but
/// a constant that they leave behind would have the line of the probe.
static void eraseWithOperands(Operation *op) {
  if (!op->use_empty()) { // a number that the kernel computes with
    OpBuilder b(op);
    auto word = dyn_cast<LaunchWordOp>(op);
    int64_t number = word ? word.getOtherwise().value_or(0) : 0;
    op->replaceAllUsesWith(arith::ConstantOp::create(
        b, op->getLoc(), b.getI64IntegerAttr(number)));
  }
  SetVector<Value> operands = operandsOf(op);
  op->erase();
  eraseDead(operands.getArrayRef(), /*keepsProbes=*/false);
}

/// Erases from the last one on, so that the end of a region goes before its
/// beginning. Launch words go first: they have no effects, so they would also
/// be erased together with another probe that used them.
static void eraseAll(ArrayRef<Operation *> probes) {
  SmallVector<Operation *> others;
  for (Operation *op : probes)
    if (isa<LaunchWordOp>(op))
      eraseWithOperands(op);
    else
      others.push_back(op);
  for (Operation *op : llvm::reverse(others))
    eraseWithOperands(op);
}

/// Removes what `emit` needs to know of the target.
static void forgetTarget(ModuleOp module) {
  for (StringRef name : {kTarget, kNumWarps, kWarpSize, kNoAssembly})
    module->removeAttr(name);
}

int64_t LowerProbePass::timesKept() {
  auto mark = getOperation()->getAttrOfType<IntegerAttr>(kKept);
  return mark ? mark.getInt() : 0;
}

void LowerProbePass::setTimesKept(int64_t number) {
  if (number <= 0)
    getOperation()->removeAttr(kKept);
  else
    getOperation()->setAttr(kKept,
                            Builder(&getContext()).getI64IntegerAttr(number));
}

/// Marks the module. Functions that are marked noinline and that have probes
/// are inlined, because only the kernel has the pointer to the buffer.
void LowerProbePass::keepAll() {
  ModuleOp module = getOperation();
  setTimesKept(timesKept() + 1);
  module.walk([](triton::FuncOp function) {
    if (!probesIn(function).empty())
      function->removeAttr("noinline");
  });
}

LogicalResult LowerProbePass::emitAll() {
  ModuleOp module = getOperation();
  setTimesKept(timesKept() - 1);
  if (timesKept() > 0)
    return success();
  module->setAttr(kLowered, UnitAttr::get(&getContext()));
  erasePromises(module);
  bool hasProbes = false, hasShadows = false;
  for (auto function :
       llvm::make_early_inc_range(module.getOps<triton::FuncOp>())) {
    SmallVector<Operation *> probes = probesIn(function);
    if (probes.empty())
      continue;
    hasProbes |= !llvm::all_of(probes, llvm::IsaPred<FollowOp>);
    hasShadows |= llvm::any_of(probes, llvm::IsaPred<ShadowOp>);
    if (function.isPublic()) {
      Clock clock(module);
      Emitter emitter(function, probes, clock);
      if (failed(emitter.run()))
        return failure();
      // A kernel that only reads launch words has a table, too: by it, the host
      // knows that launches need them. So has one whose launches it follows.
      if (emitter.hasSites() ||
          llvm::any_of(probes, llvm::IsaPred<LaunchWordOp, RaiseOp, FollowOp>))
        module->setAttr("probe.sites",
                        StringAttr::get(&getContext(), emitter.table()));
    } else if (!SymbolTable::symbolKnownUseEmpty(function, module)) {
      return probes.front()->emitOpError()
             << "expected a kernel or a function that is inlined into one, got "
                "the function '"
             << function.getName() << "'";
    }
    eraseAll(probes);
  }
  forgetTarget(module);
  if (!hasProbes)
    return success();
  OpPassManager manager(ModuleOp::getOperationName());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  if (failed(runPipeline(manager, module)))
    return failure();
  if (hasShadows)
    module.walk(joinLooks);
  return success();
}

void LowerProbePass::runOnOperation() {
  if (keep)
    return keepAll();
  if (emit) {
    if (failed(emitAll()))
      signalPassFailure();
    return;
  }
  if (getOperation()->hasAttr(kKept))
    return;
  erasePromises(getOperation());
  eraseAll(probesIn(getOperation()));
}
