// SPDX-License-Identifier: Apache-2.0
//
// The families of operations that are lowered. A pattern creates operations of
// MLIR's dialects, or of the three that are lowered in turn.

#ifndef TRITON_EXT_LOWERLINALGEXT_LOWERING_H
#define TRITON_EXT_LOWERLINALGEXT_LOWERING_H

namespace mlir {
class ModuleOp;
class Operation;
class RewritePatternSet;
class Type;
class Value;
} // namespace mlir

namespace mlir::bufferization {
class MaterializeInDestinationOp;
} // namespace mlir::bufferization

namespace mlir::triton_ext::lower_linalg_ext {

struct Bits;

/// aux: views, stores and barriers; loads of views, and those stores to
/// views for which isStoreOfLines() is true.
void populateMemoryPatterns(RewritePatternSet &patterns);

/// aux: casts.
void populateCastPatterns(RewritePatternSet &patterns);

/// Returns whether a tensor is stored to memory of several lines, or of
/// elements that do not lie side by side.
bool isStoreOfLines(bufferization::MaterializeInDestinationOp op);

/// linalg_ext: pad, make_range, flip, scan; math_ext.
void populateStructuredPatterns(RewritePatternSet &patterns);

/// linalg_ext: named reductions, argmax and argmin.
void populateReductionPatterns(RewritePatternSet &patterns);

/// linalg_ext: convolutions, poolings, im2col, tri.
void populateWindowPatterns(RewritePatternSet &patterns);

/// linalg_ext: atomics on contiguous or strided elements.
void populateAtomicPatterns(RewritePatternSet &patterns);

/// linalg_ext: operations with indices: gather, scatter, histogram, atomics.
void populateIndexedPatterns(RewritePatternSet &patterns);

/// Calls of functions of the target's library, and assertions, which become
/// cf.assert.
void populateCallPatterns(RewritePatternSet &patterns);

/// aux: printing, which becomes calls of printf.
void populatePrintPatterns(RewritePatternSet &patterns);

/// Casts from and to f8E4M3FN and f8E5M2, and arithmetic and matrix products on
/// these formats.
void populateFloat8Patterns(RewritePatternSet &patterns);

/// Returns whether these patterns match the operation.
bool usesFloat8(Operation *op);

/// Returns whether the type is one of the two formats, or a tensor of one.
bool isFloat8(Type type);

/// Casts that round toward zero.
void populateRoundingPatterns(RewritePatternSet &patterns);

/// Returns whether these patterns match the operation.
bool roundsTowardZero(Operation *op);

/// Rounds f64 to f32, to odd: an inexact result gets a last bit of 1. Rounding
/// it again, to a format with fewer bits, then gives the same as rounding once.
Value toOdd(const Bits &bits, Value value);

/// Drops attributes of Triton, which other tools cannot parse.
void dropAttributes(ModuleOp module);

} // namespace mlir::triton_ext::lower_linalg_ext

#endif // TRITON_EXT_LOWERLINALGEXT_LOWERING_H
