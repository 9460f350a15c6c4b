// SPDX-License-Identifier: Apache-2.0
//
// The table of libtriton's passes. Their headers pull in every dialect, and
// those of the amd, nvidia and proton passes are not shipped; their
// constructors are declared here instead, and the linker (--no-undefined)
// checks each name.

#include "Passes.h"

#include "mlir/Dialect/LLVMIR/Transforms/InlinerInterfaceImpl.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Pass/PassRegistry.h"
#include "triton_ext/FuncInliner.h"
#include "llvm/Support/raw_ostream.h"

// The classes of the dialects alone: a dialect's own header brings its ops.
#include "mlir/Dialect/Affine/IR/AffineOpsDialect.h.inc"
#include "mlir/Dialect/DLTI/DLTIDialect.h.inc"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h.inc"
#include "mlir/Dialect/PDL/IR/PDLOpsDialect.h.inc"
#include "triton/Dialect/Gluon/IR/Dialect.h.inc"

using namespace mlir;

// These headers are not shipped, either. Only the names and one valid value
// matter here.
namespace mlir::triton::proton {
enum class MetricType : uint32_t;
enum class SamplingStrategy : uint32_t;
namespace gpu {
enum class BufferStrategy : uint32_t;
enum class BufferType : uint32_t { Shared = 1 };
enum class Granularity : uint32_t { Warp = 1 };
} // namespace gpu
} // namespace mlir::triton::proton

// The result type is not part of a function's mangled name, and a unique_ptr to
// a subclass of Pass is returned in the same way as one to Pass.
#define PASS(group, space, create, binding)                                    \
  namespace space {                                                            \
  std::unique_ptr<::mlir::Pass> create();                                      \
  }
#define PASS_WITH(group, space, create, binding, types, values)                \
  namespace space {                                                            \
  std::unique_ptr<::mlir::Pass> create types;                                  \
  }
#include "Passes.def"
#undef PASS
#undef PASS_WITH

// Each of these makes -convert-to-llvm convert the operations of one dialect.
#define FOR_EACH_CONVERSION(DO)                                                \
  DO(mlir, registerConvertFuncToLLVMInterface)                                 \
  DO(mlir, registerConvertMathToLLVMInterface)                                 \
  DO(mlir, registerConvertMemRefToLLVMInterface)                               \
  DO(mlir, registerConvertNVVMToLLVMInterface)                                 \
  DO(mlir::arith, registerConvertArithToLLVMInterface)                         \
  DO(mlir::cf, registerConvertControlFlowToLLVMInterface)                      \
  DO(mlir::gpu, registerConvertGpuToLLVMInterface)                             \
  DO(mlir::index, registerConvertIndexToLLVMInterface)                         \
  DO(mlir::ub, registerConvertUBToLLVMInterface)                               \
  DO(mlir::vector, registerConvertVectorToLLVMInterface)
#define DECLARE(space, function)                                               \
  namespace space {                                                            \
  void function(::mlir::DialectRegistry &);                                    \
  }
FOR_EACH_CONVERSION(DECLARE)
#undef DECLARE

ArrayRef<triton_ext::BuiltinPass> triton_ext::builtinPasses() {
  static const BuiltinPass passes[] = {
#define PASS(group, space, create, binding)                                    \
  {#group, [] { return space::create(); }, binding},
#define PASS_WITH(group, space, create, binding, types, values)                \
  {#group, [] { return space::create values; }, binding},
#include "Passes.def"
#undef PASS
#undef PASS_WITH
  };
  return passes;
}

void triton_ext::registerBuiltinPasses() {
  static bool once = [] {
    for (const BuiltinPass &pass : builtinPasses())
      mlir::registerPass(pass.create);
    return true;
  }();
  (void)once;
}

void triton_ext::registerBuiltinDialects(DialectRegistry &registry) {
#define REGISTER(space, function) space::function(registry);
  FOR_EACH_CONVERSION(REGISTER)
#undef REGISTER
  LLVM::registerInlinerInterface(registry);
  registerFuncInliner(registry);
  registry.insert<affine::AffineDialect, DLTIDialect, nvgpu::NVGPUDialect,
                  pdl::PDLDialect, triton::gluon::GluonDialect>();
  // The other dialects are those that passes depend on. The passes load them,
  // so this works for dialects whose headers are not shipped, too.
  for (const BuiltinPass &entry : builtinPasses()) {
    std::unique_ptr<Pass> pass = entry.create();
    // This extension would load the LLVM dialect together with any other.
    if (pass->getArgument() != "convert-to-llvm")
      pass->getDependentDialects(registry);
  }
}

void triton_ext::printCatalogue() {
  raw_ostream &os = llvm::outs();
  for (const BuiltinPass &entry : builtinPasses()) {
    std::unique_ptr<Pass> pass = entry.create();
    os << entry.group << '\t' << entry.binding << '\t' << pass->getArgument()
       << '\t';
    pass->printAsTextualPipeline(os);
    os << '\n';
    os.flush();
    PassInfo::lookup(pass->getArgument())->printHelpStr(2, 100);
    os << "\f\n";
  }
}
