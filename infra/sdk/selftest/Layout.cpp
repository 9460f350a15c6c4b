// SPDX-License-Identifier: Apache-2.0
//
// Classes that live in an extension's memory and are constructed by libtriton:
// each is built with guard bytes behind it, which must survive. A class that is
// larger in libtriton than in the headers (Statistic, when one side is compiled
// with NDEBUG and the other without) would corrupt the heap later, far away.

#include "Dialects.h"
#include "Report.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace triton_ext::selftest;

namespace {
struct BarePass : PassWrapper<BarePass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BarePass)
  void runOnOperation() override {}
};
} // namespace

template <typename T, typename... Args>
static void guarded(Report &report, const char *name, Args &&...args) {
  report.check("layout", name, [&](std::string &detail) {
    constexpr size_t guard = 256;
    auto *memory = static_cast<unsigned char *>(malloc(sizeof(T) + guard));
    std::fill_n(memory, sizeof(T) + guard, 0xa5);
    T *object = new (memory) T(std::forward<Args>(args)...);
    ArrayRef<unsigned char> tail(memory + sizeof(T), guard);
    size_t written = guard;
    while (written && tail[written - 1] == 0xa5)
      --written;
    if (written) {
      // Neither destroyed nor freed, because its layout is unknown.
      detail = "libtriton writes " + std::to_string(written) +
               " bytes past its " + std::to_string(sizeof(T));
      return false;
    }
    object->~T();
    free(memory);
    return true;
  });
}

static Part layout(Phase::Look, [](Report &report) {
  Context context([](MLIRContext &) {});
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(UnknownLoc::get(&context), "m");
  Location loc = module->getLoc();

  guarded<MLIRContext>(report, "MLIRContext", MLIRContext::Threading::DISABLED);
  guarded<DialectRegistry>(report, "DialectRegistry");
  guarded<ParserConfig>(report, "ParserConfig", &context);
  guarded<OperationState>(report, "OperationState", loc, "builtin.module");
  guarded<Diagnostic>(report, "Diagnostic", loc, DiagnosticSeverity::Note);
  guarded<SymbolTable>(report, "SymbolTable", *module);
  guarded<SymbolTableCollection>(report, "SymbolTableCollection");
  guarded<DominanceInfo>(report, "DominanceInfo", *module);
  guarded<OpPrintingFlags>(report, "OpPrintingFlags");
  guarded<AsmState>(report, "AsmState", *module);
  guarded<PassManager>(report, "PassManager", &context);
  guarded<ModuleAnalysisManager>(report, "ModuleAnalysisManager", *module,
                                 nullptr);
  guarded<FrozenRewritePatternSet>(report, "FrozenRewritePatternSet",
                                   RewritePatternSet(&context));
  guarded<TypeConverter>(report, "TypeConverter");
  guarded<ConversionTarget>(report, "ConversionTarget", context);
  // The pass keeps pointers to them, so it must not outlive this function.
  BarePass pass;
  guarded<Pass::Statistic>(report, "Pass::Statistic", &pass, "n", "any");
});
