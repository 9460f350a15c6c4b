// SPDX-License-Identifier: Apache-2.0
//
// libTritonExtInspect.so: records what each pass of a Triton pass manager does.
// It is a Triton plugin, because the callbacks of plugins turn Python's
// `pass_manager` into an mlir::PassManager; it adds an instrumentation and no
// pass. It changes neither the module nor Triton's output. Called from
// python/triton_ext/pipeline/inspection.py.

#include "Recorder.h"
#include "Text.h"

#include "triton_ext/PluginInfo.h"
#include "llvm/Support/JSON.h"

#include <map>

using namespace mlir;
using namespace mlir::triton_ext;

namespace {
/// The open inspections by handle. A handle that is not in the map belongs to a
/// closed inspection.
struct Registry {
  std::mutex mutex;
  std::map<uint64_t, std::shared_ptr<Inspection>> open;
  uint64_t last = 0;

  std::shared_ptr<Inspection> find(uint64_t handle) {
    std::lock_guard lock(mutex);
    auto found = open.find(handle);
    return found == open.end() ? nullptr : found->second;
  }
};
} // namespace

/// Never destroyed: Python may close inspections while the process ends.
static Registry &registry() {
  static auto *registry = new Registry;
  return *registry;
}

static void attach(PassManager *pm, const std::vector<std::string> &args) {
  uint64_t handle = 0;
  if (args.size() != 1 || !llvm::to_integer(args[0], handle))
    return;
  if (std::shared_ptr<Inspection> inspection = registry().find(handle)) {
    std::lock_guard lock(inspection->mutex);
    pm->addInstrumentation(
        std::make_unique<Recorder>(*pm, inspection, inspection->managers++));
  }
}

/// Names the passes that were added since the last mark. `args` are the
/// inspection, the label, and optionally the command that runs such a pass.
static void mark(PassManager *pm, const std::vector<std::string> &args) {
  uint64_t handle = 0;
  if (args.size() != 3 || !llvm::to_integer(args[0], handle))
    return;
  if (std::shared_ptr<Inspection> inspection = registry().find(handle)) {
    std::lock_guard lock(inspection->mutex);
    inspection->marks.push_back({pm->size(), args[1], args[2]});
  }
}

/// Records the diagnostics of the context of `pm` from now on, also those
/// outside of passes. While a manager runs, Triton's own handler is called
/// first.
static void listen(PassManager *pm, const std::vector<std::string> &args) {
  uint64_t handle = 0;
  if (args.size() != 1 || !llvm::to_integer(args[0], handle))
    return;
  std::shared_ptr<Inspection> inspection = registry().find(handle);
  if (!inspection || !inspection->listening.expired())
    return;
  MLIRContext *context = pm->getContext();
  std::shared_ptr<MLIRContext> alive(context, [](MLIRContext *) {});
  inspection->listening = alive;
  inspection->handler = context->getDiagEngine().registerHandler(
      [weak = std::weak_ptr(inspection),
       alive = std::move(alive)](Diagnostic &diagnostic) {
        if (std::shared_ptr<Inspection> inspection = weak.lock()) {
          std::lock_guard lock(inspection->mutex);
          inspection->diagnostics.push_back(toText(diagnostic));
        }
        return failure(); // pass it on to the next handler
      });
}

TRITON_PLUGIN_API triton::plugin::PluginInfo *tritonGetPluginInfo() {
  static triton::plugin::PassInfo passes[] = {
      {"triton_ext_inspect", TRITON_EXT_VERSION, attach, [] {}},
      {"triton_ext_mark", TRITON_EXT_VERSION, mark, [] {}},
      {"triton_ext_listen", TRITON_EXT_VERSION, listen, [] {}}};
  static triton::plugin::PluginInfo info =
      describePlugin(passes[0].name, passes);
  return &info;
}

#define EXPORT extern "C" __attribute__((visibility("default")))

/// Opens an inspection and returns its handle. `slot` is the result of
/// tritonExtCrashBegin, or -1.
EXPORT uint64_t tritonExtInspectOpen(int level, int slot) {
  std::lock_guard lock(registry().mutex);
  auto inspection = std::make_shared<Inspection>(static_cast<Level>(level));
  inspection->slot = slot;
  registry().open[++registry().last] = std::move(inspection);
  return registry().last;
}

EXPORT void tritonExtInspectClose(uint64_t handle) {
  std::shared_ptr<Inspection> closed = registry().find(handle);
  std::lock_guard lock(registry().mutex);
  registry().open.erase(handle);
}

/// Returns how many inspections are open.
EXPORT size_t tritonExtInspectCount() {
  std::lock_guard lock(registry().mutex);
  return registry().open.size();
}

/// Returns the record of an open inspection so far, as JSON; null if the
/// inspection is closed. The text is valid until the next call for this
/// inspection, or until it is closed.
EXPORT const char *tritonExtInspectRead(uint64_t handle) {
  std::shared_ptr<Inspection> inspection = registry().find(handle);
  if (!inspection)
    return nullptr;
  std::lock_guard lock(inspection->mutex);
  inspection->json.clear();
  llvm::raw_string_ostream os(inspection->json);
  llvm::json::OStream out(os);
  out.object([&] {
    out.attribute("source_ir", inspection->sourceIR);
    out.attribute("before", inspection->before);
    out.attribute("command", inspection->command);
    out.attribute("diagnostics", inspection->diagnostics);
    out.attributeArray("events", [&] {
      for (const Event &event : inspection->events)
        out.object([&] {
          out.attribute("manager", event.manager);
          out.attribute("index", event.index);
          out.attribute("span", event.span);
          out.attribute("argument", event.argument);
          out.attribute("pipeline", event.pipeline);
          out.attribute("ns", event.ns);
          out.attribute("ops_before", event.opsBefore);
          out.attribute("ops_after", event.opsAfter);
          out.attribute("changed", event.changed);
          out.attribute("failed", event.failed);
          out.attribute("ir", event.ir);
          out.attribute("remarks", event.remarks);
          out.attribute("diagnostics", event.diagnostics);
        });
    });
  });
  return inspection->json.c_str();
}
