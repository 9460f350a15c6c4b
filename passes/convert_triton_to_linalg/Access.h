// SPDX-License-Identifier: Apache-2.0
//
// The parts that accesses to memory are made of.

#ifndef TRITON_EXT_CONVERTTRITONTOLINALG_ACCESS_H
#define TRITON_EXT_CONVERTTRITONTOLINALG_ACCESS_H

#include "analysis/MaskTracker.h"
#include "analysis/PointerTracker.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::convert_triton_to_linalg {

using analysis::Box;
using analysis::IndexMath;
using analysis::Pointers;

/// What axis information says of the pointers of one access.
struct PointerFacts {
  /// By how much they grow along each dimension, in elements.
  std::optional<SmallVector<int64_t>> strides;
  /// Whether all addresses are multiples of the size of an element.
  bool areAligned = false;
};
using AllPointerFacts = DenseMap<Operation *, PointerFacts>;

/// Makes the parts of one access, before the operation.
struct Access {
  Access(Operation *op, Type type, const AllPointerFacts &facts)
      : builder(op), loc(op->getLoc()), math{builder, loc},
        element(getElementTypeOrSelf(type)) {
    if (auto known = facts.find(op); known != facts.end())
      pointerFacts = known->second;
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      shape.assign(tensor.getShape().begin(), tensor.getShape().end());
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
  /// Where the elements are and in which box the mask is true, if both are
  /// tracked. Reports what is known, or why nothing is.
  std::optional<std::pair<Pointers, Box>> track(Operation *op, Value pointers,
                                                Value mask);
  /// Pointers of which only the strides are known, from the first of them.
  Pointers fromFirst(Value pointers, ArrayRef<int64_t> strides);
  /// A view of exactly the box.
  Value viewOf(const Pointers &pointers, const Box &box,
               SmallVector<OpFoldResult> &sizes);
  Value readTensor(Value view);
  /// The part of a tensor that is in the box.
  Value slice(Value tensor, const Box &box, ArrayRef<OpFoldResult> sizes);
  /// The box as part of a tensor, with one value around it.
  Value pad(Value part, const Box &box, Value value);
  /// All elements in a line, or as windows of one element.
  Value toLine(Value tensor);
  Value toWindows(Value tensor);
  Value fromWindows(Value windows);
  /// Memory without bounds and where in it each element is, as windows. None
  /// where an element may begin in the middle of another.
  std::optional<std::pair<Value, Value>> memoryAndIndices(Value pointers);

  OpBuilder builder;
  Location loc;
  IndexMath math;
  Type element;
  SmallVector<int64_t> shape;
  PointerFacts pointerFacts;
};

/// These convert an access. The accesses that they make, if any, are left in
/// `made`, to be converted, too.
void convertAtomic(triton::AtomicRMWOp op, const AllPointerFacts &facts,
                   SmallVectorImpl<Operation *> &made);
void convertAtomic(triton::AtomicCASOp op, const AllPointerFacts &facts,
                   SmallVectorImpl<Operation *> &made);

/// Replaces an access by loops around one of a scalar, which is returned.
Operation *accessOneByOne(Operation *op);

/// Loops over all elements of tensors of this shape, which carry `state`.
SmallVector<Value>
forEachElement(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape,
               ValueRange state,
               function_ref<SmallVector<Value>(OpBuilder &, ValueRange indices,
                                               ValueRange state)>
                   body);

/// Replaces these by atomics that read, modify and write.
void expandAtomic(triton::AtomicLoadOp op);
void expandAtomic(triton::AtomicStoreOp op);
void expandAtomic(triton::AtomicPollOp op);

} // namespace mlir::triton_ext::convert_triton_to_linalg

#endif // TRITON_EXT_CONVERTTRITONTOLINALG_ACCESS_H
