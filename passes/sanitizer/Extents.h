// SPDX-License-Identifier: Apache-2.0
//
// The bytes that an access may touch.

#ifndef TRITON_EXT_SANITIZER_EXTENTS_H
#define TRITON_EXT_SANITIZER_EXTENTS_H

#include "Checks.h"
#include "Roots.h"
#include "Strided.h"

namespace mlir::triton_ext::sanitizer {

/// The bytes from `start` to before `end`, i64 or tensors of them. An unknown
/// range reaches from the least number to the greatest.
struct ByteRange {
  Value start, end;
};

/// The tensors in one of which the bytes of an access must lie.
struct Extents {
  /// The number of the argument that is the tensor, if it is one.
  std::optional<unsigned> argument;
  /// The numbers of the arguments that the pointer may come from.
  SmallVector<unsigned> arguments;
  /// The ranges for pointers that come from memory or from integers: for each
  /// pointer, the range of the launch's tensor that it points into.
  SmallVector<ByteRange> found;
};

class ExtentFinder {
public:
  ExtentFinder(Checker &checker, StridedTracker &tracker);

  /// Returns the extents for an access by `pointer`, before `op`; an error text
  /// if the origin of the pointer is unknown.
  std::optional<Extents> find(Value pointer, Operation *op, StringRef &why);

  /// Returns the ranges of the views, which code at any place can use.
  SmallVector<ByteRange> views(const Extents &extents);
  /// Returns the ranges of the views or the storages, read at `b`: for code
  /// that runs rarely, so that they are not kept in registers for it.
  SmallVector<ByteRange> viewsAt(const Extents &extents,
                                 ImplicitLocOpBuilder &b) {
    return rangesAt(extents, ArgumentWord::ViewStart, ArgumentWord::ViewEnd, b);
  }
  SmallVector<ByteRange> storagesAt(const Extents &extents,
                                    ImplicitLocOpBuilder &b) {
    return rangesAt(extents, ArgumentWord::StorageStart,
                    ArgumentWord::StorageEnd, b);
  }

private:
  SmallVector<ByteRange> rangesAt(const Extents &extents, ArgumentWord first,
                                  ArgumentWord end, ImplicitLocOpBuilder &b);
  ByteRange viewOf(unsigned argument);
  ByteRange storageOf(unsigned argument);
  ByteRange pointedInto(Value pointer);
  Value baseOf(Value pointer, OpBuilder &b);
  Value chosenBase(Value pointer) const;

  Checker &checker;
  StridedTracker &tracker;
  DenseMap<unsigned, ByteRange> knownViews, knownStorages;
  DenseMap<Value, ByteRange> knownTargets;
};

/// Returns `end` - `bytes`, the last address at which an access of `bytes`
/// bytes may start.
Value lastStart(Value end, int64_t bytes, ImplicitLocOpBuilder &b);

/// Returns a splat of `scalar` if `type` is a tensor, else `scalar` itself.
Value inLanes(Value scalar, Type type, ImplicitLocOpBuilder &b);

/// Returns whether the `bytes` from `low` to behind `high` are inside of one of
/// the ranges: an i1, or a tensor of them.
Value isInside(ArrayRef<ByteRange> ranges, Value low, Value high, int64_t bytes,
               ImplicitLocOpBuilder &b);

/// As isInside(), for two scalars. Loop-invariant terms are subtracted from the
/// ranges before the innermost loop around `b`, so that the loop keeps fewer
/// numbers in registers.
Value areCornersInside(ArrayRef<ByteRange> ranges, Value low, Value high,
                       int64_t bytes, ImplicitLocOpBuilder &b);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_EXTENTS_H
