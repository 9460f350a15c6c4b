// SPDX-License-Identifier: Apache-2.0
//
// What a pass does to IR: greedy rewriting with patterns and folds, dialect
// conversion with a type converter, and the pass manager with options,
// statistics, analyses and diagnostics. Classes derived here are called back by
// libtriton, so the layout of each base class is at stake.

#include "Dialects.h"
#include "Report.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace triton_ext::selftest;

/// How many ops of type `OpT` are below `root`.
template <typename OpT> static int count(Operation *root) {
  int n = 0;
  root->walk([&](OpT) { ++n; });
  return n;
}

static constexpr const char *input = R"(
func.func @f(%a: i32, %b: i32) -> i32 {
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %k = arith.addi %c2, %c3 : i32
  %p = arith.muli %a, %c2 : i32
  %s = arith.addi %p, %k : i32
  %d = arith.subi %s, %b : i32
  return %d : i32
})";

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {
/// x * 2 -> x + x
struct DoubleIsSum : OpRewritePattern<arith::MulIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::MulIOp op,
                                PatternRewriter &rewriter) const override {
    APInt factor;
    if (!matchPattern(op.getRhs(), m_ConstantInt(&factor)) || factor != 2)
      return rewriter.notifyMatchFailure(op, "not a doubling");
    rewriter.replaceOpWithNewOp<arith::AddIOp>(op, op.getLhs(), op.getLhs());
    return success();
  }
};

/// Sees every change that a rewriter makes.
struct Counter : RewriterBase::Listener {
  void notifyOperationInserted(Operation *, OpBuilder::InsertPoint) override {
    ++inserted;
  }
  void notifyOperationErased(Operation *) override { ++erased; }
  int inserted = 0, erased = 0;
};
} // namespace

static Part rewriting(Phase::Run, [](Report &report) {
  Context context(loadCore);
  auto module = parseSourceString<ModuleOp>(input, &context);
  const char *group = "rewriting";
  Counter counter;
  report.check(group, "the greedy driver converges", [&](std::string &) {
    RewritePatternSet patterns(&context);
    patterns.add<DoubleIsSum>(&context);
    bool changed = false;
    return succeeded(applyPatternsGreedily(
               module->getOperation(), std::move(patterns),
               GreedyRewriteConfig().setListener(&counter), &changed)) &&
           changed;
  });
  report.equal(group, "the pattern replaced arith.muli", 0,
               [&] { return count<arith::MulIOp>(*module); });
  report.equal(group, "the fold of 2 + 3 was materialised", 2,
               [&] { return count<arith::AddIOp>(*module); });
  report.check(group, "a listener saw insertions and erasures",
               [&](std::string &) {
                 return counter.inserted >= 2 && counter.erased >= 3;
               });
  report.check(group, "the result verifies",
               [&](std::string &) { return succeeded(verify(*module)); });
  report.equal(group, "IRRewriter replaces and erases", 0, [&] {
    IRRewriter rewriter(&context);
    module->walk([&](arith::SubIOp op) {
      rewriter.setInsertionPoint(op);
      auto sum = arith::AddIOp::create(rewriter, op.getLoc(), op.getLhs(),
                                       op.getRhs());
      rewriter.replaceOp(op, sum);
    });
    return count<arith::SubIOp>(*module);
  });
});

//===----------------------------------------------------------------------===//
// Dialect conversion
//===----------------------------------------------------------------------===//

namespace {
/// i32 arithmetic becomes i64 arithmetic.
template <typename OpT> struct Widen : OpConversionPattern<OpT> {
  using OpConversionPattern<OpT>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = this->getTypeConverter()->convertType(op.getType());
    rewriter.replaceOpWithNewOp<OpT>(op, type, adaptor.getOperands(),
                                     op->getAttrs());
    return success();
  }
};
} // namespace

static Part conversion(Phase::Run, [](Report &report) {
  Context context(loadCore);
  auto module = parseSourceString<ModuleOp>(input, &context);
  const char *group = "conversion";
  int materialisations = 0;
  TypeConverter converter;
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](IntegerType type) -> std::optional<Type> {
    if (type.getWidth() != 32)
      return std::nullopt;
    return IntegerType::get(type.getContext(), 64);
  });
  auto cast = [&](OpBuilder &builder, Type type, ValueRange inputs,
                  Location loc) -> Value {
    ++materialisations;
    return UnrealizedConversionCastOp::create(builder, loc, type, inputs)
        .getResult(0);
  };
  converter.addSourceMaterialization(cast);
  converter.addTargetMaterialization(cast);

  auto i32 = IntegerType::get(&context, 32);
  report.check(group, "convertType", [&](std::string &) {
    return converter.convertType(i32).isInteger(64) &&
           converter.isLegal(IndexType::get(&context));
  });
  report.check(group, "convertTypes keeps the order", [&](std::string &) {
    SmallVector<Type> types;
    return succeeded(converter.convertTypes({i32, Float32Type::get(&context)},
                                            types)) &&
           types.size() == 2 && types[0].isInteger(64) && types[1].isF32();
  });
  report.check(group, "applyPartialConversion", [&](std::string &) {
    ConversionTarget target(context);
    target.addLegalOp<UnrealizedConversionCastOp, arith::ConstantOp>();
    target.addDynamicallyLegalOp<arith::AddIOp, arith::SubIOp, arith::MulIOp>(
        [&](Operation *op) { return converter.isLegal(op); });
    RewritePatternSet patterns(&context);
    patterns
        .add<Widen<arith::AddIOp>, Widen<arith::SubIOp>, Widen<arith::MulIOp>>(
            converter, &context);
    return succeeded(applyPartialConversion(module->getOperation(), target,
                                            std::move(patterns)));
  });
  report.check(group, "every op was widened", [&](std::string &) {
    bool wide = true;
    module->walk([&](Operation *op) {
      if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
        wide &= op->getResult(0).getType().isInteger(64);
    });
    return wide && count<arith::MulIOp>(*module) == 1;
  });
  report.check(group, "materialisations were called back",
               [&](std::string &) { return materialisations >= 3; });
  report.check(group, "the result verifies",
               [&](std::string &) { return succeeded(verify(*module)); });
  report.check(group, "an op without pattern is refused and named",
               [&](std::string &detail) {
                 ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
                   detail += d.str();
                   return success();
                 });
                 ConversionTarget target(context);
                 target.addIllegalOp<arith::SubIOp>();
                 bool refused = failed(
                     applyPartialConversion(module->getOperation(), target,
                                            FrozenRewritePatternSet()));
                 return refused && StringRef(detail).contains("arith.subi");
               });
});
