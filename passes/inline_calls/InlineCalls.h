// SPDX-License-Identifier: Apache-2.0
//
// For pipelines that declare the pass.

#ifndef TRITON_EXT_INLINECALLS_H
#define TRITON_EXT_INLINECALLS_H

#include <memory>

namespace mlir {
class Pass;
namespace triton_ext::inline_calls {
__attribute__((visibility("default"))) std::unique_ptr<Pass>
createInlineCallsPass();
} // namespace triton_ext::inline_calls
} // namespace mlir

#endif // TRITON_EXT_INLINECALLS_H
