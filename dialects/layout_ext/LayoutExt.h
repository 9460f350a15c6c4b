// SPDX-License-Identifier: Apache-2.0
//
// The dialect `layout_ext` and its layouts, for passes that use them.

#ifndef TRITON_EXT_LAYOUT_EXT_H
#define TRITON_EXT_LAYOUT_EXT_H

#include "mlir/IR/Dialect.h"
#include "triton/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton_ext::layout_ext {
// The interfaces of Triton name these without their namespace.
using triton::LinearLayout;
using triton::gpu::CGAEncodingAttr;
using triton::gpu::DistributedEncodingTrait;
using triton::gpu::LayoutEncodingTrait;
using triton::gpu::SharedEncodingTrait;
} // namespace mlir::triton_ext::layout_ext

#include "LayoutExt.h.inc"

#endif // TRITON_EXT_LAYOUT_EXT_H
