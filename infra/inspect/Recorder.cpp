// SPDX-License-Identifier: Apache-2.0
//
// Records each run of a pass that is directly in a pass manager, and the
// diagnostics that are emitted meanwhile.

#include "Recorder.h"

#include "Crash.h"
#include "Text.h"

#include "mlir/Pass/Pass.h"
#include "triton_ext/Remarks.h"

using namespace mlir;
using namespace mlir::triton_ext;

Recorder::~Recorder() {
  if (running)
    leavePass(slot);
  endRun();
}

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
  start = std::chrono::steady_clock::now();
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
    command += filePlaceholder;
    // A shell changes nothing within single quotes.
    command += " --pass-pipeline='builtin.module(";
    for (char c : begun.pipeline)
      c == '\'' ? command += "'\\''" : command += c;
    command += ")'";
  }
  std::lock_guard lock(inspection.mutex);
  inspection.before = std::move(before);
  inspection.command = std::move(command);
  enterPass(slot,
            mark != marks.end() && !mark->label.empty()
                ? mark->label
                : "pass '" + begun.pipeline + "'",
            inspection.command, inspection.before);
}

void Recorder::finish(Pass *pass, Operation *op, bool failed) {
  if (pass != running)
    return;
  std::chrono::nanoseconds time = std::chrono::steady_clock::now() - start;
  running = nullptr;
  leavePass(slot);
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
        return failure(); // pass it on to the next handler
      });
  remark::RemarkCategories all;
  all.passed = all.missed = all.analysis = all.failed = ".*";
  if (succeeded(printRemarks(*context, all)))
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
  std::string text = toText(diagnostic);
  std::lock_guard lock(inspection->mutex);
  bool isRemark = diagnostic.getSeverity() == DiagnosticSeverity::Remark;
  if (running) {
    Event &event = inspection->events[this->event];
    (isRemark ? event.remarks : event.diagnostics).push_back(text);
  }
  if (!isRemark)
    inspection->diagnostics.push_back(std::move(text));
}
