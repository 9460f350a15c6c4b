// SPDX-License-Identifier: Apache-2.0
//
// Lowers printing to calls of printf.

#include "Lowering.h"

#include "Arrays.h"
#include "aux/Aux.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::lower_linalg_ext;

/// Returns a pointer to a global of the module with this text, which ends in a
/// null character.
static Value textOf(OpBuilder &builder, Location loc, ModuleOp module,
                    StringRef text) {
  std::string terminated(text);
  terminated.push_back('\0');
  StringAttr value = builder.getStringAttr(terminated);
  LLVM::GlobalOp global;
  unsigned count = 0;
  for (auto present : module.getOps<LLVM::GlobalOp>()) {
    if (!present.getName().starts_with("triton_ext_text_"))
      continue;
    ++count;
    if (present.getValueAttr() == value)
      global = present;
  }
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    auto type =
        LLVM::LLVMArrayType::get(builder.getI8Type(), terminated.size());
    global = LLVM::GlobalOp::create(
        builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
        ("triton_ext_text_" + Twine(count)).str(), value);
  }
  return LLVM::AddressOfOp::create(builder, loc, global);
}

static LLVM::LLVMFuncOp declarePrintf(OpBuilder &builder, ModuleOp module) {
  if (auto present = module.lookupSymbol<LLVM::LLVMFuncOp>("printf"))
    return present;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(
      builder.getI32Type(), LLVM::LLVMPointerType::get(builder.getContext()),
      /*isVarArg=*/true);
  return LLVM::LLVMFuncOp::create(builder, module.getLoc(), "printf", type);
}

/// Converts a value to what is passed to printf: an integer of 64 bits, a
/// double or a pointer.
static Value promote(OpBuilder &builder, Location loc, Value value,
                     bool isUnsigned) {
  Type type = value.getType(), i64 = builder.getI64Type();
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, i64, value);
  if (auto number = dyn_cast<FloatType>(type)) {
    if (number.getWidth() < 64)
      return arith::ExtFOp::create(builder, loc, builder.getF64Type(), value);
    return value;
  }
  if (!type.isInteger() || type.getIntOrFloatBitWidth() >= 64)
    return value;
  // An i1 is printed as 0 or 1, not as 0 or -1.
  if (isUnsigned || type.isInteger(1))
    return arith::ExtUIOp::create(builder, loc, i64, value);
  return arith::ExtSIOp::create(builder, loc, i64, value);
}

/// Returns the conversion by which printf prints a promoted value of this type.
static StringRef conversionOf(Operation *op, Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return "%p";
  if (op->hasAttr("hex"))
    return "0x%llx";
  if (isa<FloatType>(type))
    return "%f";
  return op->hasAttr("unsigned") ? "%llu" : "%lld";
}

/// Returns the text in front of a print that names its program, as Triton
/// writes it on a GPU: `pid (0, 0, 0) idx (10, 2)`, with an index as wide as
/// the largest one along its dimension.
static std::string programFormat(Operation *op, size_t numIndices) {
  std::string format = "pid (%d, %d, %d)";
  if (op->getNumOperands() == 0)
    return format;
  SmallVector<std::string> indices(numIndices, "%lld");
  if (auto print = dyn_cast<aux::PrintOp>(op))
    for (auto [index, size] : llvm::zip(indices, print.getWholeShape())) {
      int width = 0;
      for (int64_t limit = 1; limit < size; limit *= 10)
        ++width;
      if (width)
        index = "%" + std::to_string(width) + "lld";
    }
  return format + " idx (" + llvm::join(indices, ", ") + ")";
}

