// SPDX-License-Identifier: Apache-2.0
//
// What addPass() and createOp() do, without exceptions: these functions return
// an error or an empty string. They are not exported.

#ifndef TRITON_EXT_PASS_ATTEMPTS_H
#define TRITON_EXT_PASS_ATTEMPTS_H

#include "triton_ext/DialectInfra.h"

namespace mlir::triton_ext {

[[gnu::visibility("hidden")]] std::string
tryAddPass(const PassDescriptor &pass, PassManager &pm,
           const std::vector<std::string> &args);

[[gnu::visibility("hidden")]] std::string
tryCreateOp(const OpDescriptor &op, TritonOpBuilder &builder,
            std::vector<Value> &operands);

} // namespace mlir::triton_ext

#endif // TRITON_EXT_PASS_ATTEMPTS_H
