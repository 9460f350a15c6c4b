// SPDX-License-Identifier: Apache-2.0
//
// The dialect `probe` and its operations, for passes that use them.

#ifndef TRITON_EXT_PROBE_H
#define TRITON_EXT_PROBE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Probe.h.inc"

#endif // TRITON_EXT_PROBE_H
