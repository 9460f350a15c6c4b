// SPDX-License-Identifier: Apache-2.0
//
// Makes gathers, scatters, and accesses of scalars. Memory that is masked off
// is not touched.

#include "Indexed.h"

#include "linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;

Value mlir::triton_ext::convert_triton_to_linalg::loadIndexed(
    Access &access, const MemoryAndIndices &where, Value mask, Value other) {
  OpBuilder &builder = access.builder;
  Location loc = access.loc;
  auto [memory, indices] = where;
  Value tensor = access.readTensor(memory);
  if (mask)
    mask = access.toLine(mask);
  Value init;
  if (other) {
    init = access.toWindows(other);
  } else {
    int64_t count = cast<ShapedType>(indices.getType()).getDimSize(0);
    init = tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>{count, 1},
                                   access.element);
    if (mask)
      init = linalg::FillOp::create(builder, loc, access.zero(), init)
                 .getResult(0);
  }
  auto result = linalg_ext::GatherOp::create(builder, loc, tensor, indices,
                                             mask, init, /*dimensionMap=*/0);
  return access.fromWindows(result.getResult());
}

void mlir::triton_ext::convert_triton_to_linalg::storeIndexed(
    Access &access, const MemoryAndIndices &where, Value mask, Value value) {
  auto [memory, indices] = where;
  if (mask)
    mask = access.toLine(mask);
  linalg_ext::ScatterOp::create(access.builder, access.loc,
                                access.toWindows(value), indices, mask, memory,
                                /*dimensionMap=*/0);
}

/// Returns the alignment attribute of an access. An address that was computed
/// as an integer need not be a multiple of the size of an element, which an
/// access to a memref assumes without this attribute.
static IntegerAttr alignmentOf(const Pointers &pointers, OpBuilder &builder) {
  if (pointers.base.getDefiningOp<tt::IntToPtrOp>())
    return builder.getI64IntegerAttr(1);
  return {};
}

/// Returns a view of one element.
static Value viewOfOne(Access &access, const Pointers &pointer) {
  OpFoldResult one = access.math.number(1);
  return access.view(access.address(pointer.base), pointer.offsets.offset, one,
                     one);
}

Value mlir::triton_ext::convert_triton_to_linalg::loadElement(
    Access &access, const Pointers &pointer, Value mask, Value other) {
  OpBuilder &builder = access.builder;
  Location loc = access.loc;
  auto load = [&]() -> Value {
    Value view = viewOfOne(access, pointer);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    auto loaded = memref::LoadOp::create(builder, loc, view, zero);
    loaded.setAlignmentAttr(alignmentOf(pointer, builder));
    return loaded;
  };
  if (!mask)
    return load();
  if (!other)
    other = access.zero();
  auto branch = scf::IfOp::create(
      builder, loc, mask,
      [&](OpBuilder &inner, Location) {
        scf::YieldOp::create(inner, loc, load());
      },
      [&](OpBuilder &inner, Location) {
        scf::YieldOp::create(inner, loc, other);
      });
  return branch.getResult(0);
}

void mlir::triton_ext::convert_triton_to_linalg::storeElement(
    Access &access, const Pointers &pointer, Value mask, Value value) {
  OpBuilder &builder = access.builder;
  Location loc = access.loc;
  if (mask) {
    auto branch = scf::IfOp::create(builder, loc, mask,
                                    /*withElseRegion=*/false);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  Value view = viewOfOne(access, pointer);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  auto store = memref::StoreOp::create(builder, loc, value, view, zero);
  store.setAlignmentAttr(alignmentOf(pointer, builder));
}
