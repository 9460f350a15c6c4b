// SPDX-License-Identifier: Apache-2.0
//
// triton-ext-opt: MLIR's `*-opt` driver for the installed libtriton, which has
// the parts of MlirOptMain but not the function. driver.py calls it in a
// process that has libtriton loaded. A forked child does the work, so that a
// crash of the compiler becomes an error message and no part of a module is
// printed.

#include "Passes.h"
#include "Plugins.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/ParseUtilities.h"
#include "triton/Version.h"
#include "triton_ext/Remarks.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::triton_ext;
namespace cl = llvm::cl;

static constexpr char splitMarker[] = "// -----";
using VerifyLevel = SourceMgrDiagnosticVerifierHandler::Level;

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

namespace {

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

} // namespace

/// Never destroyed: LLVM's registry of options keeps pointers to its members.
static Options &options() {
  static auto *options = new Options;
  return *options;
}

/// Defines every option that does not depend on extensions, once per process.
static void defineOptions() {
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

static void printHelp(const char *extensions) {
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

//===----------------------------------------------------------------------===//
// Running a pipeline
//===----------------------------------------------------------------------===//

namespace {

/// What the child is doing, for the message about a crash; in memory that is
/// shared with the parent.
struct Progress {
  void set(const Twine &what) {
    SmallString<256> text;
    StringRef name = what.toStringRef(text).take_front(sizeof(activity) - 1);
    memcpy(activity, name.data(), name.size());
    activity[name.size()] = 0;
  }

  char activity[512];
};

/// Notes the pass that runs; with several threads, one of the running passes.
struct ProgressInstrumentation : PassInstrumentation {
  ProgressInstrumentation(Progress &progress, StringRef file)
      : progress(progress), file(file) {}

  void runBeforePass(Pass *pass, Operation *) override {
    if (!pass->getArgument().empty()) // one that only runs others has none
      progress.set("running -" + pass->getArgument() + " on " + file);
  }

  Progress &progress;
  std::string file;
};

/// What to do with each piece of input.
struct Job {
  DialectRegistry &registry;
  /// Adds the passes; writes errors to `errors`.
  std::function<LogicalResult(PassManager &, raw_ostream &errors)> addPasses;
  raw_ostream &errors;
  /// Null for the API, which has no command line.
  const Options *options = nullptr;
  const PassOptions *passOptions = nullptr;
  Progress *progress = nullptr;
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
static LogicalResult printRemarks(MLIRContext &context,
                                  const Options &options) {
  // MLIR wants the whole name to match, clang a part of it.
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

/// Runs the job on one piece of input.
static LogicalResult runPiece(std::unique_ptr<llvm::MemoryBuffer> buffer,
                              const Job &job, raw_ostream &os,
                              TimingScope &timing) {
  std::string name = buffer->getBufferIdentifier().str();
  auto sourceMgr = std::make_shared<llvm::SourceMgr>();
  sourceMgr->AddNewSourceBuffer(std::move(buffer), SMLoc());
  MLIRContext context(job.registry);
  // Like Triton, because its passes do not name every dialect that they need.
  context.loadAllAvailableDialects();
  if (!job.options)
    context.printOpOnDiagnostic(false); // no flag would turn it off
  if (job.options) {
    context.allowUnregisteredDialects(job.options->allowUnregisteredDialect);
    if (failed(printRemarks(context, *job.options)))
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

/// Runs the job on the pieces of `input` and appends their results to `output`.
static LogicalResult runPieces(std::unique_ptr<llvm::MemoryBuffer> input,
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
    // Preceded by as many empty lines, so that line numbers are the file's.
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

//===----------------------------------------------------------------------===//
// The tool
//===----------------------------------------------------------------------===//

static int fail(const Twine &message) {
  llvm::errs() << "triton-ext-opt: error: " << message << "\n";
  return 1;
}

/// Writes `text` to `path`. A file is replaced by a complete one or unchanged.
static int writeOutput(StringRef path, StringRef text) {
  std::error_code error;
  if (path == "-") {
    llvm::raw_fd_ostream os("-", error);
    os << text;
    os.flush();
    error = os.error();
    os.clear_error(); // or its destructor would end the process
    return error ? fail("cannot write to standard output: " + error.message())
                 : 0;
  }
  namespace fs = llvm::sys::fs;
  SmallString<256> real;
  bool isNew = bool(fs::real_path(path, real));
  if (isNew)
    real = path;
  // A device, a pipe or a dangling link has no content that could be lost.
  bool inPlace = isNew ? fs::is_symlink_file(path) : !fs::is_regular_file(real);
  SmallString<256> partial = real;
  if (!inPlace)
    partial += ("." + Twine(getpid()) + ".part").str();
  {
    llvm::raw_fd_ostream os(partial, error);
    if (!error) {
      os << text;
      os.close();
      error = os.error();
      os.clear_error();
    }
  }
  if (!error && !inPlace)
    error = fs::rename(partial, real);
  if (error && !inPlace)
    fs::remove(partial);
  return error ? fail("cannot write " + path + ": " + error.message()) : 0;
}

static int runTool(int argc, const char *const *argv,
                   ArrayRef<TritonExtOptPlugin> plugins, const char *extensions,
                   Progress &progress) {
  DialectRegistry registry;
  for (const TritonExtOptPlugin &plugin : plugins) {
    progress.set(Twine("loading ") + plugin.path);
    std::string problem = loadPlugin(plugin, registry);
    if (!problem.empty())
      return fail(problem);
  }
  // After the dialects of plugins: the conversions to LLVM, which libtriton's
  // dialects register, look for interfaces that a plugin's dialect promises.
  registerBuiltinDialects(registry);
  progress.set("reading the command line");
  auto *passOptions = new PassOptions; // as long-lived as options()
  cl::SetVersionPrinter([](raw_ostream &os) {
    os << "triton-ext-opt " TRITON_EXT_VERSION " for Triton " TRITON_VERSION
          " (LLVM " TRITON_EXT_LLVM_COMMIT ")\n";
  });
  // LLVM's own --help would end the process, and does not group the passes.
  bool wantsHelp =
      llvm::any_of(ArrayRef(argv + 1, argc - 1), [](StringRef arg) {
        return arg == "--help" || arg == "-help" || arg == "-h";
      });
  if (!cl::ParseCommandLineOptions(wantsHelp ? 1 : argc, argv,
                                   "Runs passes of the installed Triton and of "
                                   "triton-ext on a file\n",
                                   &llvm::errs()))
    return 1;
  if (wantsHelp) {
    printHelp(extensions);
    return 0;
  }
  if (options().printCatalogue) {
    printCatalogue();
    return 0;
  }
  if (options().showDialects) {
    llvm::outs() << "Registered dialects:\n";
    for (StringRef name : registry.getRegisteredDialectNames())
      llvm::outs() << name << "\n";
    return 0;
  }
  if (options().emitBytecode)
    return fail("-emit-bytecode: libtriton has no bytecode writer");

  std::string error;
  for (cl::opt<std::string> *flag :
       {&options().passedRemarks, &options().missedRemarks,
        &options().analysisRemarks})
    if (flag->getNumOccurrences() && !llvm::Regex(*flag).isValid(error))
      return fail("-" + flag->ArgStr + "='" + *flag +
                  "': no regular expression: " + error);
  std::unique_ptr<llvm::MemoryBuffer> input =
      openInputFile(options().input, &error);
  if (!input)
    return fail(error);
  Job job{registry,
          [&](PassManager &pm, raw_ostream &errors) {
            return passOptions->pipeline.addToPipeline(
                pm, [&](const Twine &message) {
                  errors << "triton-ext-opt: error: "
                         << StringRef(message.str()).trim() << "\n";
                  return failure();
                });
          },
          llvm::errs(),
          &options(),
          passOptions,
          &progress};
  std::string output;
  LogicalResult result = failure();
  {
    DefaultTimingManager timingManager;
    applyDefaultTimingManagerCLOptions(timingManager);
    TimingScope timing = timingManager.getRootScope();
    result = runPieces(std::move(input), job, output, timing);
  }
  return failed(result) ? 1 : writeOutput(options().output, output);
}

#define EXPORT extern "C" __attribute__((visibility("default")))

/// Whether `name` is an option of the driver, an option of libtriton, or one of
/// its passes.
EXPORT int tritonExtOptKnows(const char *name) {
  defineOptions();
  return PassInfo::lookup(name) || cl::getRegisteredOptions().count(name);
}

/// Runs the command line and returns the exit code. `plugins` are loaded first;
/// `extensions` is the part of --help about extensions.
EXPORT int tritonExtOptMain(int argc, const char *const *argv,
                            const TritonExtOptPlugin *plugins,
                            size_t numPlugins, const char *extensions) {
  defineOptions();
  auto *progress = static_cast<Progress *>(
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (progress == MAP_FAILED)
    return fail(strerror(errno));
  pid_t parent = getpid();
  pid_t child = fork();
  if (child < 0)
    return fail(strerror(errno));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      _exit(1);
    // Python has changed the actions of these signals.
    signal(SIGINT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    int code =
        runTool(argc, argv, {plugins, numPlugins}, extensions, *progress);
    llvm::outs().flush();
    llvm::errs().flush();
    // Without the destructors of Python and libtriton, which the parent runs.
    _exit(code);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (WIFEXITED(status))
    return WEXITSTATUS(status);
  int number = WTERMSIG(status);
  if (number == SIGINT || number == SIGPIPE || number == SIGTERM)
    return 128 + number;
  return fail(Twine("crash while ") + progress->activity + ": " +
              strsignal(number));
}

//===----------------------------------------------------------------------===//
// For programs
//===----------------------------------------------------------------------===//

static DialectRegistry &pluginRegistry() {
  static auto *registry = [] {
    registerBuiltinPasses();
    return new DialectRegistry;
  }();
  return *registry;
}

/// Returns the dialects of plugins, then those of libtriton; see runTool().
static DialectRegistry apiRegistry() {
  static auto *builtin = [] {
    auto *registry = new DialectRegistry;
    registerBuiltinDialects(*registry);
    return registry;
  }();
  DialectRegistry registry;
  pluginRegistry().appendTo(registry);
  builtin->appendTo(registry);
  return registry;
}

using Receiver = void (*)(const char *text, size_t size);

static void send(Receiver receiver, StringRef text) {
  receiver(text.data(), text.size());
}

/// Loads a library for tritonExtOptRun; calls `onError` with an error.
EXPORT int tritonExtOptLoad(const TritonExtOptPlugin *plugin,
                            Receiver onError) {
  std::string problem = loadPlugin(*plugin, pluginRegistry());
  send(onError, problem);
  return problem.empty() ? 0 : 1;
}

/// Runs a textual pipeline, with or without `builtin.module(...)` around it, on
/// `text`, and passes diagnostics and resulting module to the callbacks.
EXPORT int tritonExtOptRun(const char *text, size_t size, const char *name,
                           const char *pipeline, Receiver onOutput,
                           Receiver onError) {
  std::string output, errors;
  llvm::raw_string_ostream os(output), errorStream(errors);
  StringRef passes = StringRef(pipeline).trim();
  DialectRegistry registry = apiRegistry();
  Job job{registry,
          [&](PassManager &pm, raw_ostream &stream) -> LogicalResult {
            if (passes.empty())
              return success();
            if (!passes.starts_with("builtin.module(") &&
                !passes.starts_with("any("))
              return parsePassPipeline(passes, pm, stream);
            FailureOr<OpPassManager> parsed = parsePassPipeline(passes, stream);
            if (failed(parsed))
              return failure();
            static_cast<OpPassManager &>(pm) = std::move(*parsed);
            return success();
          },
          errorStream};
  DefaultTimingManager timingManager; // not enabled
  TimingScope timing = timingManager.getRootScope();
  LogicalResult result =
      runPiece(llvm::MemoryBuffer::getMemBufferCopy({text, size}, name), job,
               os, timing);
  send(onError, errors);
  if (failed(result))
    return 1;
  send(onOutput, output);
  return 0;
}
