// SPDX-License-Identifier: Apache-2.0
//
// Runs a textual pipeline of LLVM passes, of LLVM and of extensions, on a
// module, with a target machine that equals the one of Triton's own
// optimisation. Whatever a pass does, the process goes on.

#include "Run.h"

#include "triton_ext/LLVMPass.h"
#include "triton_ext/Recovery.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"

using namespace llvm;
using namespace mlir::triton_ext;

namespace llvm {
/// A pass of Triton, which its headers do not declare.
struct BreakStructPhiNodesPass : PassInfoMixin<BreakStructPhiNodesPass> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses);
};
} // namespace llvm

namespace {
/// While an object of this class exists, it collects the diagnostics of the
/// context, and keeps LLVM from ending the process on an error.
class Listener {
public:
  Listener(LLVMContext &context, LLVMOutcome &outcome) : context(context) {
    struct Handler : DiagnosticHandler {
      explicit Handler(LLVMOutcome &outcome) : outcome(outcome) {}
      bool handleDiagnostics(const DiagnosticInfo &info) override {
        std::string text;
        raw_string_ostream os(text);
        DiagnosticPrinterRawOStream printer(os);
        info.print(printer);
        if (info.getSeverity() == DS_Error)
          outcome.problem += (outcome.problem.empty() ? "" : "\n") + text;
        else
          outcome.remarks += text + "\n";
        return true;
      }
      bool isAnalysisRemarkEnabled(StringRef) const override { return false; }
      bool isMissedOptRemarkEnabled(StringRef name) const override {
        return name.starts_with("triton-ext-");
      }
      bool isPassedOptRemarkEnabled(StringRef name) const override {
        return name.starts_with("triton-ext-");
      }
      bool isAnyRemarkEnabled() const override { return true; }
      LLVMOutcome &outcome;
    };
    before = context.getDiagnosticHandler();
    context.setDiagnosticHandler(std::make_unique<Handler>(outcome));
  }
  ~Listener() { context.setDiagnosticHandler(std::move(before)); }

private:
  LLVMContext &context;
  std::unique_ptr<DiagnosticHandler> before;
};
} // namespace

/// The options are those of Triton's createTargetMachine().
std::unique_ptr<TargetMachine> mlir::triton_ext::makeMachine(
    Module &module, const TritonExtLLVMSetting &setting, std::string &problem) {
  if (!*setting.processor)
    return nullptr;
  if (module.getTargetTriple().empty()) {
    problem = ("the processor '" + Twine(setting.processor) +
               "' needs a module with a target triple")
                  .str();
    return nullptr;
  }
  std::string error;
  const Target *target =
      TargetRegistry::lookupTarget(module.getTargetTriple(), error);
  if (!target) {
    problem = error;
    return nullptr;
  }
  TargetOptions options;
  if (setting.fuses)
    options.AllowFPOpFusion = FPOpFusion::Fast;
  options.TrapUnreachable = true;
  options.MCOptions.AsmVerbose = true;
  options.MCOptions.PreserveAsmComments = true;
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(
      module.getTargetTriple(), setting.processor, setting.features, options,
      Reloc::PIC_, std::nullopt, CodeGenOptLevel::Aggressive));
}

/// Returns the LLVM pass whose name is most similar to `wrong`, or an empty
/// text if no name is similar.
static std::string nearestPass(PassBuilder &builder, StringRef wrong) {
  std::string listed;
  raw_string_ostream os(listed);
  builder.printPassNames(os);
  SmallVector<StringRef> lines;
  StringRef(listed).split(lines, '\n');
  StringRef nearest;
  unsigned distance = wrong.size() / 3 + 1;
  for (StringRef line : lines) {
    // LLVM prints each name after two spaces; parameters may follow it.
    StringRef name = line.trim().split('<').first;
    if (!line.starts_with("  ") || name.empty())
      continue;
    unsigned edits = name.edit_distance(wrong, /*AllowReplacements=*/true,
                                        /*MaxEditDistance=*/distance);
    if (edits < distance) {
      distance = edits;
      nearest = name;
    }
  }
  return nearest.str();
}

/// Reports why a pipeline is wrong: the error in a pass's options if there is
/// one, else LLVM's error.
static std::string problemOf(PassBuilder &builder, Error error) {
  std::string said = toString(std::move(error));
  std::string problem = takeLLVMPassProblem();
  if (!problem.empty())
    return problem;
  if (!StringRef(said).starts_with("unknown"))
    return said;
  StringRef wrong = StringRef(said).split('\'').second.split('\'').first;
  std::string nearest = nearestPass(builder, wrong.split('<').first);
  return nearest.empty() ? said : said + "; did you mean '" + nearest + "'?";
}

