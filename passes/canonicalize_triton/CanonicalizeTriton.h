// SPDX-License-Identifier: Apache-2.0
//
// For pipelines that declare the pass.

#ifndef TRITON_EXT_CANONICALIZETRITON_H
#define TRITON_EXT_CANONICALIZETRITON_H

#include <memory>

namespace mlir {
class Pass;
namespace triton_ext::canonicalize_triton {
__attribute__((visibility("default"))) std::unique_ptr<Pass>
createCanonicalizeTritonPass();
} // namespace triton_ext::canonicalize_triton
} // namespace mlir

#endif // TRITON_EXT_CANONICALIZETRITON_H
