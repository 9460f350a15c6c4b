// SPDX-License-Identifier: Apache-2.0
//
// PTX as it stands in inline assembly: a list of instructions without branches.

#ifndef TRITON_EXT_CONVERTPTXTOARITH_PTX_H
#define TRITON_EXT_CONVERTPTXTOARITH_PTX_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::triton_ext::convert_ptx_to_arith {

/// A type of an instruction or a register, such as f16x2.
struct PtxType {
  enum Kind { Bits, Unsigned, Signed, Float, Brain, Pred, Small };
  Kind kind = Bits;
  /// Bits of one element.
  unsigned bits = 0;
  unsigned lanes = 1;
  StringRef name;

  unsigned width() const { return bits * lanes; }
  bool isFloat() const { return kind == Float || kind == Brain; }
  bool isInteger() const { return kind <= Signed; }
};

/// Returns the type that is written `name`, or nullopt if there is none.
std::optional<PtxType> parseType(StringRef name);

struct Operand {
  enum Kind { Register, Integer, Number, Special, List, Sink };
  Kind kind = Sink;
  /// The number of a register in `Program::registers`.
  unsigned index = 0;
  /// For a predicate: whether it is written `!p`.
  bool isNegated = false;
  /// For a register: whether it is written `-a`.
  bool hasMinus = false;
  /// For a register: the part behind the point, such as "b0" in `a.b0`.
  StringRef selector;
  /// For an integer, or a number in hexadecimal: its bits.
  uint64_t bits = 0;
  /// For a number in hexadecimal: 32 or 64; for a decimal number: 0.
  unsigned numberBits = 0;
  double number = 0;
  /// For a special register: its name.
  StringRef name;
  /// For `{a, b}` or `p|q`: the operands in it.
  std::vector<Operand> elements;
};

struct Instruction {
  /// As it is written, for messages.
  StringRef text;
  StringRef opcode;
  /// What follows the opcode, in order.
  SmallVector<StringRef> modifiers;
  SmallVector<PtxType> types;
  std::vector<Operand> operands;
  /// The predicate of `@p` or `@!p`.
  std::optional<Operand> guard;
};

struct Program {
  /// The operands of the assembly come first.
  SmallVector<PtxType> registers;
  SmallVector<std::string> names;
  std::vector<Instruction> instructions;
};

/// Parses `text`, whose operands $0, $1, … have `operands` as their types.
/// Returns nullopt and says why if it is not a list of instructions.
std::optional<Program> parse(StringRef text, ArrayRef<PtxType> operands,
                             std::string &why);

} // namespace mlir::triton_ext::convert_ptx_to_arith

#endif // TRITON_EXT_CONVERTPTXTOARITH_PTX_H
