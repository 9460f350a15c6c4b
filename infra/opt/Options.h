// SPDX-License-Identifier: Apache-2.0
//
// The options of triton-ext-opt's command line.

#ifndef TRITON_EXT_OPT_OPTIONS_H
#define TRITON_EXT_OPT_OPTIONS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/CommandLine.h"

namespace mlir::triton_ext {

namespace cl = llvm::cl;
using VerifyLevel = SourceMgrDiagnosticVerifierHandler::Level;

/// The default line between the pieces of a file.
inline constexpr char splitMarker[] = "// -----";

/// The options that mlir-opt has and libtriton lacks, and our own.
struct Options {
  cl::OptionCategory category{"triton-ext-opt"};

  cl::opt<std::string> input{cl::Positional, cl::desc("<input file>"),
                             cl::init("-"), cl::cat(category)};
  cl::opt<std::string> output{
      "o", cl::desc("Output file, written whole or not at all"),
      cl::value_desc("file"), cl::init("-"), cl::cat(category)};
  cl::opt<std::string> inputSplit{
      "split-input-file",
      cl::ValueOptional,
      cl::value_desc("marker"),
      cl::desc("Process the pieces between // ----- lines on their own"),
      cl::init(""),
      cl::cat(category)};
  cl::opt<std::string> outputSplit{
      "output-split-marker", cl::value_desc("marker"),
      cl::desc("Put this line between the results of such pieces"),
      cl::init(splitMarker), cl::cat(category)};
  cl::opt<VerifyLevel> verifyDiagnostics{
      "verify-diagnostics",
      cl::ValueOptional,
      cl::desc("Compare diagnostics with the input's expected-* comments"),
      cl::init(VerifyLevel::None),
      cl::values(
          clEnumValN(VerifyLevel::All, "all", "every diagnostic is expected"),
          clEnumValN(VerifyLevel::All, "", "the same"),
          clEnumValN(VerifyLevel::OnlyExpected, "only-expected",
                     "others may occur")),
      cl::cat(category)};
  cl::opt<bool> verifyEach{"verify-each",
                           cl::desc("Run the verifier after each pass"),
                           cl::init(true), cl::cat(category)};
  cl::opt<bool> allowUnregisteredDialect{
      "allow-unregistered-dialect",
      cl::desc("Accept operations of dialects that are not registered"),
      cl::cat(category)};
  cl::opt<bool> noImplicitModule{
      "no-implicit-module",
      cl::desc("Do not put what has no module of its own into one"),
      cl::cat(category)};
  cl::opt<bool> showDialects{"show-dialects",
                             cl::desc("Print the dialects that are registered"),
                             cl::cat(category)};
  cl::opt<bool> dumpPassPipeline{
      "dump-pass-pipeline", cl::desc("Print the pipeline that will be run"),
      cl::cat(category)};
  cl::opt<bool> runReproducer{"run-reproducer",
                              cl::desc("Run the pipeline stored in the input"),
                              cl::cat(category)};
  cl::opt<bool> emitBytecode{
      "emit-bytecode",
      cl::desc("Missing: libtriton has no bytecode writer (bytecode is read)"),
      cl::cat(category)};
  // Python has already read these options.
  cl::list<std::string> loadExtension{
      "load-extension", cl::value_desc("path"),
      cl::desc("Load this extension, by path or name, or Triton plugin"),
      cl::cat(category)};
  cl::opt<bool> printCatalogue{"print-pass-catalogue", cl::ReallyHidden};

  cl::opt<std::string> crashReproducer{
      "mlir-pass-pipeline-crash-reproducer", cl::value_desc("file"),
      cl::desc("Write a reproducer if a pass crashes or fails"),
      cl::cat(category)};
  cl::opt<bool> localReproducer{
      "mlir-pass-pipeline-local-reproducer",
      cl::desc("Reduce the reproducer to the pass that fails"),
      cl::cat(category)};
  cl::opt<bool> printBeforeAll{"mlir-print-ir-before-all",
                               cl::desc("Print IR before each pass"),
                               cl::cat(category)};
  cl::opt<bool> printAfterAll{"mlir-print-ir-after-all",
                              cl::desc("Print IR after each pass"),
                              cl::cat(category)};
  cl::opt<bool> printAfterChange{
      "mlir-print-ir-after-change",
      cl::desc("When printing IR after a pass, only print if it changed"),
      cl::cat(category)};
  cl::opt<bool> printAfterFailure{
      "mlir-print-ir-after-failure",
      cl::desc("When printing IR after a pass, only print if it failed"),
      cl::cat(category)};
  cl::opt<bool> printModuleScope{
      "mlir-print-ir-module-scope",
      cl::desc("When printing IR around a pass, print the whole module"),
      cl::cat(category)};
  cl::opt<std::string> printTreeDir{
      "mlir-print-ir-tree-dir", cl::value_desc("directory"),
      cl::desc("When printing IR around a pass, print to a file tree here"),
      cl::cat(category)};
  // Clang's options, because MLIR's own are in MlirOptMain.
  cl::opt<std::string> passedRemarks{
      "Rpass", cl::value_desc("regex"),
      cl::desc("Print what passes of matching names say that they have done"),
      cl::cat(category)};
  cl::opt<std::string> missedRemarks{
      "Rpass-missed", cl::value_desc("regex"),
      cl::desc("Print what they say that they could not do, and why"),
      cl::cat(category)};
  cl::opt<std::string> analysisRemarks{
      "Rpass-analysis", cl::value_desc("regex"),
      cl::desc("Print what else they say that they have found"),
      cl::cat(category)};
  cl::opt<bool> statistics{"mlir-pass-statistics",
                           cl::desc("Print the statistics of each pass"),
                           cl::cat(category)};
  cl::opt<PassDisplayMode> statisticsDisplay{
      "mlir-pass-statistics-display", cl::desc("How to print them"),
      cl::init(PassDisplayMode::Pipeline),
      cl::values(
          clEnumValN(PassDisplayMode::List, "list", "sorted by pass"),
          clEnumValN(PassDisplayMode::Pipeline, "pipeline", "as a pipeline")),
      cl::cat(category)};
};

/// The options that depend on which passes are registered.
struct PassOptions {
  PassPipelineCLParser pipeline{"", "Passes to run", "p"};
  PassNameCLParser printBefore{"mlir-print-ir-before",
                               "Print IR before these passes"};
  PassNameCLParser printAfter{"mlir-print-ir-after",
                              "Print IR after these passes"};
};

/// Returns the options, which are never destroyed: LLVM's registry of options
/// keeps pointers to them.
Options &options();

/// Defines every option that does not depend on extensions, once per process.
void defineOptions();

/// Writes --help; `extensions` is its part about extensions.
void printHelp(const char *extensions);

} // namespace mlir::triton_ext

#endif // TRITON_EXT_OPT_OPTIONS_H
