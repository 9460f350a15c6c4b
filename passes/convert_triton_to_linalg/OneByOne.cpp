// SPDX-License-Identifier: Apache-2.0
//
// Loops over the elements of a tensor, for accesses that are not structured.

#include "Access.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;

SmallVector<Value> mlir::triton_ext::convert_triton_to_linalg::forEachElement(
    OpBuilder &builder, Location loc, ArrayRef<int64_t> shape, ValueRange state,
    function_ref<SmallVector<Value>(OpBuilder &, ValueRange, ValueRange)>
        body) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  SmallVector<Value> ends;
  for (int64_t size : shape)
    ends.push_back(arith::ConstantIndexOp::create(builder, loc, size));
  scf::LoopNest nest =
      scf::buildLoopNest(builder, loc, SmallVector<Value>(shape.size(), zero),
                         ends, SmallVector<Value>(shape.size(), one), state,
                         [&](OpBuilder &inner, Location, ValueRange indices,
                             ValueRange carried) -> scf::ValueVector {
                           SmallVector<Value> next =
                               body(inner, indices, carried);
                           return {next.begin(), next.end()};
                         });
  return {nest.results.begin(), nest.results.end()};
}

void mlir::triton_ext::convert_triton_to_linalg::accessOneByOne(
    Operation *op, RewriterBase &builder) {
  Location loc = op->getLoc();
  Value pointers = op->getOperand(0);
  auto type = cast<RankedTensorType>(pointers.getType());
  Value addresses = tt::PtrToIntOp::create(
      builder, loc, type.clone(builder.getI64Type()), pointers);
  SmallVector<Value> state;
  for (Type result : op->getResultTypes())
    state.push_back(tensor::EmptyOp::create(builder, loc, type.getShape(),
                                            getElementTypeOrSelf(result)));
  SmallVector<Value> results = forEachElement(
      builder, loc, type.getShape(), state,
      [&](OpBuilder &inner, ValueRange indices,
          ValueRange carried) -> SmallVector<Value> {
        IRMapping mapping;
        Value address =
            tensor::ExtractOp::create(inner, loc, addresses, indices);
        mapping.map(pointers, tt::IntToPtrOp::create(
                                  inner, loc, type.getElementType(), address));
        for (Value operand : op->getOperands().drop_front())
          mapping.map(operand,
                      tensor::ExtractOp::create(inner, loc, operand, indices));
        Operation *scalar = inner.clone(*op, mapping);
        for (Value result : scalar->getResults())
          result.setType(getElementTypeOrSelf(result));
        SmallVector<Value> next;
        for (auto [result, array] : llvm::zip(scalar->getResults(), carried))
          next.push_back(
              tensor::InsertOp::create(inner, loc, result, array, indices));
        return next;
      });
  builder.replaceOp(op, results);
}
