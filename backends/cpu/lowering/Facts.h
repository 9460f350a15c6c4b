// SPDX-License-Identifier: Apache-2.0
//
// What is known of integers in emitted code: the power of two that divides one,
// and the largest value of one that is not negative. Both hold for every input,
// also where sums and products wrap around.

#ifndef TRITON_EXT_CPU_FACTS_H
#define TRITON_EXT_CPU_FACTS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace mlir::triton_ext::cpu {

class Facts {
public:
  /// Divisors are capped at this one; zero, which everything divides, has it.
  static constexpr int64_t maxDivisor = int64_t(1) << 20;

  /// The caller promises that the positive number `divisor` divides `value`.
  void setDivisor(Value value, int64_t divisor);
  /// The caller promises that `value`, read as signed, is in [0, limit].
  void setLimit(Value value, uint64_t limit);

  /// The caller promises that `value` + k, read as signed, does not wrap around
  /// for any k in [0, room].
  void setRoom(Value value, int64_t room) { rooms[value] = room; }

  /// The promised room of `value`; 0 if nothing was promised.
  int64_t room(Value value) const { return rooms.lookup(value); }
  /// A power of two that divides `value`.
  int64_t divisor(Value value, int depth = 0) const;
  /// The largest value that `value` can have, read as signed; nullopt where it
  /// may be negative.
  std::optional<APInt> limit(Value value, int depth = 0) const;

private:
  DenseMap<Value, int64_t> divisors;
  DenseMap<Value, int64_t> rooms;
  DenseMap<Value, APInt> limits;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_FACTS_H
