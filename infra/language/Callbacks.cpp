// SPDX-License-Identifier: Apache-2.0
//
// The callbacks of the plugin, which throw. Only this file is compiled with
// exceptions: MLIR's precompiled header is made without them.

#include "Language.h"

#include <stdexcept>

using namespace mlir;
using namespace mlir::triton_ext;

static void raise(const std::string &problem) {
  if (!problem.empty())
    throw std::invalid_argument(problem);
}

void language::build(TritonOpBuilder &triton, std::vector<Value> &operands) {
  raise(tryBuild(triton, operands));
}

void language::take(TritonOpBuilder &triton, std::vector<Value> &operands) {
  raise(tryTake(triton, operands));
}

void language::leave(TritonOpBuilder &triton, std::vector<Value> &operands) {
  raise(tryLeave(triton, operands));
}