/// Registers the pipelines of the setting at their extension points.
static std::string addPoints(PassBuilder &builder, StringRef points) {
  SmallVector<StringRef> lines;
  points.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    auto [point, text] = line.split(':');
    std::string pipeline = text.str();
    auto add = [&builder, pipeline](auto &manager, OptimizationLevel, auto...) {
      // The same builder has parsed this text before, so it cannot fail.
      cantFail(builder.parsePassPipeline(manager, pipeline));
    };
    auto parses = [&]<typename Manager>(Manager) {
      Manager manager;
      takeLLVMPassProblem();
      Error error = builder.parsePassPipeline(manager, pipeline);
      return error ? problemOf(builder, std::move(error)) : std::string();
    };
    std::string problem;
    if (point == "pipeline-start") {
      problem = parses(ModulePassManager());
      builder.registerPipelineStartEPCallback(add);
    } else if (point == "optimizer-early") {
      problem = parses(ModulePassManager());
      builder.registerOptimizerEarlyEPCallback(add);
    } else if (point == "optimizer-last") {
      problem = parses(ModulePassManager());
      builder.registerOptimizerLastEPCallback(add);
    } else if (point == "peephole") {
      problem = parses(FunctionPassManager());
      builder.registerPeepholeEPCallback(add);
    } else if (point == "scalar-optimizer-late") {
      problem = parses(FunctionPassManager());
      builder.registerScalarOptimizerLateEPCallback(add);
    } else if (point == "vectorizer-start") {
      problem = parses(FunctionPassManager());
      builder.registerVectorizerStartEPCallback(add);
    } else if (point == "vectorizer-end") {
      problem = parses(FunctionPassManager());
      builder.registerVectorizerEndEPCallback(add);
    } else if (point == "loop-optimizer-end") {
      problem = parses(LoopPassManager());
      builder.registerLoopOptimizerEndEPCallback(add);
    } else if (point == "late-loop-optimizations") {
      problem = parses(LoopPassManager());
      builder.registerLateLoopOptimizationsEPCallback(add);
    } else {
      problem = ("unknown extension point '" + point + "'").str();
    }
    if (!problem.empty())
      return problem;
  }
  return "";
}

/// Runs `pipeline`, and returns the error, if any. Sets `pass` to the running
/// pass.
static std::string run(Module &module, const char *pipeline,
                       const TritonExtLLVMSetting &setting, std::string &pass) {
  std::string problem;
  std::unique_ptr<TargetMachine> machine =
      makeMachine(module, setting, problem);
  if (!problem.empty())
    return problem;
  PipelineTuningOptions tuning; // what Triton's optimize_module sets
  tuning.LoopUnrolling = true;
  tuning.LoopInterleaving = true;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = setting.vectorizesStraightLineCode;

  PassInstrumentationCallbacks callbacks;
  if (!setting.combinesVectors)
    callbacks.registerShouldRunOptionalPassCallback(
        [](StringRef name, auto...) { return name != "VectorCombinePass"; });
  callbacks.registerBeforeNonSkippedPassCallback([&](StringRef name, auto...) {
    if (!isSpecialPass(name, {"PassManager", "PassAdaptor"}))
      pass = name.str();
  });
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  PassBuilder builder(machine.get(), tuning, std::nullopt, &callbacks);
  for (TritonExtLLVMEntry entry : ArrayRef(setting.entries, setting.numEntries))
    entry().RegisterPassBuilderCallbacks(builder);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  // Triton does this, too: its kernels have large structures of scalars.
  builder.registerVectorizerStartEPCallback(
      [](FunctionPassManager &manager, OptimizationLevel) {
        manager.addPass(BreakStructPhiNodesPass());
        manager.addPass(InstCombinePass());
      });
  problem = addPoints(builder, setting.points);
  if (!problem.empty())
    return problem;

  ModulePassManager manager;
  takeLLVMPassProblem();
  if (*pipeline) // LLVM reads an empty text as a pass without a name
    if (Error error = builder.parsePassPipeline(manager, pipeline))
      return problemOf(builder, std::move(error));
  manager.run(module, modules);
  return "";
}

LLVMOutcome
mlir::triton_ext::runLLVMPipeline(Module &module, const char *pipeline,
                                  const TritonExtLLVMSetting &setting) {
  LLVMOutcome outcome;
  Listener listener(module.getContext(), outcome);
  std::string problem, pass, reason;
  outcome.crashed = !runRecovering(
      [&] { problem = run(module, pipeline, setting, pass); }, reason);
  std::string where = pass.empty() ? "" : " in LLVM's '" + pass + "'";
  if (outcome.crashed) {
    outcome.problem = "it crashed" + where +
                      (reason.empty() ? "; what it said is on standard error"
                                      : ": " + reason);
    return outcome;
  }
  if (!problem.empty())
    outcome.problem = problem;
  if (!outcome.problem.empty())
    return outcome;
  raw_string_ostream os(outcome.problem);
  if (verifyModule(module, &os)) {
    outcome.problem = "left a module that does not verify: " +
                      StringRef(outcome.problem).rtrim().str();
    outcome.crashed = true;
  }
  return outcome;
}
