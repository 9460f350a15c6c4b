// SPDX-License-Identifier: Apache-2.0
//
// libTritonExtInspect.so: records what each pass of a Triton pass manager does.
// It is a Triton plugin, because the callbacks of plugins turn Python's
// `pass_manager` into an mlir::PassManager; it adds an instrumentation and no
// pass. It changes neither the module nor Triton's output. Called from
// python/triton_ext/pipeline/inspection.py.

#include "Crash.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "triton/Tools/PluginUtils.h"
#include "triton/Version.h"
#include "triton_ext/Remarks.h"
#include "llvm/Support/JSON.h"

#include <chrono>
#include <map>
#include <mutex>

using namespace mlir;
using Clock = std::chrono::steady_clock;

namespace {

/// How much is recorded; `Level` in inspection.py.
enum class Level { Failures, Summary, IR };

/// One run of a pass that is directly in a pass manager; `Event` in
/// inspection.py.
struct Event {
  int64_t manager = 0;
  int64_t index = 0;
  int64_t span = 1;
  std::string argument;
  std::string pipeline;
  int64_t ns = 0;
  int64_t opsBefore = 0;
  int64_t opsAfter = 0;
  bool changed = false;
  bool failed = true; // until it has succeeded: a crash tells nobody
  std::optional<std::string> ir;
  std::vector<std::string> remarks;
  std::vector<std::string> diagnostics;
};

/// The label and the command for one pass, or for several that one call added.
struct Mark {
  size_t end;         // how many passes the manager had then
  std::string label;  // what to call it if it crashes
  std::string driver; // runs it again; if empty, the module before is not kept
};

/// What one inspection has recorded. It ends when Python closes it; recorders,
/// which end with their pass managers, hold it weakly.
struct Inspection {
  explicit Inspection(Level level) : level(level) {}
  ~Inspection() {
    if (std::shared_ptr<MLIRContext> context = listening.lock())
      context->getDiagEngine().eraseHandler(handler);
  }

  const Level level;
  /// Expires with the context whose diagnostics are recorded; set at most once.
  std::weak_ptr<MLIRContext> listening;
  DiagnosticEngine::HandlerID handler = 0;
  std::mutex mutex; // guards the rest
  int64_t managers = 0;
  std::optional<std::string> sourceIR;
  std::vector<Event> events;
  std::vector<std::string> diagnostics;
  std::string json;
  int slot = -1;           // of the compilation, in Crash.cpp
  std::vector<Mark> marks; // of the manager that is attached next
  /// The module before a marked pass that failed, and the command that runs the
  /// pass on a file with this module.
  std::string before, command;
};

/// The number of operations of a module and a hash of what printing would show.
/// An operation that is replaced by an equal one does not change the hash,
/// unlike OperationFingerPrint, which hashes addresses.
class Summary {
public:
  Summary() = default;
  explicit Summary(Operation *root) { add(*root); }

  int64_t ops = 0;
  llvm::hash_code hash{0};

private:
  void add(Operation &op);
  template <typename... T> void mix(const T &...values) {
    hash = llvm::hash_combine(hash, values...);
  }
  /// Returns the number of a value or a block, in the order of the first visit.
  size_t number(const void *entity) {
    return numbers.try_emplace(entity, numbers.size()).first->second;
  }

  llvm::DenseMap<const void *, size_t> numbers;
};

void Summary::add(Operation &op) {
  ++ops;
  mix(op.getName().getAsOpaquePointer(), op.getLoc().getAsOpaquePointer(),
      op.getRawDictionaryAttrs().getAsOpaquePointer(), op.hashProperties(),
      op.getNumOperands(), op.getNumResults(), op.getNumSuccessors(),
      op.getNumRegions());
  for (Value operand : op.getOperands())
    mix(number(operand.getAsOpaquePointer()));
  for (Value result : op.getResults())
    mix(number(result.getAsOpaquePointer()),
        result.getType().getAsOpaquePointer());
  for (Block *successor : op.getSuccessors())
    mix(number(successor));
  for (Region &region : op.getRegions()) {
    mix(region.getBlocks().size());
    for (Block &block : region) {
      mix(number(&block), block.getNumArguments(),
          block.getOperations().size());
      for (BlockArgument argument : block.getArguments())
        mix(number(argument.getAsOpaquePointer()),
            argument.getType().getAsOpaquePointer(),
            argument.getLoc().getAsOpaquePointer());
      for (Operation &nested : block)
        add(nested);
    }
  }
}

/// Adds the runs of one pass manager to an inspection. Its callbacks are
/// serialised by MLIR.
class Recorder : public PassInstrumentation {
public:
  Recorder(PassManager &pm, const std::shared_ptr<Inspection> &inspection,
           int64_t manager)
      : pm(pm), inspection(inspection), manager(manager),
        added(llvm::make_pointer_range(pm)), slot(inspection->slot),
        marks(std::exchange(inspection->marks, {})) {}
  ~Recorder() override {
    if (running)
      triton_ext::leavePass(slot);
    endRun();
  }

