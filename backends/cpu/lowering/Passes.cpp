// SPDX-License-Identifier: Apache-2.0
//
// The passes of the backend, and the functions that its Python code calls
// directly: the name and features of the host, the initialisation of LLVM, and
// the linker.

#include "Exchanges.h"
#include "FunctionLowering.h"
#include "StorePrefetch.h"

#include "../runtime/Features.h"

#include "mlir/Pass/Pass.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>

namespace mlir::triton_ext::cpu {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_ALLOWINLININGPASS
#define GEN_PASS_DEF_CLEARMODULEPASS
#define GEN_PASS_DEF_LOWERTILESPASS
#include "Passes.h.inc"
} // namespace mlir::triton_ext::cpu

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
/// The errors of this thread's last pass, which Python raises.
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

struct LowerTilesPass
    : mlir::triton_ext::cpu::impl::LowerTilesPassBase<LowerTilesPass> {
  using LowerTilesPassBase::LowerTilesPassBase;
  void runOnOperation() override;

private:
  LogicalResult lower(triton::FuncOp function);
};

struct AllowInliningPass
    : mlir::triton_ext::cpu::impl::AllowInliningPassBase<AllowInliningPass> {
  void runOnOperation() override {
    getOperation().walk(
        [](triton::FuncOp function) { function->removeAttr("noinline"); });
  }
};

struct ClearModulePass
    : mlir::triton_ext::cpu::impl::ClearModulePassBase<ClearModulePass> {
  void runOnOperation() override { getOperation().getBody()->clear(); }
};
} // namespace

LogicalResult LowerTilesPass::lower(triton::FuncOp function) {
  if (!function.isPublic())
    return function.emitError()
           << "'tt.func': a function that is not inlined is not supported on "
              "the CPU (call it where the inliner can see it)";
  passProfileScratch(function);
  recognizeExchanges(function);
  hoistAddressesOfStores(function);
  Target target{vectorBytes,
                hasFma,
                dotUnits,
                {mostForTwoViews, mostForReplication, mostSharedBytes}};
  return FunctionLowering(function, getOperation(), target).run();
}

void LowerTilesPass::runOnOperation() {
  lastError.clear();
  ModuleOp module = getOperation();
  // With `quiet`, the pass does not fail for an unsupported kernel. It leaves
  // the kernel as it was, sets an attribute on the module, and puts one line
  // into lastError. The reason: when a pass fails, libtriton prints the module
  // and asks the user to report a bug, but an unsupported kernel is not a bug
  // of the compiler.
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

/// Returns the errors of this thread's last pass; valid until its next pass.
TRITON_EXT_CPU_API const char *triton_ext_cpu_last_error() {
  return lastError.c_str();
}

/// Turns off the vectorization of epilogues: of the iterations that are left
/// over behind a vectorized loop. In the LLVM of Triton 3.9 it fails an
/// assertion, which ends the process, if a select in a scalar loop chooses
/// between a loop-carried value and the value that it starts with:
///
///     %r = scf.for ... iter_args(%acc = %x) -> (i8) {
///       %s = arith.select %c, %acc, %x : i8
///       scf.yield %s : i8
///     }
///
/// The reason: LLVM takes this for a reduction of kind AnyOf, and VPlan folds
/// its result, a select between %x and %x. preparePlanForEpilogueVectorLoop
/// looks for this result and casts the null pointer that it gets. It runs only
/// if a vector has 16 elements or more, so mostly for narrow types. We cannot
/// find all such loops before LLVM simplifies them, and LLVM has no metadata
/// for epilogues. So we set the option of the process, and its default, to
/// which lld resets all options each time that it links. Loops over tiles
/// consist of vector operations already, which LLVM does not vectorize again.
/// Kernels for GPUs stay the same, because no GPU has vectors of 16 elements.
static void disableEpilogueVectorization() {
  auto &options = llvm::cl::getRegisteredOptions();
  auto option = options.find("enable-epilogue-vectorization");
  if (option != options.end())
    static_cast<llvm::cl::opt<bool> *>(option->second)->setInitialValue(false);
}

TRITON_EXT_CPU_API void triton_ext_cpu_initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    disableEpilogueVectorization();
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
  });
}

/// Returns LLVM's description of this machine: "cpu;+feature,-feature,...". It
/// has no AMX if Linux does not let the process use it.
TRITON_EXT_CPU_API const char *triton_ext_cpu_host() {
  static std::string host = [] {
    std::string text = llvm::sys::getHostCPUName().str() + ";";
    SmallVector<std::string> features;
    auto known = llvm::sys::getHostCPUFeatures();
    bool hasTiles =
        known.lookup("amx-tile") && ::triton_ext::cpu::requestTiles();
    for (auto &feature : known) {
      bool isThere =
          feature.second && (hasTiles || !feature.first().starts_with("amx-"));
      features.push_back((isThere ? "+" : "-") + feature.first().str());
    }
    llvm::sort(features);
    return text + llvm::join(features, ",");
  }();
  return host.c_str();
}

/// Returns whether the CPU `name` with the list `features` has all of `wanted`,
/// a list like "+avx2,+fma". Needs triton_ext_cpu_initialize.
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

/// Runs the linker of libtriton for a shared library. `more` are the `count`
/// arguments with the inputs and the output. Returns 0, or 1 with the linker's
/// errors in `message`.
TRITON_EXT_CPU_API int triton_ext_cpu_link(const char *const *more,
                                           size_t count, char *message,
                                           size_t size) {
  static std::mutex mutex; // the linker has global state
  std::lock_guard lock(mutex);
  std::string text;
  llvm::raw_string_ostream os(text);
  SmallVector<const char *> arguments = {
      "ld.lld", "-shared", "--no-undefined-version", "--threads=1",
      "-z",     "now",     "--build-id=none"};
  arguments.append(more, more + count);
  bool linked = lld::elf::link(arguments, os, os, false, false);
  lld::CommonLinkerContext::destroy();
  snprintf(message, size, "%s", text.c_str());
  return linked ? 0 : 1;
}
