// SPDX-License-Identifier: Apache-2.0
//
// Implements Triton's interfaces for a dialect whose layouts are all given by
// linear layouts: the methods of the attribute, and the answers that Triton
// expects from the dialect of a layout. The answers are those for #ttg.linear
// and #ttg.shared_linear with the same linear layout, from the dialect `ttg`.

#ifndef TRITON_EXT_LINEARLAYOUTDIALECT_H
#define TRITON_EXT_LINEARLAYOUTDIALECT_H

#include "mlir/IR/OpImplementation.h"
#include "triton/Dialect/TritonGPU/IR/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::triton_ext {
// The interfaces of Triton name these without their namespace.
using triton::LinearLayout;
using triton::gpu::CGAEncodingAttr;
using triton::gpu::DistributedEncodingTrait;
using triton::gpu::LayoutEncodingTrait;
using triton::gpu::SharedEncodingTrait;

/// Returns the dimensions in the order in which the registers go through them.
inline SmallVector<unsigned> getRegisterOrder(MLIRContext *context,
                                              const LinearLayout &layout) {
  SmallVector<unsigned> order(layout.getNumOutDims());
  std::iota(order.rbegin(), order.rend(), 0);
  return triton::gpu::LinearEncodingTrait::orderPerDim(
      layout, StringAttr::get(context, "register"), order);
}

/// Returns the equal layout of `ttg` for tensors or buffers of this shape if
/// `layout` belongs to the dialect `D`, else `layout` itself.
template <typename D>
Attribute asLinear(Attribute layout, ArrayRef<int64_t> shape) {
  if (!layout || !isa<D>(layout.getDialect()))
    return layout;
  if (auto shared = dyn_cast<SharedEncodingTrait>(layout))
    return triton::gpu::SharedLinearEncodingAttr::get(
        layout.getContext(), shared.toLinearLayout(shape),
        shared.getAlignment());
  if (auto distributed = dyn_cast<DistributedEncodingTrait>(layout))
    return triton::gpu::toLinearEncoding(distributed, shape);
  return layout;
}

/// Returns the interface `I` of the dialect `ttg`.
template <typename I> const I &getOfTritonGPU(MLIRContext *context) {
  return *context->getLoadedDialect<triton::gpu::TritonGPUDialect>()
              ->getRegisteredInterface<I>();
}

/// Infers the layout of an operation's result. The dialect `D` must add this
/// interface and the following ones.
template <typename D>
struct InferLinearLayout : triton::DialectInferLayoutInterface {
  using DialectInferLayoutInterface::DialectInferLayoutInterface;
  using MaybeLocation = std::optional<Location>;

  const triton::DialectInferLayoutInterface &ttg() const {
    return getOfTritonGPU<triton::DialectInferLayoutInterface>(
        this->getContext());
  }

  LogicalResult inferTransOpEncoding(Attribute operand, ArrayRef<int64_t> shape,
                                     ArrayRef<int32_t> order, Attribute &result,
                                     MaybeLocation loc) const final {
    return ttg().inferTransOpEncoding(asLinear<D>(operand, shape), shape, order,
                                      result, loc);
  }

  LogicalResult inferReduceOpEncoding(Attribute operand, unsigned axis,
                                      Attribute &result,
                                      MaybeLocation loc) const final {
    return ttg().inferReduceOpEncoding(operand, axis, result, loc);
  }

  LogicalResult inferExpandDimsOpEncoding(Attribute operand, unsigned axis,
                                          Attribute &result,
                                          MaybeLocation loc) const final {
    return ttg().inferExpandDimsOpEncoding(operand, axis, result, loc);
  }

  LogicalResult verifyBroadcastOpEncoding(RankedTensorType source,
                                          RankedTensorType result) const final {
    return ttg().verifyBroadcastOpEncoding(source, result);
  }

  LogicalResult inferDotOpEncoding(Attribute operand, unsigned index,
                                   Attribute result,
                                   MaybeLocation loc) const final {
    return ttg().inferDotOpEncoding(operand, index, result, loc);
  }

  LogicalResult inferReshapeOpEncoding(ArrayRef<int64_t> from,
                                       Attribute operand, ArrayRef<int64_t> to,
                                       Attribute &result, bool allowReorder,
                                       MaybeLocation loc) const final {
    return ttg().inferReshapeOpEncoding(from, asLinear<D>(operand, from), to,
                                        result, allowReorder, loc);
  }

  LogicalResult verifyLayoutsAreEqual(ArrayRef<int64_t> shape,
                                      Attribute expected, Attribute got,
                                      MaybeLocation loc,
                                      bool ignoreRegBroadcast) const final {
    return ttg().verifyLayoutsAreEqual(shape, asLinear<D>(expected, shape),
                                       asLinear<D>(got, shape), loc,
                                       ignoreRegBroadcast);
  }

  LogicalResult inferDefaultJoinOpEncoding(Attribute operand, Attribute &result,
                                           ArrayRef<int64_t> shape,
                                           MaybeLocation loc) const final {
    return ttg().inferDefaultJoinOpEncoding(asLinear<D>(operand, shape), result,
                                            shape, loc);
  }

