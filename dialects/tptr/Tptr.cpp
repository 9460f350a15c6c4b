// SPDX-License-Identifier: Apache-2.0
//
// Syntax, verifiers, folders and canonicalisation of the dialect `tptr`.

#include "Tptr.h"

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

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

#include "Tptr.cpp.inc"

using namespace mlir::triton_ext::tptr;
namespace ours = mlir::triton_ext::ptr;

/// The bits of an address.
static constexpr unsigned kBits = 64;

Operation *TptrDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===----------------------------------------------------------------------===//
// Sizes of types
//===----------------------------------------------------------------------===//

std::optional<int64_t> TypeOffsetOp::bytesOf(Type type) {
  if (isa<ours::PtrType, triton::PointerType, LLVM::LLVMPointerType, IndexType>(
          type))
    return kBits / 8;
  if (type.isIntOrFloat())
    return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  return std::nullopt;
}

LogicalResult TypeOffsetOp::verify() {
  if (bytesOf(getBaseType()))
    return success();
  return emitOpError() << "expected the type of a number or of a pointer, got "
                       << getBaseType();
}

OpFoldResult TypeOffsetOp::fold(FoldAdaptor) {
  return IntegerAttr::get(getType(), *bytesOf(getBaseType()));
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

static unsigned bitsOf(Type type) {
  return type.isIndex() ? kBits : type.getIntOrFloatBitWidth();
}

/// The number may be shorter than an address, but must not have been cut.
OpFoldResult IntToPtrOp::fold(FoldAdaptor) {
  auto from = getArg().getDefiningOp<PtrToIntOp>();
  if (from && bitsOf(getArg().getType()) >= kBits &&
      from.getArg().getType() == getType())
    return from.getArg();
  return {};
}

OpFoldResult PtrToIntOp::fold(FoldAdaptor) {
  auto from = getArg().getDefiningOp<IntToPtrOp>();
  if (from && from.getArg().getType() == getType() &&
      bitsOf(getType()) <= kBits)
    return from.getArg();
  return {};
}

OpFoldResult PtrAddOp::fold(FoldAdaptor adaptor) {
  if (matchPattern(adaptor.getOffset(), m_Zero()))
    return getBase();
  return {};
}

/// Adds two constant offsets in 64 bits, because their sum may not fit the type
/// of either: 2^30 + 2^30 is negative as an i32.
LogicalResult PtrAddOp::canonicalize(PtrAddOp op, PatternRewriter &rewriter) {
  auto inner = op.getBase().getDefiningOp<PtrAddOp>();
  APInt first, second;
  if (!inner || !matchPattern(inner.getOffset(), m_ConstantInt(&first)) ||
      !matchPattern(op.getOffset(), m_ConstantInt(&second)))
    return failure();
  APInt sum = first.sextOrTrunc(kBits) + second.sextOrTrunc(kBits);
  Value offset = arith::ConstantOp::create(
      rewriter, op.getLoc(), rewriter.getI64IntegerAttr(sum.getSExtValue()));
  rewriter.replaceOpWithNewOp<PtrAddOp>(op, op.getType(), inner.getBase(),
                                        offset);
  return success();
}

//===----------------------------------------------------------------------===//
// Memrefs
//===----------------------------------------------------------------------===//

/// Returns whether the first element of such a memref is where it begins.
static bool hasNoOffset(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  SmallVector<int64_t> strides;
  int64_t offset;
  return memref && succeeded(memref.getStridesAndOffset(strides, offset)) &&
         offset == 0;
}

OpFoldResult FromMemrefOp::fold(FoldAdaptor) {
  auto from = getInput().getDefiningOp<ToMemrefOp>();
  if (from && from.getArg().getType() == getType() &&
      hasNoOffset(getInput().getType()))
    return from.getArg();
  return {};
}

OpFoldResult ToMemrefOp::fold(FoldAdaptor) {
  auto from = getArg().getDefiningOp<FromMemrefOp>();
  if (from && from.getInput().getType() == getType() && hasNoOffset(getType()))
    return from.getInput();
  return {};
}

LogicalResult ToMemrefOp::verify() {
  auto type = cast<MemRefType>(getRes().getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  // The mark of an offset that is not known is negative.
  if (failed(type.getStridesAndOffset(strides, offset)) || offset < 0 ||
      ShapedType::isDynamicShape(strides))
    return emitOpError() << "expected a memref of known strides and a known "
                            "offset of 0 or more, got "
                         << type;
  return success();
}

static LogicalResult verifyAccess(Operation *op, Type type) {
  if (TypeOffsetOp::bytesOf(type))
    return success();
  return op->emitOpError()
         << "expected a value that is a number or a pointer, got " << type;
}

LogicalResult LoadOp::verify() { return verifyAccess(*this, getType()); }

LogicalResult StoreOp::verify() {
  return verifyAccess(*this, getValue().getType());
}
