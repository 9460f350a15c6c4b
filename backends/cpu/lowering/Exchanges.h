// SPDX-License-Identifier: Apache-2.0
//
// Tensors whose halves along a dimension of size 2 are exchanged.

#ifndef TRITON_EXT_CPU_EXCHANGES_H
#define TRITON_EXT_CPU_EXCHANGES_H

#include "triton/Dialect/Triton/IR/Dialect.h"

#include <optional>

namespace mlir::triton_ext::cpu {

/// Replaces each tensor that is computed as the partner of another one by an
/// operation that evaluates that one with the other coordinate. `tl.sort` and
/// `tl.topk` compute partners along a dimension of size 2: the `xor` of both
/// elements, by a reduction, and the `xor` of that and each element.
void recognizeExchanges(triton::FuncOp function);

/// Returns the dimension along which `op` exchanges the halves of its operand;
/// nullopt for all operations but those that `recognizeExchanges` has made.
std::optional<int> exchangedDim(Operation *op);

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_EXCHANGES_H