  LogicalResult inferSplitOpEncoding(Attribute operand, Attribute &result,
                                     ArrayRef<int64_t> shape,
                                     MaybeLocation loc) const final {
    return ttg().inferSplitOpEncoding(asLinear<D>(operand, shape), result,
                                      shape, loc);
  }

  LogicalResult verifyDotOpEncodingCompatibility(Operation *op, Attribute a,
                                                 Attribute b) const final {
    return ttg().verifyDotOpEncodingCompatibility(op, a, b);
  }

  LogicalResult
  verifyDotScaledOpEncodingCompatibility(Operation *op, Attribute a,
                                         Attribute b, Attribute scaleA,
                                         Attribute scaleB) const final {
    return ttg().verifyDotScaledOpEncodingCompatibility(op, a, b, scaleA,
                                                        scaleB);
  }

  LogicalResult verifyCatOpEncodingCompatibility(Operation *op) const final {
    return ttg().verifyCatOpEncodingCompatibility(op);
  }

  LogicalResult inferFp4ToFpOpEncoding(ArrayRef<int64_t> shape, int axis,
                                       Attribute operand, Attribute &result,
                                       bool fwdInference,
                                       MaybeLocation loc) const final {
    return ttg().inferFp4ToFpOpEncoding(
        shape, axis, asLinear<D>(operand, shape), result, fwdInference, loc);
  }
};

/// Verifies types with a layout of the dialect.
template <typename D>
struct VerifyLinearLayout : triton::DialectVerifyTensorLayoutInterface {
  using DialectVerifyTensorLayoutInterface::DialectVerifyTensorLayoutInterface;
  using ErrorEmitter = function_ref<InFlightDiagnostic()>;

  const triton::DialectVerifyTensorLayoutInterface &ttg() const {
    return getOfTritonGPU<triton::DialectVerifyTensorLayoutInterface>(
        this->getContext());
  }

  LogicalResult verifyTensorLayout(Attribute layout, RankedTensorType type,
                                   Operation *op,
                                   ErrorEmitter emitError) const final {
    if (!isa<DistributedEncodingTrait>(layout))
      return emitError() << "expected a layout of a tensor, got " << layout;
    unsigned rank = cast<LayoutEncodingTrait>(layout).getRank();
    if (rank != type.getRank())
      return emitError() << "expected a tensor of rank " << rank << " for "
                         << layout << ", got " << type;
    return ttg().verifyTensorLayout(asLinear<D>(layout, type.getShape()), type,
                                    op, emitError);
  }

  LogicalResult verifyMemDescLayout(Attribute layout, Type type, Operation *op,
                                    ErrorEmitter emitError) const final {
    auto shared = dyn_cast<SharedEncodingTrait>(layout);
    if (!shared)
      return emitError() << "expected a layout of shared memory, got "
                         << layout;
    auto buffer = cast<triton::gpu::MemDescType>(type);
    // The verifier of the type has compared the ranks.
    unsigned rank = cast<LayoutEncodingTrait>(layout).getRank();
    return ttg().verifyMemDescLayout(
        asLinear<D>(layout, buffer.getAllocShape().take_back(rank)), type, op,
        emitError);
  }
};

/// Gives attributes of the classes `Attrs` names at the top of the module, as
/// Triton does for its own layouts.
template <typename... Attrs> struct LayoutAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const final {
    StringRef name = TypeSwitch<Attribute, StringRef>(attr)
                         .template Case<Attrs...>(
                             [](auto layout) { return layout.getMnemonic(); })
                         .Default(StringRef());
    os << name;
    return name.empty() ? AliasResult::NoAlias : AliasResult::FinalAlias;
  }
};

} // namespace mlir::triton_ext

/// Defines the methods that LayoutEncodingTrait and DistributedEncodingTrait
/// declare in the class `Attr`, by its method `getLinearLayout()`. A tensor of
/// another shape repeats the linear layout or gets a part of it.
#define TRITON_EXT_DISTRIBUTED_LAYOUT_METHODS(Attr)                            \
  ::mlir::triton::gpu::CGAEncodingAttr Attr::getCGALayout() const {            \
    return ::mlir::triton::gpu::LinearEncodingTrait::getCGALayout(             \
        getLinearLayout());                                                    \
  }                                                                            \
  unsigned Attr::getRank() const { return getLinearLayout().getNumOutDims(); } \
  ::llvm::SmallVector<unsigned> Attr::getRepOrder() const {                    \
    return ::mlir::triton_ext::getRegisterOrder(getContext(),                  \
                                                getLinearLayout());            \
  }                                                                            \
  ::mlir::triton::LinearLayout Attr::toLinearLayout(                           \
      ::llvm::ArrayRef<int64_t> shape) const {                                 \
    ::mlir::triton::LinearLayout layout = getLinearLayout();                   \
    return ::mlir::triton::gpu::LinearEncodingTrait::toLinearLayout(           \
        layout, ::mlir::triton_ext::getRegisterOrder(getContext(), layout),    \
        shape);                                                                \
  }

#endif // TRITON_EXT_LINEARLAYOUTDIALECT_H
