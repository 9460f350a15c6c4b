// SPDX-License-Identifier: Apache-2.0
//
// Converts prints and assertions, and erases operations that have a meaning
// only on a GPU.

#include "Conversion.h"

#include "aux/Aux.h"
#include "linalg_ext/LinalgExt.h"
#include "mlir/Transforms/DialectConversion.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;
using Rewriter = ConversionPatternRewriter;

namespace {

struct PrintPattern : OpConversionPattern<tt::PrintOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::PrintOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Location loc = op.getLoc();
    // The prefix is text: a percent sign in it does not begin a conversion.
    StringAttr format = rewriter.getStringAttr(
        llvm::join(llvm::split(op.getPrefix(), '%'), "%%"));
    if (adaptor.getArgs().empty())
      aux::ScalarPrintOp::create(rewriter, loc, Value(), format)
          ->setAttr("program", rewriter.getUnitAttr());
    bool areSeveral = adaptor.getArgs().size() > 1;
    for (auto [number, value, isSigned] :
         llvm::enumerate(adaptor.getArgs(), op.getIsSigned())) {
      StringAttr text = format;
      if (areSeveral)
        text = rewriter.getStringAttr(format.strref() + "(operand " +
                                      Twine(number) + ") ");
      Operation *print;
      if (isa<RankedTensorType>(value.getType()))
        print = aux::PrintOp::create(rewriter, loc, Type(), value, text);
      else
        print = aux::ScalarPrintOp::create(rewriter, loc, value, text);
      print->setAttr("program", rewriter.getUnitAttr());
      if (op.getHex())
        print->setAttr("hex", rewriter.getUnitAttr());
      bool isInteger = isa<IntegerType>(getElementTypeOrSelf(value.getType()));
      if (isInteger && !isSigned)
        print->setAttr("unsigned", rewriter.getUnitAttr());
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct AssertPattern : OpConversionPattern<tt::AssertOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::AssertOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    if (isa<RankedTensorType>(adaptor.getCondition().getType()))
      linalg_ext::AssertOp::create(rewriter, op.getLoc(),
                                   adaptor.getCondition(), op.getMessage());
    else
      linalg_ext::ScalarAssertOp::create(
          rewriter, op.getLoc(), adaptor.getCondition(), op.getMessage());
    rewriter.eraseOp(op);
    return success();
  }
};

/// Erases an operation that controls how kernels overlap, because the target
/// decides this when it launches them.
template <typename OpTy> struct ErasePattern : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;

  LogicalResult matchAndRewrite(OpTy op, typename OpTy::Adaptor,
                                Rewriter &rewriter) const override {
    rewriter.eraseOp(op);
    return success();
  }
};

/// Erases a barrier of threads: a program is a single thread here, so it has no
/// other thread to wait for.
struct BarrierPattern : ConversionPattern {
  BarrierPattern(StringRef name, MLIRContext *context)
      : ConversionPattern(name, /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value>,
                                Rewriter &rewriter) const override {
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void mlir::triton_ext::convert_triton_to_linalg::populateDebugPatterns(
    const TypeConverter &converter, PatternSet &patterns) {
  patterns
      .add<AssertPattern, ErasePattern<tt::GridDependencyLaunchDependentsOp>,
           ErasePattern<tt::GridDependencyWaitOp>, PrintPattern>(converter);
  for (StringRef name : {"ttg.barrier", "gpu.barrier"})
    patterns.patterns.add<BarrierPattern>(name, patterns.patterns.getContext());
}
