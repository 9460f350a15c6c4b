// SPDX-License-Identifier: Apache-2.0
//
// The families of operations that are taken apart. A pattern that matches makes
// operations of MLIR's dialects or of these three; the latter are lowered, too.

#ifndef TRITON_EXT_LOWERLINALGEXT_LOWERING_H
#define TRITON_EXT_LOWERLINALGEXT_LOWERING_H

namespace mlir {
class ModuleOp;
class Operation;
class RewritePatternSet;
class Type;
class Value;
} // namespace mlir

namespace mlir::triton_ext::lower_linalg_ext {

struct Bits;

/// aux: views, stores, casts and barriers; loads of views.
void populateMemoryPatterns(RewritePatternSet &patterns);

/// linalg_ext: pad, make_range, flip, scan; math_ext.
void populateStructuredPatterns(RewritePatternSet &patterns);

/// linalg_ext: named reductions, argmax and argmin.
void populateReductionPatterns(RewritePatternSet &patterns);

/// linalg_ext: convolutions, poolings, im2col, tri.
void populateWindowPatterns(RewritePatternSet &patterns);

/// linalg_ext: atomics on what lies evenly.
void populateAtomicPatterns(RewritePatternSet &patterns);

/// linalg_ext: what goes where indices say. gather, scatter, histogram,
/// atomics.
void populateIndexedPatterns(RewritePatternSet &patterns);

/// Calls of functions: of the target's library, to print, to end the kernel.
void populateCallPatterns(RewritePatternSet &patterns);

/// Casts from and to f8E4M3FN and f8E5M2, arithmetic on these, and products of
/// matrices of these.
void populateFloat8Patterns(RewritePatternSet &patterns);

/// Whether these patterns take the operation.
bool usesFloat8(Operation *op);

/// Whether it is one of the two formats, or a tensor of one.
bool isFloat8(Type type);

/// Casts that round toward zero.
void populateRoundingPatterns(RewritePatternSet &patterns);

/// Whether these patterns take the operation.
bool roundsTowardZero(Operation *op);

/// f64 as f32, with an odd last place if it is between two numbers: what is
/// rounded from there to fewer bits is as if it was rounded only once.
Value toOdd(const Bits &bits, Value value);

/// Drops attributes of Triton, which other programs do not know.
void dropAttributes(ModuleOp module);

} // namespace mlir::triton_ext::lower_linalg_ext

#endif // TRITON_EXT_LOWERLINALGEXT_LOWERING_H
