// SPDX-License-Identifier: Apache-2.0
//
// triton-ext-opt: MLIR's `*-opt` driver for the installed libtriton, which has
// the parts of MlirOptMain but not the function. driver.py calls it in a
// process that has libtriton loaded. A forked child does the work, so that a
// crash of the compiler becomes an error message and no part of a module is
// printed.

#include "Passes.h"
#include "Plugins.h"
#include "Run.h"

#include "mlir/Support/FileUtilities.h"
#include "triton/Version.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Regex.h"

#include <csignal>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::triton_ext;

static int fail(const Twine &message) {
  llvm::errs() << "triton-ext-opt: error: " << message << "\n";
  return 1;
}

/// Writes `text` to `path`. An existing file is either replaced by the complete
/// new one or left unchanged.
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

/// Returns whether `name` is an option of the driver, an option of libtriton,
/// or one of its passes.
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
    // Python has changed the handlers of these signals.
    signal(SIGINT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    int code =
        runTool(argc, argv, {plugins, numPlugins}, extensions, *progress);
    llvm::outs().flush();
    llvm::errs().flush();
    // _exit skips the destructors of Python and libtriton, which the parent
    // runs.
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