  void runBeforePass(Pass *pass, Operation *op) override;
  void runAfterPass(Pass *pass, Operation *op) override {
    finish(pass, op, /*failed=*/false);
  }
  void runAfterPassFailed(Pass *pass, Operation *op) override {
    finish(pass, op, /*failed=*/true);
  }

private:
  void beginRun(Inspection &inspection, Operation *op);
  void endRun();
  void finish(Pass *pass, Operation *op, bool failed);
  void expectCrash(Inspection &inspection, const Event &begun, Operation *op);
  void record(Diagnostic &diagnostic);

  PassManager &pm;
  std::weak_ptr<Inspection> inspection;
  const int64_t manager;
  /// The passes as they were added. When a run starts, MLIR merges nested
  /// pipelines that are adjacent.
  SmallVector<const Pass *> added;
  const int slot;
  const std::vector<Mark> marks;

  /// Expires when the diagnostic handler is erased, or with its context.
  std::weak_ptr<MLIRContext> listening;
  DiagnosticEngine::HandlerID handler = 0;
  remark::detail::RemarkEngine *remarkEngine = nullptr;

  const Pass *running = nullptr; // and its event, its start, the module then
  size_t event = 0;
  Clock::time_point start;
  Summary module;
};

} // namespace

/// Returns what `write` writes, as valid UTF-8 for JSON.
static std::string toText(function_ref<void(raw_ostream &)> write) {
  std::string text;
  llvm::raw_string_ostream os(text);
  write(os);
  return llvm::json::isUTF8(text) ? text : llvm::json::fixUTF8(text);
}

/// Returns the text of a module as Triton's `str(module)` does.
static std::string toText(Operation *op) {
  return toText([&](raw_ostream &os) {
    op->print(os, OpPrintingFlags()
                      .enableDebugInfo(true, /*prettyForm=*/false)
                      .printNameLocAsPrefix(true));
  });
}

static StringRef toText(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
}

/// Writes `file:line:column: severity: message`, and each note on a new line.
static void print(raw_ostream &os, Diagnostic &diagnostic) {
  Location loc = diagnostic.getLocation();
  if (auto file = loc->findInstanceOf<FileLineColLoc>())
    os << file.getFilename().getValue() << ':' << file.getLine() << ':'
       << file.getColumn();
  else
    os << loc;
  std::string message = diagnostic.str();
  StringRef text = message;
  // Without the note that MLIR attaches, which may show a whole function.
  if (text.starts_with("see current operation"))
    text = text.take_until([](char c) { return c == '\n'; });
  os << ": " << toText(diagnostic.getSeverity()) << ": " << text;
  for (Diagnostic &note : diagnostic.getNotes()) {
    os << '\n';
    print(os, note);
  }
}

//===----------------------------------------------------------------------===//
// Recorder
//===----------------------------------------------------------------------===//

void Recorder::runBeforePass(Pass *pass, Operation *op) {
  std::shared_ptr<Inspection> inspection = this->inspection.lock();
  if (!inspection || running) // closed, or `pass` is nested in another
    return;
  if (listening.expired())
    beginRun(*inspection, op);
  Event begun;
  begun.manager = manager;
  begun.index = llvm::find(added, pass) - added.begin();
  for (const Pass *merged : ArrayRef(added).drop_front(begun.index + 1)) {
    if (llvm::is_contained(llvm::make_pointer_range(pm), merged))
      break;
    ++begun.span;
  }
  begun.argument = pass->getArgument().str();
  begun.pipeline =
      toText([&](raw_ostream &os) { pass->printAsTextualPipeline(os); });
  begun.opsBefore = begun.opsAfter = module.ops;
  expectCrash(*inspection, begun, op);
  {
    std::lock_guard lock(inspection->mutex);
    event = inspection->events.size();
    inspection->events.push_back(std::move(begun));
  }
  running = pass;
  start = Clock::now();
}

/// Prepares the report for the case that the pass crashes.
void Recorder::expectCrash(Inspection &inspection, const Event &begun,
                           Operation *op) {
  auto mark = llvm::find_if(marks, [&](const Mark &mark) {
    return mark.end > static_cast<size_t>(begun.index);
  });
  std::string command, before;
  if (mark != marks.end() && !mark->driver.empty()) {
    before = toText(op);
    command = mark->driver + " ";
    command += triton_ext::filePlaceholder;
    // A shell changes nothing within single quotes.
    command += " --pass-pipeline='builtin.module(";
    for (char c : begun.pipeline)
      c == '\'' ? command += "'\\''" : command += c;
    command += ")'";
  }
  std::lock_guard lock(inspection.mutex);
  inspection.before = std::move(before);
  inspection.command = std::move(command);
  triton_ext::enterPass(slot,
                        mark != marks.end() && !mark->label.empty()
                            ? mark->label
                            : "pass '" + begun.pipeline + "'",
                        inspection.command, inspection.before);
}

