// SPDX-License-Identifier: Apache-2.0
//
// Verifiers and folders of the dialect `ptr`, except those of accesses.

#include "Ptr.h"

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

#include "llvm/ADT/TypeSwitch.h"

#include "Ptr.cpp.inc"

using namespace mlir;
using namespace mlir::triton_ext::ptr;

Operation *PtrDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                           Type type, Location loc) {
  auto typed = dyn_cast<TypedAttr>(value);
  if (typed && isa<PtrType>(type) && typed.getType() == type)
    return ConstantOp::create(builder, loc, type, typed);
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

FailureOr<PtrLikeTypeInterface>
PtrType::clonePtrWith(Attribute space, std::optional<Type> element) const {
  if (element || !space)
    return failure();
  return cast<PtrLikeTypeInterface>(get(getContext(), space));
}

LogicalResult
PtrMetadataType::verify(function_ref<InFlightDiagnostic()> emitError,
                        PtrLikeTypeInterface type) {
  if (type.hasPtrMetadata())
    return success();
  return emitError() << "expected a type that has more than a pointer, got "
                     << type;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

/// Returns the address that a folded value stands for, if any.
static std::optional<APInt> addressOf(Attribute value) {
  if (isa_and_nonnull<NullAttr>(value))
    return APInt::getZero(kBits);
  if (auto address = dyn_cast_or_null<AddressAttr>(value))
    return address.getValue().sextOrTrunc(kBits);
  return std::nullopt;
}

std::optional<int64_t> TypeOffsetOp::bytesOf(Type type) {
  if (isa<PtrType, triton::PointerType, LLVM::LLVMPointerType, IndexType>(type))
    return kBits / 8;
  if (type.isIntOrFloat())
    return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  return std::nullopt;
}

LogicalResult TypeOffsetOp::verify() {
  if (bytesOf(getElementType()))
    return success();
  return emitOpError() << "expected the type of a number or of a pointer, got "
                       << getElementType();
}

OpFoldResult TypeOffsetOp::fold(FoldAdaptor) {
  return IntegerAttr::get(getType(), *bytesOf(getElementType()));
}

//===----------------------------------------------------------------------===//
// Sums and differences
//===----------------------------------------------------------------------===//

/// One value plus many gives many.
LogicalResult PtrAddOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  Type base = adaptor.getBase().getType();
  Type offset = adaptor.getOffset().getType();
  auto many = dyn_cast<ShapedType>(base), more = dyn_cast<ShapedType>(offset);
  if (!more) {
    results.push_back(base);
    return success();
  }
  Type sum = more.clone(getElementTypeOrSelf(base));
  results.push_back(sum);
  // Tensors and vectors differ in their class, and tensors in their encoding.
  if (many && many != sum)
    return emitOptionalError(loc, "expected operands of one shape, got ", base,
                             " and ", offset);
  return success();
}

OpFoldResult PtrAddOp::fold(FoldAdaptor) {
  bool isZero = matchPattern(getOffset(), m_Zero());
  return isZero && getBase().getType() == getType() ? getBase() : Value();
}

/// Replaces a known pointer plus a constant by a known pointer. This is no
/// folder, because a conversion to which ptr.constant is not known, such as
/// Triton's of tensor descriptors, ends the process if a folder makes one.
static LogicalResult addToConstant(PtrAddOp op, PatternRewriter &rewriter) {
  auto type = dyn_cast<PtrType>(op.getType());
  Attribute known;
  APInt offset;
  if (!type || !matchPattern(op.getBase(), m_Constant(&known)) ||
      !matchPattern(op.getOffset(), m_ConstantInt(&offset)))
    return failure();
  std::optional<APInt> base = addressOf(known);
  if (!base)
    return failure();
  rewriter.replaceOpWithNewOp<ConstantOp>(
      op, AddressAttr::get(op.getContext(), type,
                           *base + offset.sextOrTrunc(kBits)));
  return success();
}

/// Adds two constant offsets in 64 bits, because their sum may not fit the type
/// of either: 2^30 + 2^30 is negative as an i32.
LogicalResult PtrAddOp::canonicalize(PtrAddOp op, PatternRewriter &rewriter) {
  if (succeeded(addToConstant(op, rewriter)))
    return success();
  auto inner = op.getBase().getDefiningOp<PtrAddOp>();
  APInt first, second;
  if (!inner || !isa<PtrType>(op.getType()) ||
      !matchPattern(inner.getOffset(), m_ConstantInt(&first)) ||
      !matchPattern(op.getOffset(), m_ConstantInt(&second)))
    return failure();
  APInt sum = first.sextOrTrunc(kBits) + second.sextOrTrunc(kBits);
  Value offset = arith::ConstantOp::create(
      rewriter, op.getLoc(), rewriter.getI64IntegerAttr(sum.getSExtValue()));
  // That both sums stay inside of an object says nothing about their sum in
  // one step.
  rewriter.replaceOpWithNewOp<PtrAddOp>(op, inner.getBase(), offset,
                                        PtrAddFlags::none);
  return success();
}

LogicalResult PtrDiffOp::verify() {
  Type from = getLhs().getType(), to = getResult().getType();
  if (isa<VectorType>(from) == isa<VectorType>(to))
    return success();
  return emitOpError() << "expected a result like the operands, got " << to
                       << " for " << from;
}

/// Follows constant offsets from both pointers back to where they start.
OpFoldResult PtrDiffOp::fold(FoldAdaptor adaptor) {
  auto start = [](Value pointer, APInt &offset) {
    APInt step;
    offset = APInt::getZero(kBits);
    auto add = pointer.getDefiningOp<PtrAddOp>();
    if (!add || !matchPattern(add.getOffset(), m_ConstantInt(&step)) ||
        add.getBase().getType() != pointer.getType())
      return pointer;
    offset = step.sextOrTrunc(kBits);
    return Value(add.getBase());
  };
  Type type = getResult().getType();
  if (isa<ShapedType>(type))
    return {};
  unsigned bits = type.isIndex() ? kBits : type.getIntOrFloatBitWidth();
  auto result = [&](const APInt &bytes) {
    return IntegerAttr::get(type, bytes.sextOrTrunc(bits));
  };
  std::optional<APInt> lhs = addressOf(adaptor.getLhs()),
                       rhs = addressOf(adaptor.getRhs());
  if (lhs && rhs)
    return result(*lhs - *rhs);
  APInt from, to;
  if (start(getLhs(), to) == start(getRhs(), from))
    return result(to - from);
  return {};
}

//===----------------------------------------------------------------------===//
// Memrefs
//===----------------------------------------------------------------------===//

static LogicalResult verifyCast(Operation *op, PtrLikeTypeInterface like,
                                PtrType pointer) {
  if (!isa<BaseMemRefType>(like))
    return op->emitOpError() << "expected a memref, got " << like;
  if (like.getMemorySpace() == pointer.getMemorySpace())
    return success();
  return op->emitOpError() << "expected one memory space, got " << like
                           << " and " << pointer;
}

LogicalResult ToPtrOp::verify() {
  return verifyCast(*this, cast<PtrLikeTypeInterface>(getPtr().getType()),
                    getType());
}

LogicalResult FromPtrOp::verify() {
  return verifyCast(*this, cast<PtrLikeTypeInterface>(getResult().getType()),
                    getPtr().getType());
}

OpFoldResult ToPtrOp::fold(FoldAdaptor) {
  auto from = getPtr().getDefiningOp<FromPtrOp>();
  return from ? OpFoldResult(from.getPtr()) : OpFoldResult();
}

bool FromPtrOp::isRestored(Value pointer, Value metadata, Type type) {
  auto from = pointer.getDefiningOp<ToPtrOp>();
  if (!from || from.getPtr().getType() != type)
    return false;
  if (metadata) {
    auto read = metadata.getDefiningOp<GetMetadataOp>();
    return read && read.getPtr() == from.getPtr();
  }
  auto memref = dyn_cast<MemRefType>(type);
  SmallVector<int64_t> strides;
  int64_t offset;
  return memref && memref.hasStaticShape() &&
         succeeded(memref.getStridesAndOffset(strides, offset)) &&
         ShapedType::isStatic(offset) && ShapedType::isStaticShape(strides);
}

OpFoldResult FromPtrOp::fold(FoldAdaptor) {
  if (isRestored(getPtr(), getMetadata(), getResult().getType()))
    return getPtr().getDefiningOp<ToPtrOp>().getPtr();
  return {};
}
