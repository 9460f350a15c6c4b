// SPDX-License-Identifier: Apache-2.0
//
// For pipelines that declare the pass.

#ifndef TRITON_EXT_PTRSTRENGTHREDUCTION_H
#define TRITON_EXT_PTRSTRENGTHREDUCTION_H

#include <memory>

namespace mlir {
class Pass;
namespace triton_ext::ptr_strength_reduction {
__attribute__((visibility("default"))) std::unique_ptr<Pass>
createPtrStrengthReductionPass();
} // namespace triton_ext::ptr_strength_reduction
} // namespace mlir

#endif // TRITON_EXT_PTRSTRENGTHREDUCTION_H
