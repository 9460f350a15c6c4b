// SPDX-License-Identifier: Apache-2.0
//
// The dialect `math_ext` and its operations, for passes that use them.

#ifndef TRITON_EXT_MATH_EXT_H
#define TRITON_EXT_MATH_EXT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "MathExt.h.inc"

#endif // TRITON_EXT_MATH_EXT_H
