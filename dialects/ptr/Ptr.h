// SPDX-License-Identifier: Apache-2.0
//
// The dialect `ptr` and its type, for dialects and passes that use them.

#ifndef TRITON_EXT_PTR_H
#define TRITON_EXT_PTR_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"

#include "Ptr.h.inc"

#endif // TRITON_EXT_PTR_H
