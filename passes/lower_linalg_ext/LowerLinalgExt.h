// SPDX-License-Identifier: Apache-2.0
//
// For pipelines that declare the pass.

#ifndef TRITON_EXT_LOWERLINALGEXT_H
#define TRITON_EXT_LOWERLINALGEXT_H

#include <memory>

namespace mlir {
class Pass;
namespace triton_ext::lower_linalg_ext {
__attribute__((visibility("default"))) std::unique_ptr<Pass>
createLowerLinalgExtPass();
} // namespace triton_ext::lower_linalg_ext
} // namespace mlir

#endif // TRITON_EXT_LOWERLINALGEXT_H
