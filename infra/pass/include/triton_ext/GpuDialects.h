// SPDX-License-Identifier: Apache-2.0
//
// Tells whether an operation belongs to a GPU dialect of Triton or MLIR, that
// is, a dialect of threads, their memory and their instructions. Dialects are
// compared by name, because some have no headers in Triton's wheel.

#ifndef TRITON_EXT_GPUDIALECTS_H
#define TRITON_EXT_GPUDIALECTS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::triton_ext {

inline bool isForGpu(Operation *op) {
  return llvm::StringSwitch<bool>(op->getName().getDialectNamespace())
      .Cases({"ttg", "ttng", "tti", "gluon", "nvws", "nvg", "amdg"}, true)
      .Cases({"proton", "proton_gpu", "gpu", "nvgpu", "nvvm"}, true)
      .Cases({"amdgpu", "rocdl"}, true)
      .Default(false);
}

/// Returns whether the operation is a barrier for the threads of one program.
inline bool isBarrierOfThreads(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return name == "ttg.barrier" || name == "gpu.barrier";
}

} // namespace mlir::triton_ext

#endif // TRITON_EXT_GPUDIALECTS_H
