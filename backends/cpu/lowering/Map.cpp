// SPDX-License-Identifier: Apache-2.0
//
// tl.map_elementwise: applies a function to a few neighbouring elements at a
// time.

#include "Roots.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// Applies the function to `pack` elements at a time, in row-major order.
void ReduceLowering::lower(triton::MapElementwiseOp op) {
  int64_t pack = op.getPack();
  auto shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  int64_t total = 1;
  for (int64_t size : shape)
    total *= size;
  if (total % pack) {
    context.error(op, "packs of " + Twine(pack) +
                          " elements do not divide a tensor of " +
                          Twine(total) + " (use a power of two, at most that)");
    return;
  }
  SmallVector<Buffer> targets;
  for (Value result : op.getResults())
    targets.push_back(scratch.allocate(loweredType(result.getType()), shape));
  // Applies the function to one group. Its arguments are the elements of the
  // first operand, then those of the second one, and so on; so are its results.
  auto apply = [&](ArrayRef<Coords> places) {
    SmallVector<Value> arguments;
    for (Value src : op.getSrcs())
      for (const Coords &at : places)
        arguments.push_back(b.toScalar(evaluator.eval(src, at)));
    SmallVector<Value> values = functions.call(op.getScalarOp(), arguments);
    for (auto [i, target] : llvm::enumerate(targets))
      for (auto [j, at] : llvm::enumerate(places))
        scratch.store(target, at, Lanes::uniform(values[i * pack + j]));
  };
  b.forLoop(0, total, pack, [&](Value first) {
    evaluator.withScope(1, [&] {
      std::vector<Coords> places;
      for (int64_t j = 0; j < pack; ++j) {
        Value rest = b.createOrFold<arith::AddIOp>(
            first, b.constant(first.getType(), j));
        Coords at(shape.size());
        for (int i = shape.size() - 1; i >= 0; --i) {
          Value size = b.constant(first.getType(), shape[i]);
          at[i] = Lanes::uniform(b.createOrFold<arith::RemUIOp>(rest, size));
          rest = b.createOrFold<arith::DivUIOp>(rest, size);
        }
        places.push_back(at);
      }
      apply(places);
    });
  });
  for (auto [result, target] : llvm::zip(op.getResults(), targets))
    context.buffers[result] = target;
}
