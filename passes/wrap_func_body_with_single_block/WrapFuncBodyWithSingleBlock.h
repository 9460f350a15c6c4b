// SPDX-License-Identifier: Apache-2.0
//
// For pipelines that declare the pass.

#ifndef TRITON_EXT_WRAPFUNCBODYWITHSINGLEBLOCK_H
#define TRITON_EXT_WRAPFUNCBODYWITHSINGLEBLOCK_H

#include <memory>

namespace mlir {
class Pass;
namespace triton_ext::wrap_func_body_with_single_block {
__attribute__((visibility("default"))) std::unique_ptr<Pass>
createWrapFuncBodyWithSingleBlockPass();
} // namespace triton_ext::wrap_func_body_with_single_block
} // namespace mlir

#endif // TRITON_EXT_WRAPFUNCBODYWITHSINGLEBLOCK_H
