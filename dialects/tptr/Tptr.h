// SPDX-License-Identifier: Apache-2.0
//
// The dialect `tptr` and its operations, for passes that use them.

#ifndef TRITON_EXT_TPTR_H
#define TRITON_EXT_TPTR_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "ptr/Ptr.h"

#include "Tptr.h.inc"

#endif // TRITON_EXT_TPTR_H
