// SPDX-License-Identifier: Apache-2.0
//
// Lowers ptr and tptr to arithmetic on i64 and to views of memory, and makes
// every pointer of the module an i64. Leaves operations of other dialects as
// they are, but for their types.

#include "Lowering.h"

#include "aux/Aux.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "tptr/Tptr.h"

namespace mlir::triton_ext::lower_tptr {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_LOWERTPTRPASS
#include "LowerTptr.h.inc"
} // namespace mlir::triton_ext::lower_tptr

using namespace mlir;
using namespace mlir::triton_ext;
namespace ours = mlir::triton_ext::ptr;

namespace {
struct LowerTptrPass
    : mlir::triton_ext::lower_tptr::impl::LowerTptrPassBase<LowerTptrPass> {
  using LowerTptrPassBase::LowerTptrPassBase;

  void runOnOperation() override;
};
} // namespace

/// Replaces the operations of older versions.
static void replaceOldOperations(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  tptr::OldFromMemrefOp::getCanonicalizationPatterns(patterns,
                                                     module.getContext());
  tptr::OldIntToPtrOp::getCanonicalizationPatterns(patterns,
                                                   module.getContext());
  tptr::OldPtrAddOp::getCanonicalizationPatterns(patterns, module.getContext());
  tptr::OldPtrToIntOp::getCanonicalizationPatterns(patterns,
                                                   module.getContext());
  tptr::OldToMemrefOp::getCanonicalizationPatterns(patterns,
                                                   module.getContext());
  tptr::OldTypeOffsetOp::getCanonicalizationPatterns(patterns,
                                                     module.getContext());
  walkAndApplyPatterns(module, std::move(patterns));
}

/// Returns whether memory of this space is what a kernel's pointers point to.
static bool isPlain(Attribute space) {
  return isa_and_nonnull<ours::GenericSpaceAttr, tptr::DefaultMemorySpaceAttr>(
      space);
}

/// Makes pointers i64, memrefs of the spaces of pointers those of none, and
/// metadata the memrefs that they are of.
static void replaceTypes(ModuleOp module) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](ours::PtrType type) -> Type {
    return IntegerType::get(type.getContext(), ours::kBits);
  });
  replacer.addReplacement(
      [&](ours::PtrMetadataType type) -> std::pair<Type, WalkResult> {
        return {replacer.replace(Type(type.getType())), WalkResult::skip()};
      });
  replacer.addReplacement(
      [&](MemRefType type) -> std::optional<std::pair<Type, WalkResult>> {
        if (!isPlain(type.getMemorySpace()))
          return std::nullopt;
        Type element = replacer.replace(type.getElementType());
        return std::pair(
            MemRefType::get(type.getShape(), element, type.getLayout()),
            WalkResult::skip());
      });
  replacer.addReplacement([&](UnrankedMemRefType type)
                              -> std::optional<std::pair<Type, WalkResult>> {
    if (!isPlain(type.getMemorySpace()))
      return std::nullopt;
    Type element = replacer.replace(type.getElementType());
    return std::pair(UnrankedMemRefType::get(element, Attribute()),
                     WalkResult::skip());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

/// Erases casts that lead from a type to itself.
static void eraseCasts(ModuleOp module) {
  module.walk([](Operation *op) {
    if (!isa<UnrealizedConversionCastOp, memref::MemorySpaceCastOp>(op) ||
        op->getNumOperands() != 1 || op->getNumResults() != 1 ||
        op->getOperand(0).getType() != op->getResult(0).getType())
      return;
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  });
}

void LowerTptrPass::runOnOperation() {
  ModuleOp module = getOperation();
  replaceOldOperations(module);
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa_and_nonnull<ours::PtrDialect, tptr::TptrDialect>(op->getDialect()))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (failed(lower_tptr::lower(op)))
      return signalPassFailure();
  replaceTypes(module);
  eraseCasts(module);
}
