// SPDX-License-Identifier: Apache-2.0
//
// Does to kernels what its option says: each way in which a pass can report or
// go wrong, three small changes, and one that leaves the text as it was.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/Support/ErrorHandling.h"

#include <chrono>
#include <cstdlib>
#include <thread>

namespace mlir::triton_ext::report {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_REPORTPASS
#include "Report.h.inc"
} // namespace mlir::triton_ext::report

using namespace mlir;

namespace {
struct ReportPass : triton_ext::report::impl::ReportPassBase<ReportPass> {
  using ReportPassBase::ReportPassBase;

  void runOnOperation() override;
};
} // namespace

void ReportPass::runOnOperation() {
  triton::FuncOp function = getOperation();
  if (!function.isPublic())
    return;
  Operation *last = function.getBody().back().getTerminator();
  if (mode == "remark")
    function.emitRemark("has ") << function.getNumArguments() << " arguments";
  if (mode == "engine")
    remark::missed(function.getLoc(), remark::RemarkOpts::name("split")
                                          .category("loop-split")
                                          .function(function.getName()))
        << remark::reason("{0} iterations", 3);
  if (mode == "warning")
    function.emitWarning("is odd").attachNote(last->getLoc()) << "ends here";
  if (mode == "error")
    function.emitError("cannot be used");
  if (mode == "error" || mode == "silent")
    signalPassFailure();
  if (mode == "invalid")
    last->erase();
  if (mode == "crash")
    __builtin_trap();
  if (mode == "exit")
    std::exit(3);
  if (mode == "fatal") // which ends in exit(1), where others end in abort()
    llvm::report_fatal_error("cannot go on", /*GenCrashDiag=*/false);
  if (mode == "thread") // MLIR catches what happens on its own
    std::thread(std::abort).join();
  if (mode == "hang")
    while (true)
      std::this_thread::sleep_for(std::chrono::seconds(1));
  if (mode == "throw")
    (void)mode.getValue().at(99); // the library does it for us
  if (mode == "attribute")
    last->setAttr("report", UnitAttr::get(&getContext()));
  if (mode == "location")
    last->setLoc(UnknownLoc::get(&getContext()));
  if (mode == "operands")
    function.walk(
        [](arith::SubFOp op) { op->setOperands({op.getRhs(), op.getLhs()}); });
  if (mode == "rebuild") {
    OpBuilder(last).clone(*last);
    last->erase();
  }
}
