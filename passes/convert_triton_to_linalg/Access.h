// SPDX-License-Identifier: Apache-2.0
//
// Helpers of the patterns for memory accesses.

#ifndef TRITON_EXT_CONVERTTRITONTOLINALG_ACCESS_H
#define TRITON_EXT_CONVERTTRITONTOLINALG_ACCESS_H

#include "Conversion.h"
#include "analysis/RowTracker.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

/// Marks what other passes' libraries use.
#define TRITON_EXT_EXPORTED __attribute__((visibility("default")))

namespace mlir::triton_ext::convert_triton_to_linalg {

using analysis::Box;
using analysis::IndexMath;
using analysis::Pointers;

/// Creates the operations that one access of values of `type` becomes.
struct TRITON_EXT_EXPORTED Access {
  Access(OpBuilder &builder, Location loc, Type type)
      : builder(builder), loc(loc), math{builder, loc},
        element(getElementTypeOrSelf(type)) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      shape.assign(tensor.getShape().begin(), tensor.getShape().end());
  }
  Access(Operation *op, Type type, const AllPointerFacts &facts,
         ConversionPatternRewriter &rewriter)
      : Access(rewriter, op->getLoc(), type) {
    Value pointers = op->getOperand(0);
    // An atomic on the bits of a float has a cast of its pointers, for which
    // there may be no facts.
    if (auto cast = pointers.getDefiningOp<triton::BitcastOp>())
      if (!facts.contains(pointers))
        pointers = cast.getSrc();
    if (auto known = facts.find(pointers); known != facts.end())
      pointerFacts = known->second;
    if (auto policy = op->getAttrOfType<triton::CachePolicyAttr>("cachePolicy"))
      cacheMode = cacheModeOf(policy);
  }

  RankedTensorType tensorOf(ArrayRef<int64_t> shape, Type element) {
    return RankedTensorType::get(shape, element);
  }
  Value zero() {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getZeroAttr(element));
  }
  Value zeros() {
    return arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(tensorOf(shape, element)));
  }
  Value address(Value pointer) {
    Value integer =
        triton::PtrToIntOp::create(builder, loc, builder.getI64Type(), pointer);
    return LLVM::IntToPtrOp::create(
        builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
        integer);
  }
  Value view(Value address, OpFoldResult offset, ArrayRef<OpFoldResult> sizes,
             ArrayRef<OpFoldResult> strides);
  /// Returns the places of the elements, which may wrap around, and the box in
  /// which the mask is true, if both can be tracked. Emits a remark that shows
  /// the result.
  std::optional<std::pair<Pointers, Box>> track(Operation *op, Value pointers,
                                                Value mask);
  /// Returns the rows of an access that track() has not tracked, if it has
  /// rows. Emits a remark that shows the result, or that of noteMissed().
  std::optional<analysis::Rows> trackRows(Operation *op, Value pointers,
                                          Value mask);
  /// Emits a remark that says why track() returned nothing.
  void noteMissed();
  /// Returns pointers for which only `strides` are known. Their base is the
  /// first pointer.
  Pointers fromFirst(Value pointers, ArrayRef<int64_t> strides);
  /// Returns a view of exactly the elements of the box.
  Value viewOf(const Pointers &pointers, const Box &box,
               SmallVector<OpFoldResult> &sizes);
  Value readTensor(Value view);
  /// Returns the part of a tensor that is in the box.
  Value slice(Value tensor, const Box &box, ArrayRef<OpFoldResult> sizes);
  /// Returns a tensor that has `part` in the box and `value` around it.
  Value pad(Value part, const Box &box, Value value);
  /// Reshapes a tensor to one dimension, or to windows of one element, which
  /// gathers and scatters take, and back.
  Value toLine(Value tensor);
  Value toWindows(Value tensor);
  Value fromWindows(Value windows);
  /// Returns a view of unbounded memory, and windows with the index of each
  /// element in it. Returns nothing if the addresses may not be whole elements
  /// apart.
  std::optional<std::pair<Value, Value>> memoryAndIndices(Value pointers);
  /// Returns the same for the address `base` and one index for each element.
  std::pair<Value, Value> memoryAndIndices(Value base, Value indices);

  OpBuilder &builder;
  Location loc;
  IndexMath math;
  Type element;
  SmallVector<int64_t> shape;
  PointerFacts pointerFacts;
  /// The cache mode of the views of this access; null if the access does not
  /// say how it is cached.
  StringAttr cacheMode;

  StringAttr cacheModeOf(triton::CachePolicyAttr policy);

private:
  /// What track() could not track.
  StringRef untracked;
};

/// A pattern for accesses, with the facts of their pointers.
template <typename OpTy> struct AccessPattern : OpConversionPattern<OpTy> {
  AccessPattern(const AllPointerFacts &facts, MLIRContext *context)
      : OpConversionPattern<OpTy>(context), facts(facts) {
    // An access of a tensor may become an access of the same kind, of a scalar.
    this->setHasBoundedRewriteRecursion();
  }

  const AllPointerFacts &facts;
};

/// Replaces an access by loops around an access of a scalar.
void accessOneByOne(Operation *op, RewriterBase &rewriter);

/// Creates loops over all elements of tensors of this shape, which carry
/// `state`. Returns the final state.
SmallVector<Value>
forEachElement(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape,
               ValueRange state,
               function_ref<SmallVector<Value>(OpBuilder &, ValueRange indices,
                                               ValueRange state)>
                   body);

} // namespace mlir::triton_ext::convert_triton_to_linalg

#endif // TRITON_EXT_CONVERTTRITONTOLINALG_ACCESS_H
