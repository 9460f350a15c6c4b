// SPDX-License-Identifier: Apache-2.0
//
// Runs textual pipelines for programs, in their process: the functions behind
// `tx.opt`.

#include "Passes.h"
#include "Plugins.h"
#include "Run.h"

using namespace mlir;
using namespace mlir::triton_ext;

#define EXPORT extern "C" __attribute__((visibility("default")))

static DialectRegistry &pluginRegistry() {
  static auto *registry = [] {
    registerBuiltinPasses();
    return new DialectRegistry;
  }();
  return *registry;
}

DialectRegistry triton_ext::apiRegistry() {
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
