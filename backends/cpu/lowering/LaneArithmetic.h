// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on lanes of integers and pointers that keeps the form base +
// pattern, and whether lanes of this form may wrap around.

#ifndef TRITON_EXT_CPU_LANEARITHMETIC_H
#define TRITON_EXT_CPU_LANEARITHMETIC_H

#include "LaneBuilder.h"

#include "analysis/IntegerFacts.h"

namespace mlir::triton_ext::cpu {

class LaneArithmetic {
public:
  LaneArithmetic(LaneBuilder &b, const analysis::IntegerFacts &facts)
      : b(b), facts(facts) {}

  /// Returns the sum, modulo 2^width in each lane.
  Lanes add(const Lanes &lhs, const Lanes &rhs);
  /// Returns the lanes times `factor`, modulo 2^width in each lane.
  Lanes scale(const Lanes &lanes, int64_t factor);
  /// Returns coordinates along a dimension of size 2 with 0 and 1 exchanged.
  Lanes exchange(const Lanes &lanes);
  /// Adds a pattern that is the same in all lanes to the base. Reduces the
  /// pattern of narrow integers modulo 2^width.
  Lanes normalize(Lanes lanes);

  /// Returns whether base and pattern are known to have no bit in common, so
  /// that their sum is their bitwise or.
  bool hasDisjointBits(const Lanes &lanes) const;
  /// Returns whether base + pattern is known not to wrap around in any lane,
  /// signed and unsigned.
  bool neverWraps(const Lanes &lanes) const;
  /// Returns an i1: whether no lane wraps around as an unsigned number.
  Value staysUnsigned(const Lanes &lanes);
  /// Returns an i1 that implies that no lane wraps around as a signed number;
  /// null if no lane ever does.
  Value staysSigned(const Lanes &lanes);

private:
  LaneBuilder &b;
  const analysis::IntegerFacts &facts;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_LANEARITHMETIC_H
