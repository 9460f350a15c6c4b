// SPDX-License-Identifier: Apache-2.0
//
// The pass manager around a pass of our own: options from text, statistics,
// analyses kept and dropped, and what becomes of an error.

#include "Dialects.h"
#include "Report.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace triton_ext::selftest;

namespace {
/// The number of ops. Also counts how often it was computed.
struct OpCount {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OpCount)

  OpCount(Operation *root) {
    ++computed;
    root->walk([&](Operation *) { ++ops; });
  }
  static inline int computed = 0;
  int ops = 0;
};

enum class Mode { Count, Rename, Fail };

struct ProbePass : PassWrapper<ProbePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ProbePass)

  ProbePass() = default;
  ProbePass(const ProbePass &other) : PassWrapper(other) {}

  using Pass::copyOptionValuesFrom;

  StringRef getArgument() const final { return "triton-ext-selftest-probe"; }
  StringRef getDescription() const final { return "probes the pass manager"; }

  void runOnOperation() override {
    ops = getAnalysis<OpCount>().ops;
    hadCached = getCachedAnalysis<OpCount>().has_value();
    if (mode == Mode::Count)
      markAllAnalysesPreserved();
    if (mode == Mode::Rename)
      getOperation().walk([&](FunctionOpInterface function) {
        function.setName(prefix + function.getName().str());
      });
    if (mode == Mode::Fail) {
      getOperation().emitOpError("was asked to fail");
      signalPassFailure();
    }
  }

  Option<Mode> mode{*this, "mode", llvm::cl::desc("what to do"),
                    llvm::cl::init(Mode::Count),
                    llvm::cl::values(clEnumValN(Mode::Count, "count", ""),
                                     clEnumValN(Mode::Rename, "rename", ""),
                                     clEnumValN(Mode::Fail, "fail", ""))};
  Option<std::string> prefix{*this, "prefix", llvm::cl::desc("for names"),
                             llvm::cl::init("p_")};
  Option<int> number{*this, "number", llvm::cl::desc("any"), llvm::cl::init(3)};
  ListOption<int64_t> sizes{*this, "sizes", llvm::cl::desc("any")};
  Statistic ops{this, "ops", "ops seen"};
  bool hadCached = false;
};
} // namespace

static Part options(Phase::Run, [](Report &report) {
  const char *group = "passes";
  std::string error;
  auto parse = [&](ProbePass &pass, StringRef text) {
    return pass.initializeOptions(text, [&](const Twine &message) {
      error = message.str();
      return failure();
    });
  };
  ProbePass pass;
  report.equal(group, "option default", 3, [&] { return int(pass.number); });
  report.check(group, "options are parsed", [&](std::string &) {
    return succeeded(
        parse(pass, "mode=rename prefix=q_ number=-8 sizes=1,2,30000000000"));
  });
  report.equal(group, "integer option", -8, [&] { return int(pass.number); });
  report.equal(group, "string option", std::string("q_"),
               [&] { return std::string(pass.prefix); });
  report.check(group, "enum option",
               [&](std::string &) { return pass.mode == Mode::Rename; });
  report.check(group, "list option", [&](std::string &) {
    return ArrayRef<int64_t>(pass.sizes) ==
           ArrayRef<int64_t>{1, 2, 30000000000};
  });
  report.check(group, "options are printed", [&](std::string &detail) {
    llvm::raw_string_ostream stream(detail);
    pass.printAsTextualPipeline(stream);
    return StringRef(detail).contains("1,2,30000000000");
  });
  report.check(group, "options are copied with the pass", [&](std::string &) {
    ProbePass copy;
    copy.copyOptionValuesFrom(&pass);
    return copy.number == -8 && copy.sizes.size() == 3;
  });
  report.check(group, "an unknown option is refused and named",
               [&](std::string &) {
                 return failed(parse(pass, "nonsense=1")) &&
                        StringRef(error).contains("nonsense");
               });
});

static Part manager(Phase::Run, [](Report &report) {
  const char *group = "passes";
  Context context(loadCore);
  auto module = parseSourceString<ModuleOp>(
      "func.func private @f()\nfunc.func private @g()", &context);
  PassManager pm(&context);
  auto add = [&](Mode mode) {
    auto pass = std::make_unique<ProbePass>();
    pass->mode = mode;
    ProbePass *raw = pass.get();
    pm.addPass(std::move(pass));
    return raw;
  };
  ProbePass *first = add(Mode::Count), *second = add(Mode::Rename),
            *third = add(Mode::Count);
  OpCount::computed = 0;
  report.check(group, "a pipeline of three runs",
               [&](std::string &) { return succeeded(pm.run(*module)); });
  report.equal(group, "the statistic counted", 3, [&] {
    return third->getStatistics().size() == 1
               ? int(third->getStatistics()[0]->getValue())
               : -1;
  });
  report.check(group, "analyses are cached within a pass", [&](std::string &) {
    return first->hadCached && second->hadCached && third->hadCached;
  });
  report.equal(group, "a preserved analysis is kept, another dropped", 2,
               [&] { return OpCount::computed; });
  report.check(group, "the pass did what its option said", [&](std::string &) {
    return module->lookupSymbol("p_f") && module->lookupSymbol("p_g") &&
           !module->lookupSymbol("f");
  });

  report.check(group, "a failing pass fails the run and says where",
               [&](std::string &detail) {
                 ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
                   detail += d.str();
                   return success();
                 });
                 PassManager failing(&context);
                 auto pass = std::make_unique<ProbePass>();
                 pass->mode = Mode::Fail;
                 failing.addPass(std::move(pass));
                 return failed(failing.run(*module)) &&
                        detail == "'builtin.module' op was asked to fail";
               });
  report.equal(group, "a registered pass is built from text", std::string("ok"),
               [&]() -> std::string {
                 PassRegistration<ProbePass>();
                 PassManager parsed(&context);
                 std::string error;
                 llvm::raw_string_ostream stream(error);
                 if (failed(parsePassPipeline(
                         "triton-ext-selftest-probe{mode=count number=5}",
                         parsed, stream)))
                   return error;
                 return succeeded(parsed.run(*module)) ? "ok" : "run failed";
               });
});
