// SPDX-License-Identifier: Apache-2.0
//
// The dialect `layout_ext` and its layouts, for passes that use them.

#ifndef TRITON_EXT_LAYOUT_EXT_H
#define TRITON_EXT_LAYOUT_EXT_H

#include "mlir/IR/Dialect.h"
#include "triton_ext/LinearLayoutDialect.h"

#include "LayoutExt.h.inc"

#endif // TRITON_EXT_LAYOUT_EXT_H
