// SPDX-License-Identifier: Apache-2.0
//
// Tells whether a pass has changed a module, without printing it.

#ifndef TRITON_EXT_INSPECT_SUMMARY_H
#define TRITON_EXT_INSPECT_SUMMARY_H

#include "mlir/IR/Operation.h"

namespace mlir::triton_ext {

/// The number of operations of a module, and a hash of everything that its
/// printed form shows. An operation that is replaced by an equal one does not
/// change the hash, unlike OperationFingerPrint, which hashes addresses.
class Summary {
public:
  Summary() = default;
  explicit Summary(Operation *root) { add(*root); }

  int64_t ops = 0;
  llvm::hash_code hash{0};

private:
  void add(Operation &op);
  template <typename... T> void mix(const T &...values) {
    hash = llvm::hash_combine(hash, values...);
  }
  /// Returns the number of a value or a block, in the order of the first visit.
  size_t number(const void *entity) {
    return numbers.try_emplace(entity, numbers.size()).first->second;
  }

  llvm::DenseMap<const void *, size_t> numbers;
};

} // namespace mlir::triton_ext

#endif // TRITON_EXT_INSPECT_SUMMARY_H
