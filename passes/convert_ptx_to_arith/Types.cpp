// SPDX-License-Identifier: Apache-2.0
//
// The names of PTX's types.

#include "Ptx.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::convert_ptx_to_arith;

std::optional<PtxType>
mlir::triton_ext::convert_ptx_to_arith::parseType(StringRef name) {
  PtxType type;
  type.name = name;
  if (name == "pred") {
    type.kind = PtxType::Pred;
    type.bits = 1;
    return type;
  }
  // Formats of at most 19 bits, which only conversions know.
  unsigned small = llvm::StringSwitch<unsigned>(name)
                       .Cases({"e4m3x2", "e5m2x2", "ue8m0x2"}, 8)
                       .Case("e2m1x2", 4)
                       .Case("tf32", 32)
                       .Default(0);
  if (small) {
    type.kind = PtxType::Small;
    type.bits = small;
    type.lanes = small == 32 ? 1 : 2;
    return type;
  }
  StringRef rest = name;
  if (rest.consume_front("bf"))
    type.kind = PtxType::Brain;
  else if (rest.consume_front("f"))
    type.kind = PtxType::Float;
  else if (rest.consume_front("u"))
    type.kind = PtxType::Unsigned;
  else if (rest.consume_front("s"))
    type.kind = PtxType::Signed;
  else if (rest.consume_front("b"))
    type.kind = PtxType::Bits;
  else
    return std::nullopt;
  if (rest.consumeInteger(10, type.bits))
    return std::nullopt;
  if (rest == "x2")
    type.lanes = 2;
  else if (!rest.empty())
    return std::nullopt;
  bool isKnown = type.kind == PtxType::Brain ? type.bits == 16
                 : type.kind == PtxType::Float
                     ? type.bits == 16 || type.bits == 32 || type.bits == 64
                     : llvm::is_contained({8u, 16u, 32u, 64u}, type.bits);
  if (!isKnown || (type.lanes == 2 && type.bits * 2 > 64))
    return std::nullopt;
  return type;
}
