// SPDX-License-Identifier: Apache-2.0
//
// Syntax, verifiers, folders and canonicalisation of the dialect `tptr`.

#include "Tptr.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace ours = mlir::triton_ext::ptr;

/// Parses and prints a type behind a colon, or nothing for `index`.
static ParseResult parseTypeOrIndex(OpAsmParser &parser, Type &type) {
  if (succeeded(parser.parseOptionalColon()))
    return parser.parseType(type);
  type = parser.getBuilder().getIndexType();
  return success();
}

static void printTypeOrIndex(OpAsmPrinter &printer, Operation *, Type type) {
  if (!type.isIndex())
    printer << ": " << type;
}

/// Parses the type of pointers, of which older versions of triton-shared print
/// only what is in angle brackets.
static ParseResult parsePointers(OpAsmParser &parser, Type &type) {
  OptionalParseResult whole = parser.parseOptionalType(type);
  if (whole.has_value())
    return *whole;
  ours::PtrType pointer;
  if (parser.parseCustomTypeWithFallback(pointer))
    return failure();
  type = pointer;
  return success();
}

static void printPointers(OpAsmPrinter &printer, Operation *, Type type) {
  printer << type;
}

#include "Tptr.cpp.inc"

using namespace mlir::triton_ext::tptr;

static unsigned bitsOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIndex() ? ours::kBits : element.getIntOrFloatBitWidth();
}

/// The trait compares shapes only.
static LogicalResult verifyContainers(Operation *op) {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  if (isa<VectorType>(from) == isa<VectorType>(to))
    return success();
  return op->emitOpError() << "expected a result like the operand, got " << to
                           << " for " << from;
}

LogicalResult IntToPtrOp::verify() { return verifyContainers(*this); }
LogicalResult PtrToIntOp::verify() { return verifyContainers(*this); }

/// The number may be shorter than an address, but must not have been cut.
OpFoldResult IntToPtrOp::fold(FoldAdaptor) {
  auto from = getArg().getDefiningOp<PtrToIntOp>();
  if (from && bitsOf(getArg().getType()) >= ours::kBits &&
      from.getArg().getType() == getRes().getType())
    return from.getArg();
  return {};
}

OpFoldResult PtrToIntOp::fold(FoldAdaptor) {
  auto from = getArg().getDefiningOp<IntToPtrOp>();
  Type type = getRes().getType();
  if (from && from.getArg().getType() == type && bitsOf(type) <= ours::kBits)
    return from.getArg();
  return {};
}

OpFoldResult FromPtrOp::fold(FoldAdaptor) {
  if (ours::FromPtrOp::isRestored(getPtr(), getMetadata(),
                                  getResult().getType()))
    return getPtr().getDefiningOp<ours::ToPtrOp>().getPtr();
  return {};
}

LogicalResult FromPtrOp::verify() {
  auto like = cast<PtrLikeTypeInterface>(getResult().getType());
  if (!isa<BaseMemRefType>(like))
    return emitOpError() << "expected a memref, got " << like;
  if (like.getMemorySpace() == getPtr().getType().getMemorySpace())
    return success();
  return emitOpError() << "expected one memory space, got " << like << " and "
                       << getPtr().getType();
}

namespace {
/// What `ptr.to_ptr` folds to if `ptr.from_ptr` has made its memref.
struct ToPtrPattern : OpRewritePattern<ours::ToPtrOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ours::ToPtrOp op,
                                PatternRewriter &rewriter) const override {
    auto from = op.getPtr().getDefiningOp<FromPtrOp>();
    if (!from)
      return failure();
    rewriter.replaceOp(op, from.getPtr());
    return success();
  }
};
} // namespace

void TptrDialect::getCanonicalizationPatterns(
    RewritePatternSet &results) const {
  results.add<ToPtrPattern>(getContext());
}