/// Returns printf's format for the operation's format, `text`. If that has a
/// conversion, only its length modifier changes. Otherwise the result is
/// `text`, conversions for the indices, and a conversion for the value. The
/// indices come first if the print names its program.
static std::string formatOf(Operation *op, StringRef text, Type type,
                            size_t numIndices) {
  std::string format(text);
  if (aux::hasConversion(text)) {
    // The length modifier must fit the promoted value, whatever the text says.
    aux::Conversion conversion = aux::getConversion(text);
    bool isLong = isa<IntegerType>(type) && conversion.letter != 'c';
    format.replace(conversion.length, conversion.end - conversion.length,
                   (isLong ? "ll" : "") + std::string(1, conversion.letter));
  } else {
    if (op->hasAttr("program")) {
      format = programFormat(op, numIndices) + format;
    } else if (numIndices) {
      SmallVector<StringRef> indices(numIndices, "%lld");
      format += "[" + llvm::join(indices, ", ") + "] ";
    } else if (!format.empty() && format.back() != ' ') {
      format += " ";
    }
    format += conversionOf(op, type);
  }
  return format + "\n";
}

static void callPrintf(OpBuilder &builder, Operation *op, StringRef text,
                       Value value, ValueRange indices) {
  Location loc = op->getLoc();
  auto module = op->getParentOfType<ModuleOp>();
  LLVM::LLVMFuncOp function = declarePrintf(builder, module);
  bool ownFormat = aux::hasConversion(text);
  Values arguments{Value()};
  bool namesProgram = op->hasAttr("program") && !ownFormat;
  if (namesProgram)
    for (auto dim : {triton::ProgramIDDim::X, triton::ProgramIDDim::Y,
                     triton::ProgramIDDim::Z})
      arguments.push_back(triton::GetProgramIdOp::create(builder, loc, dim));
  if (!ownFormat)
    for (Value index : indices)
      arguments.push_back(promote(builder, loc, index, false));
  std::string format = text.str() + "\n";
  if (namesProgram && !value)
    format = programFormat(op, 0) + format;
  if (value) {
    char letter = ownFormat ? aux::getConversion(text).letter : 0;
    bool isUnsigned = ownFormat ? StringRef("uoxX").contains(letter)
                                : op->hasAttr("unsigned") || op->hasAttr("hex");
    bool asBits =
        !ownFormat && op->hasAttr("hex") && isa<FloatType>(value.getType());
    if (asBits)
      value = arith::BitcastOp::create(
          builder, loc,
          builder.getIntegerType(value.getType().getIntOrFloatBitWidth()),
          value);
    arguments.push_back(promote(builder, loc, value, isUnsigned));
    // printf expects an int, of 32 bits, for %c.
    if (letter == 'c')
      arguments.back() = arith::TruncIOp::create(
          builder, loc, builder.getI32Type(), arguments.back());
    format = formatOf(op, text, arguments.back().getType(), indices.size());
  }
  arguments[0] = textOf(builder, loc, module, format);
  LLVM::CallOp::create(builder, loc, function, arguments);
}

namespace {

struct PrintPattern : OpRewritePattern<aux::PrintOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(aux::PrintOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    loopNest(rewriter, loc, sizesOf(rewriter, loc, op.getValue()), ValueRange(),
             [&](OpBuilder &builder, Location loc, ValueRange indices,
                 ValueRange) -> Values {
               Value element = loadFrom(builder, loc, op.getValue(), indices);
               Values places(indices);
               for (auto [place, offset] : llvm::zip(places, op.getOffsets()))
                 place = arith::AddIOp::create(builder, loc, place, offset);
               callPrintf(builder, op, op.getFormat().value_or(""), element,
                          places);
               return {};
             });
    rewriter.replaceOp(op, op.getResult() ? ValueRange(op.getValue())
                                          : ValueRange());
    return success();
  }
};

struct ScalarPrintPattern : OpRewritePattern<aux::ScalarPrintOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(aux::ScalarPrintOp op,
                                PatternRewriter &rewriter) const override {
    callPrintf(rewriter, op, op.getFormat().value_or(""), op.getValue(), {});
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::triton_ext::lower_linalg_ext::populatePrintPatterns(
    RewritePatternSet &patterns) {
  patterns.add<PrintPattern, ScalarPrintPattern>(patterns.getContext());
}
