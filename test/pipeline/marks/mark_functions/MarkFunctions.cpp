// SPDX-License-Identifier: Apache-2.0
//
// Writes VERSION, so that a test can see which build of this library made a
// kernel, and the options to an attribute of every function.

#include "llvm/IR/Function.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include "MarkFunctions.h.inc"

#define VERSION "v1"

using namespace llvm;
using mlir::triton_ext::mark_functions::Colour;

namespace {
struct MarkFunctionsPass
    : mlir::triton_ext::mark_functions::impl::MarkFunctionsPassBase<
          MarkFunctionsPass> {
  using Base::Base;

  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses);
};
} // namespace

static const char *nameOf(Colour colour) {
  return colour == Colour::Red ? "Red" : "DarkBlue";
}

PreservedAnalyses MarkFunctionsPass::run(Function &function,
                                         FunctionAnalysisManager &) {
  std::string text;
  raw_string_ostream out(text);
  out << VERSION << " level " << level << " strict " << strict << " factor "
      << format("%.2f", factor) << " label " << label << " colour "
      << nameOf(colour) << " sizes " << sizes.size();
  for (int64_t size : sizes)
    out << ' ' << size;
  out << " names " << names.size();
  for (const std::string &name : names)
    out << ' ' << name;
  out << " colours " << colours.size();
  for (Colour each : colours)
    out << ' ' << nameOf(each);
  function.addFnAttr("mark", text);
  return PreservedAnalyses::all();
}
