// SPDX-License-Identifier: Apache-2.0
//
// A block of assembly of NVIDIA for scalars, as one operation.

#ifndef TRITON_EXT_LOWER_PROBE_PTX_H
#define TRITON_EXT_LOWER_PROBE_PTX_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/StringMap.h"

#include <functional>

namespace mlir::triton_ext::lower_probe {

/// Writes instructions that compute the number of the program, into the
/// register `program`. Uses the registers `k` (64 bits) and `l` (32 bits).
void writeProgramInPtx(llvm::raw_ostream &os);

/// The same, and then the address of the slot, into `slot`, from the pointer
/// that a program has to its scratch memory.
void writeSlotInPtx(llvm::raw_ostream &os, StringRef scratch, StringRef slot);

/// The lines of one block. Its registers are p and q (predicates), k and
/// program (64 bits), l (32 bits), and those of the values.
class Ptx {
public:
  /// \param b where the block is to be
  /// \param results how many numbers it computes: $0, $1, ...
  Ptx(ImplicitLocOpBuilder &b, unsigned results) : b(b), results(results) {}

  /// Everything is in one line of text, because LLVM gives each line of
  /// assembly a line of the source file.
  void line(const Twine &text) { os << text << ' '; }

  /// Returns the name of an operand: an integer of 32 or 64 bits or a pointer.
  std::string operand(Value value);

  /// Returns the name of an integer of 1, 32 or 64 bits. If it is computed
  /// from others by operations that have an instruction, the block computes it
  /// again; whatever else it needs becomes operands.
  std::string of(Value value);

  /// Writes the address of the slot to `slot`, and to p whether there is one.
  void findSlot(StringRef scratch, StringRef slot);

  /// The same, but p is known later than the words, which `of` reads from the
  /// slot where they are needed. Without a slot these are any numbers.
  void readWords(StringRef scratch);

  /// Has `argument` name what blocks around the operation get, or return an
  /// empty name.
  void setArguments(std::function<std::string(BlockArgument)> argument) {
    ofArgument = std::move(argument);
  }

  /// Returns the result of an instruction, which is computed once.
  std::string compute(Type type, const Twine &instruction,
                      ArrayRef<std::string> from);

  /// Returns the name of an i32 as a number of 64 bits with this sign.
  std::string wide(Value value);

  ArrayRef<Value> getOperands() const { return operands; }

  /// Creates the operation, and returns its results.
  SmallVector<Value> build(ArrayRef<Type> types);

private:
  std::string make(Type type);
  std::string inRegister(Value value);
  std::string ofPointer(Value pointer);
  std::string computed(Operation *op);
  std::string ofInput(Value value);

  ImplicitLocOpBuilder &b;
  const unsigned results;
  SmallVector<Value> operands;
  DenseMap<Value, std::string> names;
  /// The registers with the results of instructions.
  llvm::StringMap<std::string> made;
  std::function<std::string(BlockArgument)> ofArgument;
  bool readsWords = false;
  unsigned numRegisters = 0;
  std::string content;
  llvm::raw_string_ostream os{content};
};

} // namespace mlir::triton_ext::lower_probe

#endif // TRITON_EXT_LOWER_PROBE_PTX_H
