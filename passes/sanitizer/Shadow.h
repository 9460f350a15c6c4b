// SPDX-License-Identifier: Apache-2.0
//
// Checks with memory beside the memory of tensors: reads of what nothing has
// written, and races between programs.

#ifndef TRITON_EXT_SANITIZER_SHADOW_H
#define TRITON_EXT_SANITIZER_SHADOW_H

#include "Extents.h"
#include "Roots.h"

namespace mlir::triton_ext::sanitizer {

/// The lanes of an access by pointers into one argument, and where its shadow
/// is. All are scalars or tensors of the access's shape.
struct Shadowed {
  MemoryAccess access;
  unsigned argument;
  Value offset; ///< of each lane in the storage, in bytes, i64
  Value isOn;   ///< active, inside of the storage, aligned, and has a shadow
};

class ShadowChecker {
public:
  explicit ShadowChecker(Checker &checker) : checker(checker) {}

  void run();

private:
  bool find(const MemoryAccess &access, StringRef check, int64_t unit,
            ArgumentWord shadow, ImplicitLocOpBuilder &b, Shadowed &found);
  void checkInit(const MemoryAccess &access);
  void checkRace(const MemoryAccess &access);
  llvm::json::Array othersOf(const MemoryAccess &access, unsigned argument);
  Value programIn(unsigned bits, ImplicitLocOpBuilder &b);
  Value shadowAt(const Shadowed &lanes, ArgumentWord shadow, Value byte,
                 Type word, ImplicitLocOpBuilder &b);
  void reportIf(StringRef check, const Shadowed &lanes, Value ok,
                ImplicitLocOpBuilder &b, llvm::json::Array others = {});

  Checker &checker;
  /// Of each access of the kernel, for races.
  SmallVector<Roots> roots;
};

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_SHADOW_H
