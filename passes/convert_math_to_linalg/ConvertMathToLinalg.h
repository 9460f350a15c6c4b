// SPDX-License-Identifier: Apache-2.0
//
// For pipelines that declare the pass.

#ifndef TRITON_EXT_CONVERTMATHTOLINALG_H
#define TRITON_EXT_CONVERTMATHTOLINALG_H

#include <memory>

namespace mlir {
class Pass;
namespace triton_ext::convert_math_to_linalg {
__attribute__((visibility("default"))) std::unique_ptr<Pass>
createConvertMathToLinalgPass();
} // namespace triton_ext::convert_math_to_linalg
} // namespace mlir

#endif // TRITON_EXT_CONVERTMATHTOLINALG_H
