// SPDX-License-Identifier: Apache-2.0
//
// For pipelines that declare the pass.

#ifndef TRITON_EXT_CONVERTTRITONTOLINALG_H
#define TRITON_EXT_CONVERTTRITONTOLINALG_H

#include <memory>

namespace mlir {
class Pass;
namespace triton_ext::convert_triton_to_linalg {
__attribute__((visibility("default"))) std::unique_ptr<Pass>
createConvertTritonToLinalgPass();
} // namespace triton_ext::convert_triton_to_linalg
} // namespace mlir

#endif // TRITON_EXT_CONVERTTRITONTOLINALG_H
