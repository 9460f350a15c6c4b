// SPDX-License-Identifier: Apache-2.0
//
// The text by which lower_probe leaves `probe.outside` to settle_regions, for
// GPUs without assembly of NVIDIA. Until then it is an operation with inline
// assembly, which no pass of Triton looks into.

#ifndef TRITON_EXT_SETTLE_REGIONS_FIRSTLANES_H
#define TRITON_EXT_SETTLE_REGIONS_FIRSTLANES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <optional>
#include <string>

namespace mlir::triton_ext::probe {

/// What the operation has to know. Its operands are the mask (i32), the address
/// (i64) and the number (i32) of each lane, and an address that is the same for
/// all: of the program's part of the scratch memory, or of all of it, which is
/// the slot if there is one.
struct FirstLanes {
  int64_t findsSlot; ///< 1 if it gets the program's part, else 0
  int64_t bytes;     ///< of an access
  int64_t argument;  ///< the place of its words in the slot
  int64_t site;      ///< the place of the site's words
  int64_t isOfAmd;   ///< 1 or 0

  static constexpr StringLiteral name = "probe.outside";

  std::string text() const {
    return (name + Twine(' ') + Twine(findsSlot) + " " + Twine(bytes) + " " +
            Twine(argument) + " " + Twine(site) + " " + Twine(isOfAmd))
        .str();
  }
  static std::optional<FirstLanes> of(StringRef text) {
    SmallVector<StringRef> words;
    text.split(words, ' ');
    FirstLanes found = {};
    int64_t *fields[] = {&found.findsSlot, &found.bytes, &found.argument,
                         &found.site, &found.isOfAmd};
    if (words.size() != std::size(fields) + 1 || words.front() != name)
      return std::nullopt;
    for (auto [field, word] :
         llvm::zip_equal(fields, ArrayRef(words).drop_front()))
      if (word.getAsInteger(10, *field))
        return std::nullopt;
    return found;
  }
};

/// Replaces each such operation of a module.
void expandFirstLanes(ModuleOp module);

} // namespace mlir::triton_ext::probe

#endif // TRITON_EXT_SETTLE_REGIONS_FIRSTLANES_H
