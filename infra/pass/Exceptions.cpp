// SPDX-License-Identifier: Apache-2.0
//
// The functions of libTritonExtPassInfra.so that throw. Only this file is
// compiled with exceptions: MLIR's precompiled header is made without them.

#include "Attempts.h"
#include "triton_ext/LLVMPassOptions.h"

#include <stdexcept>

using namespace mlir;
using namespace mlir::triton_ext;

void mlir::triton_ext::addPass(const PassDescriptor &pass, PassManager &pm,
                               const std::vector<std::string> &args) {
  std::string problem = tryAddPass(pass, pm, args);
  if (!problem.empty())
    throw std::invalid_argument(problem);
}

void mlir::triton_ext::refuseMLIR(const LLVMPassDescriptor &pass) {
  throw std::invalid_argument(
      "'" + std::string(pass.name) +
      "' is a pass for LLVM's modules, not for MLIR's: expected it in stage "
      "'llvm', as in tx.Pipeline().at_end(\"llvm\", tx.passes.llvm." +
      pass.name + "())");
}

void mlir::triton_ext::createOp(const OpDescriptor &op,
                                TritonOpBuilder &builder,
                                std::vector<Value> &operands) {
  std::string problem = tryCreateOp(op, builder, operands);
  if (!problem.empty())
    throw std::invalid_argument("create_" + std::string(op.pythonName) + ": " +
                                problem);
}
