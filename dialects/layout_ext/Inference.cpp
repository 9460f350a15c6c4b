// SPDX-License-Identifier: Apache-2.0
//
// What Triton asks the dialect of a layout: which layout the result of an
// operation has, and whether a type is valid. The answers are those for
// #ttg.linear with the same linear layout, from the dialect `ttg`.

#include "LayoutExt.h"

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::layout_ext;
namespace tt = mlir::triton;
namespace ttg = mlir::triton::gpu;

/// Returns the layout as #ttg.linear for tensors of this shape, if it is one of
/// this dialect, otherwise as it is.
static Attribute asLinear(Attribute layout, ArrayRef<int64_t> shape) {
  if (!layout || !isa<LayoutExtDialect>(layout.getDialect()))
    return layout;
  return ttg::toLinearEncoding(cast<DistributedEncodingTrait>(layout), shape);
}

namespace {
struct InferLayout : tt::DialectInferLayoutInterface {
  using DialectInferLayoutInterface::DialectInferLayoutInterface;

  const tt::DialectInferLayoutInterface &ttgs() const {
    return *getContext()
                ->getLoadedDialect<ttg::TritonGPUDialect>()
                ->getRegisteredInterface<tt::DialectInferLayoutInterface>();
  }

  LogicalResult inferTransOpEncoding(Attribute operand, ArrayRef<int64_t> shape,
                                     ArrayRef<int32_t> order, Attribute &result,
                                     std::optional<Location> loc) const final {
    return ttgs().inferTransOpEncoding(asLinear(operand, shape), shape, order,
                                       result, loc);
  }

  LogicalResult inferReduceOpEncoding(Attribute operand, unsigned axis,
                                      Attribute &result,
                                      std::optional<Location> loc) const final {
    return ttgs().inferReduceOpEncoding(operand, axis, result, loc);
  }

  LogicalResult
  inferExpandDimsOpEncoding(Attribute operand, unsigned axis, Attribute &result,
                            std::optional<Location> loc) const final {
    return ttgs().inferExpandDimsOpEncoding(operand, axis, result, loc);
  }

  LogicalResult verifyBroadcastOpEncoding(RankedTensorType source,
                                          RankedTensorType result) const final {
    return ttgs().verifyBroadcastOpEncoding(source, result);
  }

  LogicalResult inferDotOpEncoding(Attribute operand, unsigned index,
                                   Attribute result,
                                   std::optional<Location> loc) const final {
    return ttgs().inferDotOpEncoding(operand, index, result, loc);
  }

  LogicalResult
  inferReshapeOpEncoding(ArrayRef<int64_t> from, Attribute operand,
                         ArrayRef<int64_t> to, Attribute &result,
                         bool allowReorder,
                         std::optional<Location> loc) const final {
    return ttgs().inferReshapeOpEncoding(from, asLinear(operand, from), to,
                                         result, allowReorder, loc);
  }

  LogicalResult verifyLayoutsAreEqual(ArrayRef<int64_t> shape,
                                      Attribute expected, Attribute got,
                                      std::optional<Location> loc,
                                      bool ignoreRegBroadcast) const final {
    return ttgs().verifyLayoutsAreEqual(shape, asLinear(expected, shape),
                                        asLinear(got, shape), loc,
                                        ignoreRegBroadcast);
  }

  LogicalResult
  inferDefaultJoinOpEncoding(Attribute operand, Attribute &result,
                             ArrayRef<int64_t> shape,
                             std::optional<Location> loc) const final {
    return ttgs().inferDefaultJoinOpEncoding(asLinear(operand, shape), result,
                                             shape, loc);
  }

  LogicalResult inferSplitOpEncoding(Attribute operand, Attribute &result,
                                     ArrayRef<int64_t> shape,
                                     std::optional<Location> loc) const final {
    return ttgs().inferSplitOpEncoding(asLinear(operand, shape), result, shape,
                                       loc);
  }

  LogicalResult verifyDotOpEncodingCompatibility(Operation *op, Attribute a,
                                                 Attribute b) const final {
    return ttgs().verifyDotOpEncodingCompatibility(op, a, b);
  }

  LogicalResult
  verifyDotScaledOpEncodingCompatibility(Operation *op, Attribute a,
                                         Attribute b, Attribute scaleA,
                                         Attribute scaleB) const final {
    return ttgs().verifyDotScaledOpEncodingCompatibility(op, a, b, scaleA,
                                                         scaleB);
  }

  LogicalResult verifyCatOpEncodingCompatibility(Operation *op) const final {
    return ttgs().verifyCatOpEncodingCompatibility(op);
  }

  LogicalResult
  inferFp4ToFpOpEncoding(ArrayRef<int64_t> shape, int axis, Attribute operand,
                         Attribute &result, bool fwdInference,
                         std::optional<Location> loc) const final {
    return ttgs().inferFp4ToFpOpEncoding(shape, axis, asLinear(operand, shape),
                                         result, fwdInference, loc);
  }
};

struct VerifyLayout : tt::DialectVerifyTensorLayoutInterface {
  using DialectVerifyTensorLayoutInterface::DialectVerifyTensorLayoutInterface;

  const tt::DialectVerifyTensorLayoutInterface &ttgs() const {
    return *getContext()
                ->getLoadedDialect<ttg::TritonGPUDialect>()
                ->getRegisteredInterface<
                    tt::DialectVerifyTensorLayoutInterface>();
  }

  LogicalResult
  verifyTensorLayout(Attribute layout, RankedTensorType type, Operation *op,
                     function_ref<InFlightDiagnostic()> emitError) const final {
    auto distributed = dyn_cast<DistributedEncodingTrait>(layout);
    if (!distributed)
      return emitError() << "expected a layout of a tensor, got " << layout;
    unsigned rank = cast<LayoutEncodingTrait>(layout).getRank();
    if (rank != type.getRank())
      return emitError() << "expected a tensor of rank " << rank << " for "
                         << layout << ", got " << type;
    return ttgs().verifyTensorLayout(asLinear(layout, type.getShape()), type,
                                     op, emitError);
  }

  LogicalResult verifyMemDescLayout(
      Attribute layout, Type, Operation *,
      function_ref<InFlightDiagnostic()> emitError) const final {
    return emitError() << "expected a layout of shared memory, got " << layout;
  }
};
} // namespace

namespace {
/// Gives the layouts names at the top of the module, as Triton does for its
/// own.
struct Aliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const final {
    StringRef name =
        TypeSwitch<Attribute, StringRef>(attr)
            .Case<ProductAttr, QuotientAttr, ComposedAttr, WarpTileAttr,
                  MapAttr>([](auto layout) { return layout.getMnemonic(); })
            .Default(StringRef());
    os << name;
    return name.empty() ? AliasResult::NoAlias : AliasResult::FinalAlias;
  }
};
} // namespace

void LayoutExtDialect::registerInterfaces() {
  addInterfaces<InferLayout, VerifyLayout, Aliases>();
}
