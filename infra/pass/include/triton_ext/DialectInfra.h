// SPDX-License-Identifier: Apache-2.0
//
// The contract between a dialect library and libTritonExtPassInfra.so. Included
// by the glue that triton_ext_add_dialect() generates, never by a dialect. It
// includes no MLIR headers, so that the glue compiles fast.

#ifndef TRITON_EXT_DIALECTINFRA_H
#define TRITON_EXT_DIALECTINFRA_H

#include "triton_ext/PassInfra.h"

class TritonOpBuilder;

namespace mlir {
class DialectRegistry;
class Value;
} // namespace mlir

namespace mlir::triton_ext {

/// An operation with values as its only arguments and with one result.
struct OpDescriptor {
  /// Name in Python, e.g. "quant_scale" of `builder.create_quant_scale`.
  const char *pythonName;
  /// Name in IR, e.g. "quant.scale".
  const char *operation;
  size_t numOperands;
};

using AddOpCallback = void (*)(TritonOpBuilder &, std::vector<Value> &);

struct BoundOp {
  const char *pythonName;
  AddOpCallback add;
};

/// The description of a dialect for the infrastructure.
struct DialectDescriptor {
  const char *name;
  const char *version;
  void (*registerDialect)(DialectRegistry *);
  const BoundOp *ops;
  size_t numOps;
};

/// Creates the operation from `operands`, whose first element is Triton's slot
/// for the result. Throws `std::invalid_argument`, which nanobind turns into a
/// `ValueError`, if it does not verify or its dialect is not loaded.
TRITON_EXT_API void createOp(const OpDescriptor &op, TritonOpBuilder &builder,
                             std::vector<Value> &operands);

/// Returns the plugin description for `tritonGetPluginInfo`, valid for the life
/// of the process.
TRITON_EXT_API triton::plugin::PluginInfo *
makePluginInfo(const DialectDescriptor &dialect);

/// Triton's callbacks carry no user data, so each op gets its own function.
template <const OpDescriptor &Descriptor>
void addOp(TritonOpBuilder &builder, std::vector<Value> &operands) {
  createOp(Descriptor, builder, operands);
}

} // namespace mlir::triton_ext

#endif // TRITON_EXT_DIALECTINFRA_H
