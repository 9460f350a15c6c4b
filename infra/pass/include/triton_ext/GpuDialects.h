// SPDX-License-Identifier: Apache-2.0
//
// Which operations are a GPU's: those of the dialects, Triton's and MLIR's,
// that speak of threads, their memory and their instructions. By name, because
// not all of them have headers in Triton's wheel.

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

/// At which the threads of one program wait for each other.
inline bool isBarrierOfThreads(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return name == "ttg.barrier" || name == "gpu.barrier";
}

} // namespace mlir::triton_ext

#endif // TRITON_EXT_GPUDIALECTS_H
