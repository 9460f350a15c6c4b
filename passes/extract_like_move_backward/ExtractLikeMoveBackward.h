// SPDX-License-Identifier: Apache-2.0
//
// For pipelines that declare the pass.

#ifndef TRITON_EXT_EXTRACTLIKEMOVEBACKWARD_H
#define TRITON_EXT_EXTRACTLIKEMOVEBACKWARD_H

#include <memory>

namespace mlir {
class Pass;
namespace triton_ext::extract_like_move_backward {
__attribute__((visibility("default"))) std::unique_ptr<Pass>
createExtractLikeMoveBackwardPass();
} // namespace triton_ext::extract_like_move_backward
} // namespace mlir

#endif // TRITON_EXT_EXTRACTLIKEMOVEBACKWARD_H
