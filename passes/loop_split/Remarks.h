// SPDX-License-Identifier: Apache-2.0
//
// Sends the remarks of LoopSplit to MLIR's remark engine.

#ifndef TRITON_EXT_LOOP_SPLIT_REMARKS_H
#define TRITON_EXT_LOOP_SPLIT_REMARKS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::triton_ext::loop_split {

class Remarks {
public:
  /// `category` is the argument of the pass.
  explicit Remarks(StringRef category) : category(category) {}

  /// Emits `message` for `op`, unless it was emitted there before: copies of a
  /// loop say nothing new.
  void report(Operation *op, remark::RemarkKind kind, const Twine &message);

private:
  StringRef category;
  DenseMap<Location, llvm::StringSet<>> reported;
};

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOP_SPLIT_REMARKS_H
