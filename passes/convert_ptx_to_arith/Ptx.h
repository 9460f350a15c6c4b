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
  /// Of a predicate: `!p`.
  bool isNegated = false;
  /// Of a register: `-a`.
  bool hasMinus = false;
  /// Of a register: what follows its point, such as "b0" of `a.b0`.
  StringRef selector;
  /// Of an integer, or of a number in hexadecimal.
  uint64_t bits = 0;
  /// Of a number in hexadecimal: 32 or 64; of a decimal number: 0.
  unsigned numberBits = 0;
  double number = 0;
  /// Of a special register.
  StringRef name;
  /// Of `{a, b}` or `p|q`.
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
