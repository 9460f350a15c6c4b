// SPDX-License-Identifier: Apache-2.0
//
// What linalg's interface asks of the structured operations of this dialect.
// Their loops and indexing maps are those of the tiling plan. Their bodies
// compute one element of the inits from the elements of all operands.

#ifndef TRITON_EXT_LINALG_EXT_STRUCTURE_H
#define TRITON_EXT_LINALG_EXT_STRUCTURE_H

#include "LinalgExt.h"

namespace mlir::triton_ext::linalg_ext {

/// Returns the indexing map of each operand: no dimensions for a scalar.
ArrayAttr getIndexingMaps(Operation *op);

/// Returns a function that fills the body of the operation of this name.
std::function<void(ImplicitLocOpBuilder &, Block &, ArrayRef<NamedAttribute>,
                   llvm::function_ref<InFlightDiagnostic()>)>
getBodyBuilder(StringRef name);

/// Adds a block with an argument for each type's element to `region`, and the
/// body of the operation of this name.
void fillBody(OpBuilder &builder, Location loc, StringRef name, Region &region,
              TypeRange operands, ArrayRef<NamedAttribute> attributes = {});

/// Builds a structured operation with its body.
void buildStructured(OpBuilder &builder, OperationState &state,
                     TypeRange results, ValueRange operands,
                     ArrayRef<NamedAttribute> attributes);

} // namespace mlir::triton_ext::linalg_ext

#endif // TRITON_EXT_LINALG_EXT_STRUCTURE_H
