// SPDX-License-Identifier: Apache-2.0
//
// Prints the remarks of passes, from MLIR's remark engine, as diagnostics.

#ifndef TRITON_EXT_REMARKS_H
#define TRITON_EXT_REMARKS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Remarks.h"

namespace mlir::triton_ext {

/// Emits a diagnostic for each remark, in clang's form: the text and the flag
/// that enables it.
class RemarkPrinter : public remark::detail::MLIRRemarkStreamerBase {
public:
  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    InFlightDiagnostic diagnostic = emitRemark(remark.getLocation());
    bool said = false;
    for (const remark::detail::Remark::Arg &arg : remark.getArgs()) {
      // Skip the numbers by which the engine identifies and links remarks.
      if (arg.key == "RemarkId" || arg.key == "RelatedTo")
        continue;
      diagnostic << (said ? ", " : "");
      if (arg.key != "Remark" && arg.key != "Reason")
        diagnostic << StringRef(arg.key) << ": ";
      diagnostic << arg.val;
      said = true;
    }
    if (!said)
      diagnostic << remark.getRemarkName();
    diagnostic << " [" << flag(remark.getRemarkKind())
               << remark.getCombinedCategoryName() << "]";
  }

private:
  static StringRef flag(remark::RemarkKind kind) {
    switch (kind) {
    case remark::RemarkKind::RemarkPassed:
      return "-Rpass=";
    case remark::RemarkKind::RemarkMissed:
    case remark::RemarkKind::RemarkFailure:
      return "-Rpass-missed=";
    case remark::RemarkKind::RemarkAnalysis:
    case remark::RemarkKind::RemarkUnknown:
      return "-Rpass-analysis=";
    }
    llvm_unreachable("all kinds are above");
  }
};

/// Makes the context print remarks of these categories when they are emitted.
/// Fails if the context already has a remark engine.
inline LogicalResult printRemarks(MLIRContext &context,
                                  const remark::RemarkCategories &categories) {
  if (context.getRemarkEngine())
    return failure();
  return remark::enableOptimizationRemarks(
      context, std::make_unique<RemarkPrinter>(),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
}

} // namespace mlir::triton_ext

#endif // TRITON_EXT_REMARKS_H
