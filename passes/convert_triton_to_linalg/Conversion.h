// SPDX-License-Identifier: Apache-2.0
//
// The two steps of the conversion and what each of them knows.

#ifndef TRITON_EXT_CONVERTTRITONTOLINALG_CONVERSION_H
#define TRITON_EXT_CONVERTTRITONTOLINALG_CONVERSION_H

#include "mlir/IR/Operation.h"

namespace mlir {
class RewritePatternSet;
class TypeConverter;
} // namespace mlir

namespace mlir::triton_ext::convert_triton_to_linalg {

/// Replaces loads, stores and atomics by views of memory and structured
/// accesses to them. Types stay; the pointers that are left are scalars, where
/// nothing else uses the tensors of pointers.
void convertMemory(Operation *module);

/// Why this operation of Triton cannot be converted, or nothing.
std::optional<StringRef> whyNot(Operation *op);

/// A pointer is an i64.
void addConversions(TypeConverter &converter);

/// For every other operation of Triton that `whyNot` has nothing against, and
/// for those of other dialects that are on pointers: a file for each family.
void populateFunctionPatterns(const TypeConverter &converter,
                              RewritePatternSet &patterns);
void populateElementwisePatterns(const TypeConverter &converter,
                                 RewritePatternSet &patterns);
void populateShapePatterns(const TypeConverter &converter,
                           RewritePatternSet &patterns);
void populateReducePatterns(const TypeConverter &converter,
                            RewritePatternSet &patterns);
void populateDotPatterns(const TypeConverter &converter,
                         RewritePatternSet &patterns);
void populateDebugPatterns(const TypeConverter &converter,
                           RewritePatternSet &patterns);

} // namespace mlir::triton_ext::convert_triton_to_linalg

#endif // TRITON_EXT_CONVERTTRITONTOLINALG_CONVERSION_H
