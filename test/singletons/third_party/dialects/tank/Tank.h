// SPDX-License-Identifier: Apache-2.0

#ifndef TRITON_EXT_TANK_H
#define TRITON_EXT_TANK_H

#include "analysis/InferAxisInfo.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::tank {

struct WaterResource : SideEffects::Resource::Base<WaterResource> {
  StringRef getName() const override { return "Water"; }
};

struct LampResource : SideEffects::Resource::Base<LampResource> {
  StringRef getName() const override { return "Lamp"; }
};

} // namespace mlir::triton_ext::tank

#include "Tank.h.inc"

#endif // TRITON_EXT_TANK_H
