// SPDX-License-Identifier: Apache-2.0
//
// Logic, shifts, and fields of bits.

#include "Emitter.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::convert_ptx_to_arith;

using I = IntPredicate;

/// The type of the amounts of shifts, of positions and of lengths.
static const PtxType amount{PtxType::Unsigned, 32, 1, "u32"};

void Emitter::logic() {
  bool isUnary = at->opcode == "not" || at->opcode == "cnot";
  if (!needs(1, isUnary ? 2 : 3))
    return;
  if (type().isFloat())
    return (void)refuse("the type " + type().name + " is not one of bits");
  bool isPredicate = type().kind == PtxType::Pred;
  auto operand = [&](unsigned i) {
    return isPredicate ? readPredicate(at->operands[i]) : read(i, type());
  };
  Value x = operand(1);
  if (at->opcode == "not")
    return write(invert(x));
  if (at->opcode == "cnot")
    return write(resized(is(I::eq, x, 0), type().bits));
  Value y = operand(2);
  write(at->opcode == "and"  ? band(x, y)
        : at->opcode == "or" ? bor(x, y)
                             : bxor(x, y));
}

void Emitter::shift() {
  if (!needs(1, 3))
    return;
  if (type().isFloat() || type().lanes != 1)
    return (void)refuse("the type " + type().name + " is not an integer");
  Value x = read(1, type()), by = read(2, amount);
  write(at->opcode == "shl"
            ? leftOrZero(x, by)
            : rightOrSign(x, by, type().kind == PtxType::Signed));
}

/// shf.{l,r}.{clamp,wrap}.b32 d, a, b, n: of b:a shifted by n, the upper half
/// (l) or the lower half (r).
void Emitter::funnelShift() {
  if (!needs(1, 4))
    return;
  bool isLeft = take("l"), wraps = take("wrap");
  if ((!isLeft && !take("r")) || (!wraps && !take("clamp")) ||
      type().width() != 32)
    return (void)refuse("expected shf.{l,r}.{clamp,wrap}.b32");
  Value both =
      bor(resized(read(1, type()), 64), left(resized(read(2, type()), 64), 32));
  Value by = read(3, amount);
  by = wraps ? band(by, 31) : minimum(by, constant(32, 32), false);
  by = resized(by, 64);
  write(isLeft ? resized(right(left(both, by), 32), 32)
               : resized(right(both, by), 32));
}

/// bfe d, a, position, length. Bits beyond the highest one are the sign of a
/// signed field, else 0.
void Emitter::extractBits() {
  if (!needs(1, 4))
    return;
  if (!type().isInteger() || type().bits < 32)
    return (void)refuse("expected a type of 32 or 64 bits");
  bool isSigned = type().kind == PtxType::Signed;
  unsigned bits = type().bits;
  Value x = read(1, type());
  Value position = band(read(2, amount), 255),
        length = band(read(3, amount), 255);
  Value field = rightOrSign(x, position, isSigned);
  // Shifting to the top and back clears what is above, or repeats the sign.
  Value unused =
      sub(constant(32, bits), minimum(length, constant(32, bits), false));
  field = rightOrSign(leftOrZero(field, unused), unused, isSigned);
  write(select(is(I::eq, length, 0), constant(bits, 0), field));
}

/// bfi f, a, b, position, length: b with the low bits of a at the position.
void Emitter::insertBits() {
  if (!needs(1, 5))
    return;
  if (!type().isInteger() || type().bits < 32)
    return (void)refuse("expected a type of 32 or 64 bits");
  unsigned bits = type().bits;
  Value x = read(1, type()), y = read(2, type());
  Value position = band(read(3, amount), 255),
        length = band(read(4, amount), 255);
  Value low = invert(leftOrZero(constant(bits, ~0ull), length));
  Value mask = leftOrZero(low, position);
  write(bor(band(y, invert(mask)), band(leftOrZero(x, position), mask)));
}

/// A function of three bits by its truth table: bit 4a + 2b + c of the last
/// operand.
void Emitter::lookup3() {
  if (!needs(1, 5))
    return;
  if (type().width() != 32 || at->operands[4].kind != Operand::Integer ||
      at->operands[4].bits > 255)
    return (void)refuse("expected lop3.b32 with a constant of 8 bits");
  uint64_t table = at->operands[4].bits;
  Value a = read(1, type()), y = read(2, type()), z = read(3, type());
  Value none = constant(32, 0), all = constant(32, ~0ull);
  auto ofTwo = [&](unsigned four) -> Value {
    // Bit 2b + c of `four`: its low two bits are for b = 0, the others for b =
    // 1.
    auto ofOne = [&](unsigned two) -> Value {
      return two == 0 ? none : two == 3 ? all : two == 2 ? z : invert(z);
    };
    Value one = ofOne(four >> 2), zero = ofOne(four & 3);
    if (one == zero)
      return one;
    return bor(band(y, one), band(invert(y), zero));
  };
  Value one = ofTwo(table >> 4), zero = ofTwo(table & 15);
  if (one == zero)
    return write(one);
  write(bor(band(a, one), band(invert(a), zero)));
}

