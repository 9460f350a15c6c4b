// SPDX-License-Identifier: Apache-2.0
//
// The part of libTritonExtPassInfra.so that turns a name and a class into a
// Triton plugin with a dialect. It makes operations for Python and reports
// their errors there. No dialect is named here.

#include "Attempts.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "triton/Tools/PluginUtils.h"
#include "triton/Version.h"

using namespace mlir;
using namespace mlir::triton_ext;

std::string mlir::triton_ext::tryCreateOp(const OpDescriptor &op,
                                          TritonOpBuilder &builder,
                                          std::vector<Value> &operands) {
  ArrayRef<Value> values = ArrayRef(operands).drop_front();
  if (values.size() != op.numOperands)
    return ("expected " + Twine(op.numOperands) + " values, got " +
            Twine(values.size()))
        .str();
  MLIRContext *context = builder.getContext();
  auto name = RegisteredOperationName::lookup(op.operation, context);
  if (!name)
    return "its dialect is not in this context, which was set up before the "
           "extension was loaded";
  auto *inference = name->getInterface<InferTypeOpInterface>();
  if (!inference)
    return "its result type cannot be inferred (fix: give the operation the "
           "trait SameOperandsAndResultType or InferTypeOpInterface)";

  std::string problem;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    problem += (problem.empty() ? "" : "; ") + diagnostic.str();
  });
  OperationState state(builder.getLastLoc(), *name);
  state.addOperands(values);
  if (failed(inference->inferReturnTypes(
          context, state.location, values,
          state.attributes.getDictionary(context), state.getRawProperties(), {},
          state.types)))
    return problem.empty() ? "its result type cannot be inferred" : problem;
  Operation *created = builder.getBuilder().create(state);
  if (failed(name->verifyInvariants(created))) {
    created->erase();
    return problem.empty() ? "it does not verify" : problem;
  }
  operands[0] = created->getResult(0);
  return "";
}

triton::plugin::PluginInfo *
mlir::triton_ext::makePluginInfo(const DialectDescriptor &descriptor) {
  struct Plugin {
    triton::plugin::DialectInfo dialect;
    std::vector<triton::plugin::OpInfo> ops;
    triton::plugin::PluginInfo info;
  };
  // Triton keeps the pointer for the life of the process.
  auto *plugin = new Plugin;
  plugin->dialect = {descriptor.name, descriptor.version,
                     descriptor.registerDialect};
  for (const BoundOp &op : ArrayRef(descriptor.ops, descriptor.numOps))
    plugin->ops.push_back({op.pythonName, op.add});
  plugin->info = {TRITON_PLUGIN_API_VERSION,
                  descriptor.name,
                  descriptor.version,
                  /*passes=*/nullptr,
                  0,
                  &plugin->dialect,
                  1,
                  plugin->ops.data(),
                  plugin->ops.size(),
                  TRITON_VERSION};
  return &plugin->info;
}
