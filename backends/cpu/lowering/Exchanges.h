// SPDX-License-Identifier: Apache-2.0
//
// Tensors whose halves along a dimension of size 2 are exchanged.

#ifndef TRITON_EXT_CPU_EXCHANGES_H
#define TRITON_EXT_CPU_EXCHANGES_H

#include "triton/Dialect/Triton/IR/Dialect.h"

#include <optional>

namespace mlir::triton_ext::cpu {

/// Finds tensors that are another tensor with its two halves exchanged, and
/// replaces each by an operation that evaluates the other tensor at the other
/// coordinate. `tl.sort` and `tl.topk` exchange along a dimension of size 2: a
/// reduction computes a ^ b of both elements, and (a ^ b) ^ a is b.
void recognizeExchanges(triton::FuncOp function);

/// Returns the dimension along which `op` exchanges the halves of its operand;
/// nullopt for all operations but those that `recognizeExchanges` has made.
std::optional<int> exchangedDim(Operation *op);

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_EXCHANGES_H
