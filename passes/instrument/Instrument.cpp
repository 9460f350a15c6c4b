// SPDX-License-Identifier: Apache-2.0
//
// Inserts probes by rule. Needs a module that a session of probes has marked,
// and leaves others untouched. What the kernel computes stays the same.

#include "Access.h"
#include "Observer.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "probe/Inlining.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::triton_ext::instrument {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_INSTRUMENTPASS
#include "Instrument.h.inc"
} // namespace mlir::triton_ext::instrument

using namespace mlir;
using namespace mlir::triton_ext::instrument;
namespace probe = mlir::triton_ext::probe;
namespace tt = mlir::triton;

namespace {
struct InstrumentPass
    : mlir::triton_ext::instrument::impl::InstrumentPassBase<InstrumentPass> {
  using InstrumentPassBase::InstrumentPassBase;

  void runOnOperation() override;

private:
  void observeProgram(tt::FuncOp kernel);
  void observe(Operation *op);
  void observeAccess(Operation *op, const Access &access);
};
} // namespace

static bool isProbe(Operation *op) {
  return isa_and_nonnull<probe::ProbeDialect>(op->getDialect());
}

/// Returns the operation at which each program ends. If there are several, they
/// become branches to a block with one.
static Operation *onlyReturnOf(tt::FuncOp kernel) {
  Region &body = kernel.getBody();
  auto returns = llvm::to_vector(body.getOps<tt::ReturnOp>());
  if (returns.size() == 1)
    return returns.front();
  Block &last = body.emplaceBlock();
  auto b = OpBuilder::atBlockEnd(&last);
  Operation *only = tt::ReturnOp::create(b, kernel.getLoc());
  for (tt::ReturnOp early : returns) {
    b.setInsertionPoint(early);
    cf::BranchOp::create(b, early.getLoc(), &last);
    early.erase();
  }
  return only;
}

/// Counts the programs, and measures their time.
void InstrumentPass::observeProgram(tt::FuncOp kernel) {
  Block &entry = kernel.getBody().front();
  if (regions)
    observeTime(&entry.front(), onlyReturnOf(kernel), kernel.getName(),
                kernel.getLoc());
  if (calls) {
    Observer observer(&entry.front(), kernel.getLoc());
    observer.count("programs");
  }
}

void InstrumentPass::observeAccess(Operation *op, const Access &access) {
  Observer observer(op);
  // The number of lanes is written only if the lanes that are off are wanted,
  // because the host subtracts those that are on from it.
  int64_t lanes = masked ? access.lanes : 0;
  if (!access.mask) {
    // One count says all: how often the operation ran, on all of its lanes.
    SmallVector<StringRef> rules;
    if (bytes)
      rules.push_back(access.rule);
    if (masked)
      rules.push_back("on");
    if (masked || calls)
      rules.push_back("calls");
    observer.count(llvm::join(rules, " "),
                   bytes ? access.lanes * access.laneBytes : 0, lanes);
    return;
  }
  if (bytes)
    observer.count((access.rule + (masked ? " on" : "")).str(),
                   access.copies * access.laneBytes, masked ? access.copies : 0,
                   access.counted);
  else if (masked)
    observer.count("on", 0, access.copies, access.counted);
  if (calls || masked)
    observer.count("calls", 0, lanes);
}

void InstrumentPass::observe(Operation *op) {
  if (bytes || calls || masked)
    if (std::optional<Access> access = accessOf(op))
      observeAccess(op, *access);
  if (calls && isa<tt::DotOpInterface>(op))
    Observer(op).count("calls");
  if (loops) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      observeIterations(loop);
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      observeIterations(loop);
  }
  if (regions && isa<LoopLikeOpInterface, tt::DotOpInterface>(op))
    observeTime(op, op->getNextNode(), op->getName().getStringRef(),
                op->getLoc());
  if (nan)
    observeNaNs(op);
}

void InstrumentPass::runOnOperation() {
  ModuleOp module = getOperation();
  FailureOr<bool> isPrepared =
      probe::prepareForProbes(module, [&](OpPassManager &manager) {
        return runPipeline(manager, module);
      });
  if (failed(isPrepared))
    return signalPassFailure();
  if (!*isPrepared)
    return;
  SmallVector<Operation *> observed;
  for (auto kernel : module.getOps<tt::FuncOp>()) {
    if (kernel.isPublic())
      observeProgram(kernel);
    // The operations in the body of a reduction run once for each element.
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isProbe(op) || op == kernel)
        return WalkResult::advance();
      observed.push_back(op);
      return isa<tt::ReduceOp, tt::ScanOp, tt::MapElementwiseOp>(op)
                 ? WalkResult::skip()
                 : WalkResult::advance();
    });
  }
  for (Operation *op : observed)
    observe(op);
}
