// SPDX-License-Identifier: Apache-2.0
//
// Uses the values that a comparison has in each of the two loops into which one
// loop is split.

#ifndef TRITON_EXT_LOOP_SPLIT_ASSUMPTIONS_H
#define TRITON_EXT_LOOP_SPLIT_ASSUMPTIONS_H

#include "Condition.h"
#include "TripCounter.h"

namespace mlir::triton_ext::loop_split {

/// Marks a comparison for which the loop around it is not to be split (again)
/// at this side. The mark is an attribute, because copies of a loop inherit it.
void markDone(arith::CmpIOp op, Side side);
bool isDone(arith::CmpIOp op, Side side);
/// Marks it at both sides.
inline void markDone(arith::CmpIOp op) {
  for (Side side : {Side::Lead, Side::Tail})
    markDone(op, side);
}
/// Removes the marks.
void unmark(arith::CmpIOp op);

/// Replaces `op` by the constant that `condition` is before the place where it
/// changes, or marks it if it may still have both values.
void assumeBefore(const Condition &condition, arith::CmpIOp op, Side side,
                  RewriterBase &rewriter);
/// Does the same for the iterations from that place on.
void assumeAfter(const Condition &condition, arith::CmpIOp op, Side side,
                 RewriterBase &rewriter);

/// The values before and from that place on, for remarks.
StringRef textBefore(const Condition &condition, Side side);
StringRef textAfter(const Condition &condition, Side side);

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOP_SPLIT_ASSUMPTIONS_H
