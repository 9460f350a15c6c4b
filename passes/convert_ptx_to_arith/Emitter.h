// SPDX-License-Identifier: Apache-2.0
//
// Emits the operations of one inline assembly. A register is an integer of its
// width, whatever its type; each instruction reads and writes such integers.

#ifndef TRITON_EXT_CONVERTPTXTOARITH_EMITTER_H
#define TRITON_EXT_CONVERTPTXTOARITH_EMITTER_H

#include "Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::triton_ext::convert_ptx_to_arith {

using IntPredicate = arith::CmpIPredicate;
using FloatPredicate = arith::CmpFPredicate;

class Emitter {
public:
  /// Emits code for tensors of the shape of `tensor`; without it, for scalars.
  Emitter(ImplicitLocOpBuilder &b, const Program &program,
          std::optional<RankedTensorType> tensor)
      : b(b), program(program), tensor(tensor),
        registers(program.registers.size()) {}

  /// Emits all instructions. Returns false and sets `why` if it cannot.
  bool run();

  std::string why;
  ImplicitLocOpBuilder &b;
  const Program &program;
  std::optional<RankedTensorType> tensor;
  /// The integer in each register, null before the first write.
  SmallVector<Value> registers;
  /// Returns the integer of a special register such as "%clock64", or null.
  llvm::function_ref<Value(StringRef, unsigned bits)> special;

  // Types and constants
  Type like(Type element) const;
  Type integer(unsigned bits) const { return like(b.getIntegerType(bits)); }
  Type floating(const PtxType &type) const;
  Value constant(unsigned bits, uint64_t value);
  Value number(Type type, double value);
  unsigned bitsOf(Value value) const;

  // Integers
  Value add(Value x, Value y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  Value band(Value x, Value y);
  Value band(Value x, uint64_t y) { return band(x, constant(bitsOf(x), y)); }
  Value bor(Value x, Value y);
  Value bxor(Value x, Value y);
  Value invert(Value x);
  Value negative(Value x) { return sub(constant(bitsOf(x), 0), x); }
  Value is(IntPredicate predicate, Value x, Value y);
  Value is(IntPredicate predicate, Value x, int64_t y);
  Value select(Value condition, Value yes, Value no);
  /// Extends or truncates.
  Value resized(Value x, unsigned bits, bool isSigned = false);
  /// Shifts by less than the width.
  Value left(Value x, Value by);
  Value right(Value x, Value by, bool isSigned = false);
  Value left(Value x, unsigned by) { return left(x, constant(bitsOf(x), by)); }
  Value right(Value x, unsigned by, bool isSigned = false) {
    return right(x, constant(bitsOf(x), by), isSigned);
  }
  /// Shifts by an i32; by the width or more, to 0 or to the sign.
  Value leftOrZero(Value x, Value by);
  Value rightOrSign(Value x, Value by, bool isSigned);
  Value minimum(Value x, Value y, bool isSigned);
  Value maximum(Value x, Value y, bool isSigned);

  // Floats
  Value asFloat(Value x, const PtxType &type);
  Value asInteger(Value x);
  Value wide(Value x);
  Value narrow(Value x, Type type);
  Value is(FloatPredicate predicate, Value x, Value y);
  Value isNaN(Value x) { return is(FloatPredicate::UNO, x, x); }
  Value absolute(Value x);
  /// Replaces numbers below the smallest normal one of `type` by zeros.
  Value flushed(Value x, const PtxType &type);
  Value saturated(Value x);
  Value rectified(Value x);
  /// Calls a function of libdevice.
  Value external(StringRef symbol, ValueRange operands, Type result);

  // The current instruction
  const Instruction *at = nullptr;
  SmallVector<StringRef> modifiers;
  bool take(StringRef modifier);
  /// Takes the first of these that is there; returns "" if none is.
  StringRef takeOne(ArrayRef<StringRef> modifiers);
  const PtxType &type(unsigned i = 0) const { return at->types[i]; }
  bool needs(unsigned numTypes, unsigned numOperands);
  bool refuse(const Twine &message);
  /// Returns operand `i` as an integer of the bits of `type`.
  Value read(unsigned i, const PtxType &type, bool mayBeWider = false);
  Value read(const Operand &operand, const PtxType &type,
             bool mayBeWider = false);
  Value readPredicate(const Operand &operand);
  void write(const Operand &operand, Value value);
  void write(Value value) { write(at->operands[0], value); }
  /// Applies `function` to the lanes of operands 1 to `count`.
  void perLane(unsigned count,
               llvm::function_ref<Value(ArrayRef<Value>)> function);
  SmallVector<Value> lanes(Value value, const PtxType &type);
  Value joined(ArrayRef<Value> lanes);

  // The instructions, each in the file of its group
  void logic();
  void shift();
  void funnelShift();
  void extractBits();
  void insertBits();
  void lookup3();
  void permute();
  void countBits();
  void maskBits();
  void extendBits();
  void integerArithmetic();
  void multiply();
  void dotProduct();
  void video();
  void videoMultiplyAdd();
  void videoLanes();
  void floatArithmetic();
  void floatUnary();
  void divide();
  void minMax();
  void approximate();
  void copySign();
  void compare();
  void setNumber();
  void choose();
  void testProperty();
  void move();
  void convert();

private:
  void emit();
  Value floatToInteger(Value x, const PtxType &to, const PtxType &from,
                       StringRef mode);
  Value integerToFloat(Value x, const PtxType &to, const PtxType &from,
                       StringRef mode);
  Value floatToFloat(Value x, const PtxType &to, const PtxType &from,
                     StringRef mode);
  Value extendedPart(const Operand &operand, const PtxType &type);
  Value videoResult(Value x, Value y, bool isSet);
  Value toTensorFloat(Value x, StringRef mode);
  Value largestFor(Value x, const PtxType &type);
  void convertPairs();
  void convertFromSmall();
  void convertToSmall();
  Value toFloat4(Value x);
  Value toScale(Value x, bool isUp);
  void packIntegers();
  std::optional<std::pair<Value, Value>> comparison(bool withPredicate);
  Value fused(const PtxType &type, ArrayRef<Value> x, StringRef mode);
  Value binary(StringRef name, const PtxType &type, Value x, Value y,
               StringRef mode);
};

/// Returns the scalar in a special register such as "%clock64", or null if
/// there is none of that name and width. A block has one thread.
Value specialRegister(ImplicitLocOpBuilder &b, StringRef name, unsigned bits);

/// Returns the function that emits an instruction, or null.
void (Emitter::*handlerOf(StringRef opcode))();

} // namespace mlir::triton_ext::convert_ptx_to_arith

#endif // TRITON_EXT_CONVERTPTXTOARITH_EMITTER_H
