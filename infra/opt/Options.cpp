// SPDX-License-Identifier: Apache-2.0
//
// Defines the options of triton-ext-opt, and writes its --help.

#include "Options.h"

#include "Passes.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::triton_ext;

Options &triton_ext::options() {
  static auto *options = new Options;
  return *options;
}

void triton_ext::defineOptions() {
  static bool once = [] {
    registerBuiltinPasses();
    registerAsmPrinterCLOptions();
    registerMLIRContextCLOptions();
    registerDefaultTimingManagerCLOptions();
    options();
    return true;
  }();
  (void)once;
}

void triton_ext::printHelp(const char *extensions) {
  auto &all = cl::getRegisteredOptions();
  // MLIR's options are not in our category; libtriton's LLVM has thousands.
  for (auto &[name, option] : all)
    if (name.starts_with("mlir-") || name == "pass-pipeline") {
      option->addCategory(options().category);
      option->setHiddenFlag(cl::NotHidden);
    }
  cl::HideUnrelatedOptions(options().category);
  if (auto canonicalize = all.find("canonicalize"); canonicalize != all.end())
    canonicalize->second->setHiddenFlag(cl::ReallyHidden);
  cl::PrintHelpMessage(/*Hidden=*/false, /*Categorized=*/false);

  raw_ostream &os = llvm::outs();
  os << "\nPASSES: -name or -name='option=value ...', or by name in "
        "--pass-pipeline\n";
  StringRef group;
  constexpr size_t width = 64;
  os << "\nanalysis:\n"
        "    Allocation and membar analysis have no pass of their own here: "
        "--allocate-shared-memory(-nv),\n"
        "    --allocate-amdgpu-shared-memory and --triton-{nvidia-gpu,amdgpu}"
        "-membar run them.\n";
  for (const BuiltinPass &pass : builtinPasses()) {
    if (group != pass.group)
      os << "\n" << (group = pass.group) << ":\n";
    PassInfo::lookup(pass.create()->getArgument())->printHelpStr(4, width);
  }
  os << "\nextensions:\n" << extensions;
  os << "\nMissing, because libtriton does not hold them: -emit-bytecode, "
        "-verify-roundtrip, -irdl-file, and the MLIR\npasses that are not "
        "listed.\n";
}
