// SPDX-License-Identifier: Apache-2.0
//
// A group of lanes: elements of a tensor that are computed together, by vector
// instructions.

#ifndef TRITON_EXT_CPU_LANES_H
#define TRITON_EXT_CPU_LANES_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::cpu {

/// The most lanes that are computed together: the number of f32 in an AVX-512
/// register. LLVM splits such vectors for smaller registers, which costs
/// nothing if the parts are independent.
constexpr int mostLanes = 16;

/// The values of a group of lanes, in one of three forms: a scalar that all
/// lanes share; a scalar plus a constant for each lane (for integers, and for
/// pointers in bytes); or an arbitrary vector.
struct Lanes {
  Value base;
  /// The constants, one for each lane. Empty if all lanes hold `base`.
  SmallVector<int64_t, 4> pattern;
  /// The arbitrary vector; `base` is null if it is set.
  Value vec;
  /// The values of the lanes of a pattern, as a vector. Null if they always are
  /// base + pattern.
  Value exact;
  /// An i1; if it is true, the lanes are base + pattern. Null if `exact` is
  /// null. Loads and stores test it at run time; all other operations use
  /// `exact`.
  Value holds;

  static Lanes uniform(Value scalar) {
    Lanes lanes;
    lanes.base = scalar;
    return lanes;
  }
  static Lanes vector(Value vec) {
    Lanes lanes;
    lanes.vec = vec;
    return lanes;
  }
  /// Returns `value` as a vector if it is one, else as a scalar of all lanes.
  static Lanes of(Value value) {
    return isa<VectorType>(value.getType()) ? vector(value) : uniform(value);
  }
  bool isUniform() const { return base && pattern.empty(); }
  bool isPattern() const { return base && !pattern.empty(); }
  explicit operator bool() const { return base || vec; }
};

/// The coordinates at which a tensor is evaluated: i64 lanes for each of its
/// dimensions.
using Coords = SmallVector<Lanes, 4>;

/// Returns the type of one element in emitted code: pointers are LLVM's, and
/// floats without arithmetic on x86 are integers with their bits.
Type loweredType(Type type);

/// Returns the bytes of an element of a lowered type in memory; at least 1.
int64_t bytesOf(Type type);

/// Returns whether each lane of the pattern is `step` more than the one before
/// it.
bool isContiguous(ArrayRef<int64_t> pattern, int64_t step);

/// Returns `element`; if `value` is a vector, a vector of `element` with the
/// same number of lanes.
Type like(Value value, Type element);

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_LANES_H
