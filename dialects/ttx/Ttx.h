// SPDX-License-Identifier: Apache-2.0
//
// The dialect `ttx` and its operations, for passes that use them.

#ifndef TRITON_EXT_TTX_H
#define TRITON_EXT_TTX_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Ttx.h.inc"

#endif // TRITON_EXT_TTX_H
