// SPDX-License-Identifier: Apache-2.0

#include "Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-ext-loop-split"

using namespace mlir;
using Kind = remark::RemarkKind;

void mlir::triton_ext::loop_split::Remarks::report(Operation *op, Kind kind,
                                                   const Twine &message) {
  std::string said =
      (kind == Kind::RemarkMissed ? "not split: " + message : message).str();
  if (!reported[op->getLoc()].insert(said).second)
    return;
  LDBG() << op->getLoc() << ": " << said;
  StringRef function;
  if (auto parent = op->getParentOfType<FunctionOpInterface>())
    function = parent.getName();
  auto opts =
      remark::RemarkOpts::name("split").category(category).function(function);
  auto emit = kind == Kind::RemarkPassed   ? remark::passed
              : kind == Kind::RemarkMissed ? remark::missed
                                           : remark::analysis;
  emit(op->getLoc(), opts) << remark::reason("{0}", said);
}