void Recorder::finish(Pass *pass, Operation *op, bool failed) {
  if (pass != running)
    return;
  std::chrono::nanoseconds time = Clock::now() - start;
  running = nullptr;
  triton_ext::leavePass(slot);
  if (std::shared_ptr<Inspection> inspection = this->inspection.lock()) {
    bool changed = false;
    std::optional<std::string> ir;
    // A pass that failed may leave a module that cannot be printed.
    if (inspection->level > Level::Failures && !failed) {
      llvm::hash_code before = std::exchange(module, Summary(op)).hash;
      changed = module.hash != before;
      if (changed && inspection->level == Level::IR)
        ir = toText(op);
    }
    std::lock_guard lock(inspection->mutex);
    Event &ended = inspection->events[event];
    ended.ns = time.count();
    ended.opsAfter = module.ops;
    ended.changed = changed;
    ended.failed = failed;
    ended.ir = std::move(ir);
    if (!failed)
      inspection->before.clear();
  }
  if (failed || pass == &*std::prev(pm.end()))
    endRun();
}

/// Runs before the first pass. A diagnostic handler that is installed now is
/// called before the one that Triton has installed for the run.
void Recorder::beginRun(Inspection &inspection, Operation *op) {
  for (Pass &pass : pm)
    if (!llvm::is_contained(added, &pass))
      added.push_back(&pass);

  MLIRContext *context = op->getContext();
  std::shared_ptr<MLIRContext> alive(context, [](MLIRContext *) {});
  listening = alive;
  handler = context->getDiagEngine().registerHandler(
      [this, alive = std::move(alive)](Diagnostic &diagnostic) {
        record(diagnostic);
        return failure(); // the next handler is to see it too
      });
  remark::RemarkCategories all;
  all.passed = all.missed = all.analysis = all.failed = ".*";
  if (succeeded(triton_ext::printRemarks(*context, all)))
    remarkEngine = context->getRemarkEngine();

  std::optional<std::string> ir;
  if (inspection.level > Level::Failures)
    module = Summary(op);
  if (inspection.level == Level::IR)
    ir = toText(op);
  std::lock_guard lock(inspection.mutex);
  if (!inspection.sourceIR)
    inspection.sourceIR = std::move(ir);
}

/// Leaves the context as it was. Pass managers may outlive it.
void Recorder::endRun() {
  if (std::shared_ptr<MLIRContext> context = listening.lock()) {
    if (context->getRemarkEngine() == remarkEngine)
      context->setRemarkEngine(nullptr);
    context->getDiagEngine().eraseHandler(handler);
  }
  remarkEngine = nullptr;
}

void Recorder::record(Diagnostic &diagnostic) {
  std::shared_ptr<Inspection> inspection = this->inspection.lock();
  // MLIR's reproducer, which Triton enables, reports an error for each failure.
  // `Event::failed` has this information.
  if (!inspection ||
      StringRef(diagnostic.str()).starts_with("Failures have been detected"))
    return;
  std::string text = toText([&](raw_ostream &os) { print(os, diagnostic); });
  std::lock_guard lock(inspection->mutex);
  bool isRemark = diagnostic.getSeverity() == DiagnosticSeverity::Remark;
  if (running) {
    Event &event = inspection->events[this->event];
    (isRemark ? event.remarks : event.diagnostics).push_back(text);
  }
  if (!isRemark)
    inspection->diagnostics.push_back(std::move(text));
}

//===----------------------------------------------------------------------===//
// For Python
//===----------------------------------------------------------------------===//

namespace {
/// The open inspections by handle. An unknown handle is that of a closed one.
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
/// inspection, the label, and the command that runs such a pass, or nothing.
static void mark(PassManager *pm, const std::vector<std::string> &args) {
  uint64_t handle = 0;
  if (args.size() != 3 || !llvm::to_integer(args[0], handle))
    return;
  if (std::shared_ptr<Inspection> inspection = registry().find(handle)) {
    std::lock_guard lock(inspection->mutex);
    inspection->marks.push_back({pm->size(), args[1], args[2]});
  }
}

/// Records the diagnostics of the context of `pm` from now on, also outside of
/// passes. While a manager runs, Triton's own handler comes first.
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
          inspection->diagnostics.push_back(
              toText([&](raw_ostream &os) { print(os, diagnostic); }));
        }
        return failure(); // the next handler is to see it too
      });
}

TRITON_PLUGIN_API triton::plugin::PluginInfo *tritonGetPluginInfo() {
  static triton::plugin::PassInfo passes[] = {
      {"triton_ext_inspect", TRITON_EXT_VERSION, attach, [] {}},
      {"triton_ext_mark", TRITON_EXT_VERSION, mark, [] {}},
      {"triton_ext_listen", TRITON_EXT_VERSION, listen, [] {}}};
  static triton::plugin::PluginInfo info = {TRITON_PLUGIN_API_VERSION,
                                            passes[0].name,
                                            passes[0].version,
                                            passes,
                                            std::size(passes),
                                            /*dialects=*/nullptr,
                                            0,
                                            /*ops=*/nullptr,
                                            0,
                                            TRITON_VERSION};
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

/// Returns what an open inspection has recorded so far, as JSON; null if it is
/// closed. The text is valid until it is read again or the inspection closed.
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
