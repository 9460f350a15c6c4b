// SPDX-License-Identifier: Apache-2.0
//
// The passes of the backend, and what its Python calls directly: the host's
// name and features, X86's initialisation, and the linker.

#include "Lowering.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "triton/Tools/PluginUtils.h"
#include "triton/Version.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>

using namespace mlir;
using namespace mlir::triton_ext::cpu;

namespace lld {
class CommonLinkerContext {
public:
  static void destroy();
};
namespace elf {
bool link(llvm::ArrayRef<const char *> args, llvm::raw_ostream &out,
          llvm::raw_ostream &err, bool exitEarly, bool disableOutput);
} // namespace elf
} // namespace lld

extern "C" {
void LLVMInitializeX86TargetInfo();
void LLVMInitializeX86Target();
void LLVMInitializeX86TargetMC();
void LLVMInitializeX86AsmPrinter();
void LLVMInitializeX86AsmParser();
}

#define TRITON_EXT_CPU_API extern "C" __attribute__((visibility("default")))

namespace {
/// What went wrong in this thread's last pass, for Python to raise.
thread_local std::string lastError;

void appendDiagnostic(Diagnostic &diagnostic) {
  llvm::raw_string_ostream os(lastError);
  if (!lastError.empty())
    os << "\n";
  std::string place;
  diagnostic.getLocation()->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    place = (file.getFilename().strref() + ":" + Twine(file.getLine()) + ":" +
             Twine(file.getColumn()) + ": ")
                .str();
    return WalkResult::interrupt();
  });
  os << place << diagnostic.str();
}

/// Lowers every Triton function of the module to loops over vectors.
struct LowerTilesPass : PassWrapper<LowerTilesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerTilesPass)
  StringRef getArgument() const override {
    return "triton-ext-cpu-lower-tiles";
  }
  StringRef getDescription() const override {
    return "Lower Triton functions to loops over vectors";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, scf::SCFDialect, LLVM::LLVMDialect>();
  }
  void runOnOperation() override {
    lastError.clear();
    ModuleOp module = getOperation();
    // Where a caller asks for it, a refusal is a mark on the module, which is
    // left as it was, and one line in lastError. A pass that fails makes
    // libtriton print the module and a request to report it, but the kernel
    // asks for what there is not.
    bool isQuiet = bool(module->removeAttr("triton_ext_cpu.quiet"));
    ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return failure();
      appendDiagnostic(diagnostic);
      return success(isQuiet);
    });
    DenseSet<Operation *> before;
    for (Operation &op : module.getOps())
      before.insert(&op);
    for (triton::FuncOp function :
         llvm::to_vector(module.getOps<triton::FuncOp>())) {
      if (succeeded(lower(function))) {
        function.erase();
        continue;
      }
      if (!isQuiet)
        return signalPassFailure();
      for (Operation &op : llvm::make_early_inc_range(module.getOps()))
        if (!before.contains(&op))
          op.erase();
      module->setAttr("triton_ext_cpu.refused",
                      Builder(&getContext()).getI32IntegerAttr(1));
      return;
    }
  }

private:
  LogicalResult lower(triton::FuncOp function) {
    if (!function.isPublic())
      return function.emitError()
             << "'tt.func': a function that is not inlined is not supported on "
                "the CPU (call it where the inliner can see it)";
    return Lowering(function, getOperation()).run();
  }
};

/// Makes every function inlinable: a call has no register window to spare.
struct AllowInliningPass
    : PassWrapper<AllowInliningPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AllowInliningPass)
  StringRef getArgument() const override {
    return "triton-ext-cpu-allow-inlining";
  }
  StringRef getDescription() const override {
    return "Let the inliner have functions that are marked noinline";
  }
  void runOnOperation() override {
    getOperation().walk(
        [](triton::FuncOp function) { function->removeAttr("noinline"); });
  }
};

/// Erases all that the module holds, when nobody needs it any more: Triton's
/// bindings never free a module, which would cost 50 KB for each compilation.
struct ClearModulePass : PassWrapper<ClearModulePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ClearModulePass)
  StringRef getArgument() const override {
    return "triton-ext-cpu-clear-module";
  }
  StringRef getDescription() const override {
    return "Erase all that a module holds";
  }
  void runOnOperation() override { getOperation().getBody()->clear(); }
};
} // namespace

template <typename PassT>
static void add(PassManager *pm, const std::vector<std::string> &) {
  pm->addPass(std::make_unique<PassT>());
}
template <typename PassT> static void registerOne() {
  if (!PassInfo::lookup(PassT().getArgument()))
    registerPass(
        []() -> std::unique_ptr<Pass> { return std::make_unique<PassT>(); });
}

extern "C" __attribute__((visibility("default"))) triton::plugin::PluginInfo *
tritonGetPluginInfo() {
  static triton::plugin::PassInfo passes[] = {
      {"cpu_allow_inlining", "1", add<AllowInliningPass>,
       registerOne<AllowInliningPass>},
      {"cpu_clear_module", "1", add<ClearModulePass>,
       registerOne<ClearModulePass>},
      {"cpu_lower_tiles", "1", add<LowerTilesPass>,
       registerOne<LowerTilesPass>},
  };
  static triton::plugin::PluginInfo info = {TRITON_PLUGIN_API_VERSION,
                                            "cpu",
                                            "1",
                                            passes,
                                            std::size(passes),
                                            nullptr,
                                            0,
                                            nullptr,
                                            0,
                                            TRITON_VERSION};
  return &info;
}

/// The last pass's errors in this thread; valid until its next pass.
TRITON_EXT_CPU_API const char *triton_ext_cpu_last_error() {
  return lastError.c_str();
}

TRITON_EXT_CPU_API void triton_ext_cpu_initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
  });
}

/// "cpu;+feature,-feature,...": what this machine is, for LLVM.
TRITON_EXT_CPU_API const char *triton_ext_cpu_host() {
  static std::string host = [] {
    std::string text = llvm::sys::getHostCPUName().str() + ";";
    SmallVector<std::string> features;
    for (auto &feature : llvm::sys::getHostCPUFeatures())
      features.push_back((feature.second ? "+" : "-") + feature.first().str());
    llvm::sort(features);
    return text + llvm::join(features, ",");
  }();
  return host.c_str();
}

/// Whether the CPU `name` with the list `features` has all of `wanted`, a list
/// like "+avx2,+fma". Needs triton_ext_cpu_initialize.
TRITON_EXT_CPU_API int
triton_ext_cpu_has(const char *name, const char *features, const char *wanted) {
  std::string message;
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return 0;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, name, features));
  return subtarget && subtarget->checkFeatures(wanted);
}

/// Links the object file `object` to the shared library `library`. Returns 0,
/// or 1 with the linker's words in `message`.
TRITON_EXT_CPU_API int triton_ext_cpu_link(const char *object,
                                           const char *library, char *message,
                                           size_t size) {
  static std::mutex mutex; // the linker has global state
  std::lock_guard lock(mutex);
  std::string text;
  llvm::raw_string_ostream os(text);
  const char *arguments[] = {
      "ld.lld", "-shared", "--no-undefined-version", "--threads=1",
      "-z",     "now",     "--build-id=none",        object,
      "-o",     library};
  bool linked = lld::elf::link(arguments, os, os, false, false);
  lld::CommonLinkerContext::destroy();
  snprintf(message, size, "%s", text.c_str());
  return linked ? 0 : 1;
}
