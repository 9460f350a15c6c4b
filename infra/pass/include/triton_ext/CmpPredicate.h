// SPDX-License-Identifier: Apache-2.0
//
// Functions on predicates of integer comparisons that MLIR lacks.

#ifndef TRITON_EXT_CMPPREDICATE_H
#define TRITON_EXT_CMPPREDICATE_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::triton_ext {

/// Returns the predicate p such that `p(b, a)` equals `predicate(a, b)`.
inline arith::CmpIPredicate swapOperands(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::slt:
    return P::sgt;
  case P::sle:
    return P::sge;
  case P::sgt:
    return P::slt;
  case P::sge:
    return P::sle;
  case P::ult:
    return P::ugt;
  case P::ule:
    return P::uge;
  case P::ugt:
    return P::ult;
  case P::uge:
    return P::ule;
  case P::eq:
  case P::ne:
    return predicate;
  }
  llvm_unreachable("all predicates are above");
}

} // namespace mlir::triton_ext

#endif // TRITON_EXT_CMPPREDICATE_H
