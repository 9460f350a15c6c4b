// SPDX-License-Identifier: Apache-2.0
//
// Makes loops over rows that are strided in memory, with a view of each row.
// The memory of a row whose mask is false is not touched.

#include "Rows.h"
#include "Runs.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
using analysis::Rows;

/// Returns the row at an index of its dimension.
static Run rowAt(Access &access, const Rows &rows, Value at) {
  OpBuilder &builder = access.builder;
  Location loc = access.loc;
  IndexMath &math = access.math;
  Value offset = at;
  if (rows.offsets)
    offset = arith::IndexCastOp::create(
        builder, loc, builder.getIndexType(),
        tensor::ExtractOp::create(builder, loc, rows.offsets, at));
  Run row{rows.pointers, rows.box, rows.box};
  analysis::Offsets &offsets = row.pointers.offsets;
  offsets.offset =
      math.add(offsets.offset, math.mul(offset, offsets.strides[rows.dim]));
  row.memory.low[rows.dim] = math.number(0);
  row.memory.high[rows.dim] = math.number(1);
  row.elements.low[rows.dim] = at;
  row.elements.high[rows.dim] = math.add(at, math.number(1));
  return row;
}

/// Calls `body` for each row, in a loop. `state` is null or a tensor: `body`
/// gets the current one and returns the next. Returns the last one.
static Value forEachRow(Access &access, const Rows &rows, Value state,
                        function_ref<Value(const Run &, Value)> body) {
  OpBuilder &builder = access.builder;
  Location loc = access.loc;
  IndexMath &math = access.math;
  SmallVector<Value> carried;
  if (state)
    carried.push_back(state);
  Value low = math.toValue(rows.box.low[rows.dim]);
  Value high = math.toValue(rows.box.high[rows.dim]);
  auto loop = scf::ForOp::create(builder, loc, low, high,
                                 math.toValue(math.number(1)), carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  Value current = state ? Value(loop.getRegionIterArg(0)) : Value();
  SmallVector<Value> yielded;
  if (rows.mask) {
    Value isKept = tensor::ExtractOp::create(builder, loc, rows.mask, at);
    TypeRange types = ValueRange(carried).getTypes();
    auto branch = scf::IfOp::create(builder, loc, types, isKept,
                                    /*withElse=*/bool(state));
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    Value next = body(rowAt(access, rows, at), current);
    if (state) {
      scf::YieldOp::create(builder, loc, next);
      builder.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(builder, loc, current);
      yielded.push_back(branch.getResult(0));
    }
  } else if (Value next = body(rowAt(access, rows, at), current)) {
    yielded.push_back(next);
  }
  if (!state)
    return {};
  builder.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(builder, loc, yielded);
  return loop.getResult(0);
}

Value mlir::triton_ext::convert_triton_to_linalg::loadRows(Access &access,
                                                           const Rows &rows,
                                                           Value other) {
  Box box = rows.box;
  if (isNothing(box, access.shape))
    return other ? other : access.zeros();
  // The mask may leave rows out, so the box must not look whole.
  if (rows.mask)
    box.high[0] = access.math.number(0);
  return forEachRow(
      access, rows, getAround(access, box, other),
      [&](const Run &row, Value into) { return loadRun(access, row, into); });
}

void mlir::triton_ext::convert_triton_to_linalg::storeRows(Access &access,
                                                           const Rows &rows,
                                                           Value value) {
  if (isNothing(rows.box, access.shape))
    return;
  forEachRow(access, rows, Value(), [&](const Run &row, Value) {
    storeRun(access, row, value);
    return Value();
  });
}
