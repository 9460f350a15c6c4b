// SPDX-License-Identifier: Apache-2.0
//
// Parses a piece of input, runs passes on it and prints the result, as
// MlirOptMain does.

#include "Run.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Tools/ParseUtilities.h"
#include "triton_ext/Remarks.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::triton_ext;

namespace {
/// Records the pass that runs; with several threads, one of the running passes.
struct ProgressInstrumentation : PassInstrumentation {
  ProgressInstrumentation(Progress &progress, StringRef file)
      : progress(progress), file(file) {}

  void runBeforePass(Pass *pass, Operation *) override {
    if (!pass->getArgument().empty()) // a pass that only runs others has none
      progress.set("running -" + pass->getArgument() + " on " + file);
  }

  Progress &progress;
  std::string file;
};
} // namespace

static void printAround(PassManager &pm, const Options &options,
                        const PassOptions &passOptions) {
  using Filter = std::function<bool(Pass *, Operation *)>;
  auto filter = [](bool all, const PassNameCLParser &names) -> Filter {
    if (all)
      return [](Pass *, Operation *) { return true; };
    if (!names.hasAnyOccurrences())
      return nullptr;
    return [&names](Pass *pass, Operation *) {
      const PassInfo *info = PassInfo::lookup(pass->getArgument());
      return info && names.contains(info);
    };
  };
  Filter before = filter(options.printBeforeAll, passOptions.printBefore);
  Filter after = filter(options.printAfterAll || options.printAfterFailure,
                        passOptions.printAfter);
  if (!before && !after)
    return;
  if (options.printTreeDir.empty())
    pm.enableIRPrinting(before, after, options.printModuleScope,
                        options.printAfterChange, options.printAfterFailure);
  else
    pm.enableIRPrintingToFileTree(
        before, after, options.printModuleScope, options.printAfterChange,
        options.printAfterFailure, options.printTreeDir);
}

/// Parses `sourceMgr`'s main file, runs the passes and prints to `os`.
static LogicalResult
runPasses(const std::shared_ptr<llvm::SourceMgr> &sourceMgr,
          MLIRContext &context, const Job &job, raw_ostream &os,
          TimingScope &timing) {
  const Options *options = job.options;
  StringRef file = sourceMgr->getMemoryBuffer(sourceMgr->getMainFileID())
                       ->getBufferIdentifier();
  // With several threads, the order of the parser's diagnostics would vary.
  bool threaded = context.isMultithreadingEnabled();
  context.disableMultithreading();
  FallbackAsmResourceMap resources;
  ParserConfig config(&context, /*verifyAfterParse=*/true, &resources);
  PassReproducerOptions reproducer;
  if (options && options->runReproducer)
    reproducer.attachResourceParser(config);
  if (job.progress)
    job.progress->set("parsing " + file);
  TimingScope parserTiming = timing.nest("Parser");
  OwningOpRef<Operation *> op = parseSourceFileForTool(
      sourceMgr, config, !options || !options->noImplicitModule);
  parserTiming.stop();
  if (!op)
    return failure();
  context.enableMultithreading(threaded);

  PassManager pm(op->getName(), OpPassManager::Nesting::Implicit);
  pm.enableVerifier(!options || options->verifyEach);
  if (job.progress)
    pm.addInstrumentation(
        std::make_unique<ProgressInstrumentation>(*job.progress, file));
  if (options) {
    if (options->statistics)
      pm.enableStatistics(options->statisticsDisplay);
    if (!options->crashReproducer.empty())
      pm.enableCrashReproducerGeneration(options->crashReproducer,
                                         options->localReproducer);
    if (options->printModuleScope)
      context.disableMultithreading();
    printAround(pm, *options, *job.passOptions);
    pm.enableTiming(timing);
    if (options->runReproducer && failed(reproducer.apply(pm)))
      return failure();
  }
  if (failed(job.addPasses(pm, job.errors)))
    return failure();
  if (options && options->dumpPassPipeline) {
    pm.dump();
    llvm::errs() << "\n";
  }
  if (failed(pm.run(*op)))
    return failure();

  if (job.progress)
    job.progress->set("printing " + file);
  TimingScope outputTiming = timing.nest("Output");
  AsmState state(*op, OpPrintingFlags(), /*locationMap=*/nullptr, &resources);
  op->print(os, state);
  os << '\n';
  return success();
}

