// SPDX-License-Identifier: Apache-2.0
//
// Atomic operations by which one program waits until another one is done.

#ifndef TRITON_EXT_SANITIZER_SIGNALS_H
#define TRITON_EXT_SANITIZER_SIGNALS_H

#include "Locks.h"

namespace mlir::triton_ext::sanitizer {

/// Where an access is among the signals of its kernel. Two accesses of
/// different programs have an order if one may be before a signal and the other
/// behind a wait for it.
struct SignalPlace {
  bool isBeforeSignal = false, isBehindWait = false;

  bool operator==(const SignalPlace &other) const {
    return isBeforeSignal == other.isBeforeSignal &&
           isBehindWait == other.isBehindWait;
  }
};

/// Whether signals may give two accesses of different programs an order.
bool mayBeOrdered(const SignalPlace &one, const SignalPlace &other);

/// The signals of a kernel and the waits for them. A signal is an atomic
/// operation that releases. A wait is `tt.atomic_poll`, or another atomic
/// operation whose result decides a branch, a loop or a mask; it acquires. What
/// takes locks and sets them free is neither. If a kernel lacks one of the two,
/// no access has a place.
class Signals {
public:
  Signals(triton::FuncOp kernel, const Locks &locks);

  SignalPlace placeOf(Operation *op) const;

private:
  bool mayPrecede(Operation *op, Operation *later) const;

  SmallVector<Operation *> signals, waits;
  DenseMap<Operation *, unsigned> numbers;
};

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_SIGNALS_H
