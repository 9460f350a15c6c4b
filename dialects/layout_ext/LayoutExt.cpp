// SPDX-License-Identifier: Apache-2.0
//
// The layouts of `layout_ext` as attributes: verifiers, and the methods of
// Triton's interfaces. Each method asks Triton what it does for the linear
// layout of the attribute.

#include "LayoutExt.h"
#include "Algebra.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "LayoutExt.cpp.inc"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::layout_ext;
namespace ttg = mlir::triton::gpu;

/// Checks that Triton accepts the layout as a #ttg.linear.
static LogicalResult checkLayout(ErrorEmitter emitError,
                                 FailureOr<LinearLayout> layout) {
  if (failed(layout))
    return failure();
  return ttg::LinearEncodingAttr::verify(emitError, *layout);
}

/// Returns the layout of an attribute that has been verified.
static LinearLayout
get(Attribute attr,
    function_ref<FailureOr<LinearLayout>(ErrorEmitter)> compute) {
  FailureOr<LinearLayout> layout =
      compute([&] { return emitError(UnknownLoc::get(attr.getContext())); });
  assert(succeeded(layout) && "the verifier accepts only what has a layout");
  return *layout;
}

LogicalResult ProductAttr::verify(ErrorEmitter emitError, Attribute first,
                                  ArrayRef<int64_t> firstShape,
                                  Attribute second,
                                  ArrayRef<int64_t> secondShape) {
  return checkLayout(
      emitError, product(emitError, first, firstShape, second, secondShape));
}

LinearLayout ProductAttr::getLinearLayout() const {
  return ::get(*this, [&](ErrorEmitter emitError) {
    return product(emitError, getFirst(), getFirstShape(), getSecond(),
                   getSecondShape());
  });
}

LogicalResult QuotientAttr::verify(ErrorEmitter emitError, Attribute first,
                                   ArrayRef<int64_t> firstShape,
                                   Attribute second,
                                   ArrayRef<int64_t> secondShape) {
  return checkLayout(
      emitError, quotient(emitError, first, firstShape, second, secondShape));
}

LinearLayout QuotientAttr::getLinearLayout() const {
  return ::get(*this, [&](ErrorEmitter emitError) {
    return quotient(emitError, getFirst(), getFirstShape(), getSecond(),
                    getSecondShape());
  });
}

LogicalResult ComposedAttr::verify(ErrorEmitter emitError, Attribute first,
                                   ArrayRef<int64_t> firstShape, MapAttr map) {
  return checkLayout(emitError, composed(emitError, first, firstShape, map));
}

LinearLayout ComposedAttr::getLinearLayout() const {
  return ::get(*this, [&](ErrorEmitter emitError) {
    return composed(emitError, getFirst(), getFirstShape(), getMap());
  });
}

LogicalResult WarpTileAttr::verify(ErrorEmitter emitError,
                                   ArrayRef<int64_t> tile, unsigned vec,
                                   ArrayRef<unsigned> order,
                                   ArrayRef<unsigned> warps, unsigned lanes) {
  return checkWarpTile(emitError, tile, vec, order, warps, lanes);
}

LinearLayout WarpTileAttr::getLinearLayout() const {
  return warpTile(getContext(), getTile(), getVec(), getOrder(), getWarps(),
                  getLanes());
}

TRITON_EXT_DISTRIBUTED_LAYOUT_METHODS(ProductAttr)
TRITON_EXT_DISTRIBUTED_LAYOUT_METHODS(QuotientAttr)
TRITON_EXT_DISTRIBUTED_LAYOUT_METHODS(ComposedAttr)
TRITON_EXT_DISTRIBUTED_LAYOUT_METHODS(WarpTileAttr)

void LayoutExtDialect::registerInterfaces() {
  addInterfaces<InferLinearLayout<LayoutExtDialect>,
                VerifyLinearLayout<LayoutExtDialect>,
                LayoutAliases<ProductAttr, QuotientAttr, ComposedAttr,
                              WarpTileAttr, MapAttr, SwizzledTilesAttr>>();
}