/// prmt.b32{.mode} d, a, b, selector: four of the eight bytes of b:a.
void Emitter::permute() {
  if (!needs(1, 4))
    return;
  StringRef mode;
  for (StringRef name : {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"})
    if (take(name))
      mode = name;
  if (type().width() != 32)
    return (void)refuse("expected prmt.b32");
  Value bytes =
      bor(resized(read(1, type()), 64), left(resized(read(2, type()), 64), 32));
  Value selector = read(3, type()), result;
  // The place of byte i, where the two low bits of the selector are `low`.
  auto place = [&](unsigned i, unsigned low) -> unsigned {
    return llvm::StringSwitch<unsigned>(mode)
        .Case("f4e", low + i)
        .Case("b4e", (low + 8 - i) % 8)
        .Case("rc8", low)
        .Case("ecl", std::max(i, low))
        .Case("ecr", std::min(i, low))
        .Default((low & 1) * 2 + i % 2); // rc16
  };
  for (unsigned i = 0; i < 4; ++i) {
    Value byte, nibble = right(selector, 4 * i);
    if (mode.empty()) {
      Value by = left(band(nibble, 7), 3u);
      byte = band(right(bytes, resized(by, 64)), 255);
      // The highest bit of a nibble asks for the sign of the byte.
      Value sign = mul(right(byte, 7), constant(64, 255));
      byte = select(is(I::ne, band(nibble, 8), 0), sign, byte);
    } else {
      Value low = band(selector, 3);
      for (unsigned j = 0; j < 4; ++j) {
        Value each = band(right(bytes, 8 * place(i, j)), 255);
        byte = byte ? select(is(I::eq, low, j), each, byte) : each;
      }
    }
    byte = left(resized(byte, 32), 8 * i);
    result = result ? bor(result, byte) : byte;
  }
  write(result);
}

void Emitter::countBits() {
  if (!needs(1, 2))
    return;
  bool isFromTop = take("shiftamt"), isLong = type().bits == 64;
  if (!type().isInteger() || type().bits < 32)
    return (void)refuse("expected a type of 32 or 64 bits");
  Value x = read(1, type());
  auto call = [&](StringRef name, Type result) {
    return external(("__nv_" + name + (isLong ? "ll" : "")).str(), {x}, result);
  };
  if (at->opcode == "brev")
    return write(call("brev", x.getType()));
  if (at->opcode != "bfind")
    return write(call(at->opcode, integer(32)));
  // The highest bit that differs from the sign.
  if (type().kind == PtxType::Signed)
    x = bxor(x, right(x, type().bits - 1, true));
  Value zeros = call("clz", integer(32));
  Value none = is(I::eq, zeros, type().bits);
  Value found = isFromTop ? zeros : sub(constant(32, type().bits - 1), zeros);
  write(select(none, constant(32, ~0ull), found));
}

/// bmsk.{clamp,wrap}.b32 d, position, length: a field of ones.
void Emitter::maskBits() {
  if (!needs(1, 3))
    return;
  bool wraps = take("wrap");
  if (type().width() != 32 || (!wraps && !take("clamp")))
    return (void)refuse("expected bmsk.{clamp,wrap}.b32");
  Value position = read(1, amount), length = read(2, amount);
  if (wraps)
    position = band(position, 31), length = band(length, 31);
  // Both are at most 32, so that their sum does not overflow.
  position = minimum(position, constant(32, 32), false);
  length = minimum(length, constant(32, 32), false);
  Value all = constant(32, ~0ull);
  write(band(leftOrZero(all, position),
             invert(leftOrZero(all, add(position, length)))));
}

/// szext.{clamp,wrap}.{u32,s32} d, a, length: the low bits, extended.
void Emitter::extendBits() {
  if (!needs(1, 3))
    return;
  bool wraps = take("wrap"), isSigned = type().kind == PtxType::Signed;
  if (!type().isInteger() || type().width() != 32 || (!wraps && !take("clamp")))
    return (void)refuse("expected szext.{clamp,wrap}.{u32,s32}");
  Value x = read(1, type()), length = read(2, amount);
  length = wraps ? band(length, 31) : minimum(length, constant(32, 32), false);
  Value unused = sub(constant(32, 32), length);
  Value field = rightOrSign(leftOrZero(x, unused), unused, isSigned);
  write(select(is(I::eq, length, 0), constant(32, 0), field));
}
