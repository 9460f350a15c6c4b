// SPDX-License-Identifier: Apache-2.0
//
// The attribute and the type of the dialect `ptr`, which are all generated.

#include "Ptr.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#include "llvm/ADT/TypeSwitch.h"

#include "Ptr.cpp.inc"