/// Enables the remarks that the command line asks for.
static LogicalResult enableRemarks(MLIRContext &context,
                                   const Options &options) {
  // In MLIR, the pattern must match the whole name; in clang, a part of it.
  auto wanted = [](const cl::opt<std::string> &flag) {
    return flag.getNumOccurrences() ? std::optional(".*(" + flag + ").*")
                                    : std::nullopt;
  };
  remark::RemarkCategories categories;
  categories.passed = wanted(options.passedRemarks);
  categories.missed = categories.failed = wanted(options.missedRemarks);
  categories.analysis = wanted(options.analysisRemarks);
  return printRemarks(context, categories);
}

LogicalResult triton_ext::runPiece(std::unique_ptr<llvm::MemoryBuffer> buffer,
                                   const Job &job, raw_ostream &os,
                                   TimingScope &timing) {
  std::string name = buffer->getBufferIdentifier().str();
  auto sourceMgr = std::make_shared<llvm::SourceMgr>();
  sourceMgr->AddNewSourceBuffer(std::move(buffer), SMLoc());
  MLIRContext context(job.registry);
  // As in Triton, because its passes do not declare every dialect that they
  // need.
  context.loadAllAvailableDialects();
  if (!job.options)
    context.printOpOnDiagnostic(false); // no flag would turn it off
  if (job.options) {
    context.allowUnregisteredDialects(job.options->allowUnregisteredDialect);
    if (failed(enableRemarks(context, *job.options)))
      return failure();
  }

  if (job.options && job.options->verifyDiagnostics != VerifyLevel::None) {
    context.printOpOnDiagnostic(false);
    SourceMgrDiagnosticVerifierHandler handler(*sourceMgr, &context, job.errors,
                                               job.options->verifyDiagnostics);
    // The expected diagnostics decide whether the passes have to succeed.
    (void)runPasses(sourceMgr, context, job, os, timing);
    return handler.verify();
  }
  SourceMgrDiagnosticHandler handler(*sourceMgr, &context, job.errors);
  bool said = false;
  ScopedDiagnosticHandler listener(&context, [&](Diagnostic &diagnostic) {
    said |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return failure(); // the handler above prints it
  });
  uint64_t before = job.errors.tell();
  LogicalResult result = runPasses(sourceMgr, context, job, os, timing);
  if (failed(result) && !said && job.errors.tell() == before)
    job.errors << name << ": error: a pass failed and did not say why\n";
  return result;
}

LogicalResult triton_ext::runPieces(std::unique_ptr<llvm::MemoryBuffer> input,
                                    const Job &job, std::string &output,
                                    TimingScope &timing) {
  llvm::raw_string_ostream os(output);
  StringRef text = input->getBuffer();
  bool isSplit = job.options->inputSplit.getNumOccurrences() != 0;
  StringRef marker = isSplit && !job.options->inputSplit.empty()
                         ? StringRef(job.options->inputSplit)
                         : StringRef(splitMarker);
  if (!isSplit)
    return runPiece(std::move(input), job, os, timing);

  LogicalResult result = success();
  size_t line = 0;
  bool first = true;
  auto run = [&](StringRef piece) {
    // Empty lines in front of the piece keep the line numbers of the file.
    std::string padded = std::string(line, '\n') + piece.str();
    if (!std::exchange(first, false))
      os << job.options->outputSplit << "\n";
    if (failed(runPiece(llvm::MemoryBuffer::getMemBufferCopy(
                            padded, input->getBufferIdentifier()),
                        job, os, timing)))
      result = failure();
    line += piece.count('\n') + 1;
  };
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    if (text.slice(at, end).rtrim() == marker) {
      run(text.slice(begin, at));
      begin = std::min(end + 1, text.size());
    }
    at = end + 1;
  }
  run(text.substr(begin));
  return result;
}
