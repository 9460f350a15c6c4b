// SPDX-License-Identifier: Apache-2.0
//
// Reductions of the elements behind the end of a mask, all of which are equal.

#include "Roots.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

bool ReduceLowering::mayRepeat(triton::ReduceOp op) {
  return llvm::all_of(op.getElementTypes(),
                      [](Type type) { return type.isIntOrFloat(); }) &&
         !op.getCombineOp()
              .walk([](Operation *inner) {
                return isa<triton::ReduceReturnOp>(inner) ||
                               isMemoryEffectFree(inner)
                           ? WalkResult::advance()
                           : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// Returns an i1: whether all elements have the same bits.
static Value haveSameBits(LaneBuilder &b, ValueRange lhs, ValueRange rhs) {
  Value same = b.constant(b.getI1Type(), 1);
  for (auto [one, other] : llvm::zip(lhs, rhs)) {
    Type bits = b.getIntegerType(
        getElementTypeOrSelf(one.getType()).getIntOrFloatBitWidth());
    if (isa<FloatType>(getElementTypeOrSelf(one.getType()))) {
      one = arith::BitcastOp::create(b, like(one, bits), one);
      other = arith::BitcastOp::create(b, like(other, bits), other);
    }
    Value differs = arith::XOrIOp::create(b, one, other);
    if (isa<VectorType>(differs.getType()))
      differs = b.intrinsic("llvm.vector.reduce.or", bits, differs);
    same = b.createOrFold<arith::AndIOp>(
        same, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, differs,
                                    b.constant(bits, 0)));
  }
  return same;
}

/// Combines `sums` with the groups from `stop` to `size`, all of which have the
/// values that `valuesOfRest` emits. The values are often neutral, such as
/// `-inf` in a maximum: if a combination with them changes no bit, more
/// combinations do not either.
SmallVector<Value> ReduceLowering::combineRest(
    Region &function, ValueRange sums, Value stop, int64_t size, int lanes,
    llvm::function_ref<SmallVector<Value>()> valuesOfRest) {
  Value end = b.constant(b.getI64Type(), size);
  auto inBranch = [&](Value condition,
                      llvm::function_ref<SmallVector<Value>()> then,
                      ValueRange otherwise) -> SmallVector<Value> {
    auto branch = scf::IfOp::create(b, otherwise.getTypes(), condition,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, otherwise);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, then());
    return branch.getResults();
  };
  auto finish = [&] {
    SmallVector<Value> rest, once;
    Value changes;
    evaluator.withScope(lanes, [&] {
      rest = valuesOfRest();
      once = combine(function, sums, rest);
      Value same = haveSameBits(b, once, combine(function, once, rest));
      changes = arith::XOrIOp::create(b, same, b.constant(b.getI1Type(), 1));
    });
    Value second =
        arith::AddIOp::create(b, stop, b.constant(b.getI64Type(), lanes));
    auto combineOthers = [&] {
      return b.forLoop(second, end, lanes, once,
                       [&](Value, ValueRange carried) {
                         SmallVector<Value> next;
                         evaluator.withScope(lanes, [&] {
                           next = combine(function, carried, rest);
                         });
                         return next;
                       });
    };
    return inBranch(changes, combineOthers, once);
  };
  Value isLeft = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, stop, end);
  return inBranch(isLeft, finish, sums);
}
