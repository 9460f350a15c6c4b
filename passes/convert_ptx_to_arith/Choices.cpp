// SPDX-License-Identifier: Apache-2.0
//
// Comparisons, choices by predicates, and moves.

#include "Emitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::triton_ext::convert_ptx_to_arith;

using I = IntPredicate;
using F = FloatPredicate;

static std::optional<F> floatPredicate(StringRef name) {
  return llvm::StringSwitch<std::optional<F>>(name)
      .Case("eq", F::OEQ)
      .Case("ne", F::ONE)
      .Case("lt", F::OLT)
      .Case("le", F::OLE)
      .Case("gt", F::OGT)
      .Case("ge", F::OGE)
      .Case("equ", F::UEQ)
      .Case("neu", F::UNE)
      .Case("ltu", F::ULT)
      .Case("leu", F::ULE)
      .Case("gtu", F::UGT)
      .Case("geu", F::UGE)
      .Case("num", F::ORD)
      .Case("nan", F::UNO)
      .Default(std::nullopt);
}

static std::optional<I> intPredicate(StringRef name, bool isSigned) {
  return llvm::StringSwitch<std::optional<I>>(name)
      .Case("eq", I::eq)
      .Case("ne", I::ne)
      .Case("lt", isSigned ? I::slt : I::ult)
      .Case("le", isSigned ? I::sle : I::ule)
      .Case("gt", isSigned ? I::sgt : I::ugt)
      .Case("ge", isSigned ? I::sge : I::uge)
      .Case("lo", I::ult)
      .Case("ls", I::ule)
      .Case("hi", I::ugt)
      .Case("hs", I::uge)
      .Default(std::nullopt);
}

/// Compares operands 1 and 2 in the last type of the instruction. Returns the
/// result and its opposite, both combined with the predicate of operand 3; for
/// pairs, the results of the two lanes.
std::optional<std::pair<Value, Value>> Emitter::comparison(bool mayBePair) {
  const PtxType &of = at->types.back();
  bool isFtz = take("ftz"), isPair = of.lanes == 2;
  if (modifiers.empty() || (isPair && !mayBePair) ||
      !(of.isFloat() || (of.isInteger() && !isPair)))
    return refuse("this comparison is not supported"), std::nullopt;
  StringRef name = modifiers.front();
  modifiers.erase(modifiers.begin());
  SmallVector<Value> found;
  auto x = lanes(read(1, of), of), y = lanes(read(2, of), of);
  for (auto [l, r] : llvm::zip(x, y)) {
    if (of.isFloat()) {
      std::optional<F> predicate = floatPredicate(name);
      if (!predicate)
        return refuse("'." + name + "' is not supported here"), std::nullopt;
      l = wide(asFloat(l, of)), r = wide(asFloat(r, of));
      if (isFtz)
        l = flushed(l, of), r = flushed(r, of);
      found.push_back(is(*predicate, l, r));
      continue;
    }
    std::optional<I> predicate = intPredicate(name, of.kind == PtxType::Signed);
    if (!predicate)
      return refuse("'." + name + "' is not supported here"), std::nullopt;
    found.push_back(is(*predicate, l, r));
  }
  if (!isPair)
    found.push_back(invert(found[0]));
  bool isAnd = take("and"), isOr = !isAnd && take("or");
  bool combines = isAnd || isOr || take("xor");
  if (at->operands.size() != (combines ? 4 : 3))
    return refuse("this number of operands is not supported"), std::nullopt;
  if (combines)
    for (Value &each : found) {
      Value other = readPredicate(at->operands[3]);
      each = isAnd  ? band(each, other)
             : isOr ? bor(each, other)
                    : bxor(each, other);
    }
  return std::pair(found[0], found[1]);
}

/// setp.cmp p, a, b or setp.cmp p|q, a, b, of which q is the opposite.
void Emitter::compare() {
  if (at->types.size() != 1)
    return (void)refuse("expected one type");
  const Operand &target = at->operands[0];
  bool isPair = target.kind == Operand::List && target.elements.size() == 2;
  if (type().lanes == 2 && !isPair)
    return (void)refuse("a comparison of two lanes needs p|q");
  auto found = comparison(true);
  if (!found)
    return;
  if (!isPair)
    return write(found->first);
  write(target.elements[0], found->first);
  write(target.elements[1], found->second);
}

/// set.cmp.dtype.stype: all bits, or 1.0 as f32.
void Emitter::setNumber() {
  if (at->types.size() != 2 || type(0).width() != 32 || type(0).lanes != 1)
    return (void)refuse("expected set.cmp.{u32,s32,f32} and another type");
  auto found = comparison(false);
  if (found)
    write(select(found->first,
                 constant(32, type(0).isFloat() ? 0x3f800000 : ~0ull),
                 constant(32, 0)));
}

/// selp d, a, b, p and slct d, a, b, c, which chooses a if c >= 0.
void Emitter::choose() {
  bool isSelp = at->opcode == "selp";
  if (!needs(isSelp ? 1 : 2, 4))
    return;
  bool isFtz = take("ftz");
  Value x = read(1, type()), y = read(2, type()), condition;
  if (isSelp) {
    condition = readPredicate(at->operands[3]);
  } else if (type(1).isFloat()) {
    Value c = asFloat(read(3, type(1)), type(1));
    if (isFtz)
      c = flushed(c, type(1));
    condition = is(F::OGE, c, number(c.getType(), 0));
  } else {
    condition = is(I::sge, read(3, type(1)), 0);
  }
  write(select(condition, x, y));
}

void Emitter::testProperty() {
  if (!needs(1, 2))
    return;
  if (type().kind != PtxType::Float || type().bits < 32 || modifiers.empty())
    return (void)refuse("expected testp and a property of f32 or f64");
  Value x = asFloat(read(1, type()), type()), size = absolute(x);
  Value infinity = number(x.getType(), INFINITY);
  Value least = number(x.getType(), type().bits == 32 ? 0x1p-126 : 0x1p-1022);
  if (take("finite"))
    return write(is(F::OLT, size, infinity));
  if (take("infinite"))
    return write(is(F::OEQ, size, infinity));
  if (take("number"))
    return write(is(F::ORD, x, x));
  if (take("notanumber"))
    return write(isNaN(x));
  Value isBelow = is(F::OLT, size, least);
  if (take("subnormal"))
    return write(band(isBelow, is(F::OGT, size, number(x.getType(), 0))));
  if (take("normal"))
    write(band(is(F::OGE, size, least), is(F::OLT, size, infinity)));
}

/// mov, also of special registers, and between one register and a list.
void Emitter::move() {
  if (!needs(1, 2))
    return;
  const Operand &to = at->operands[0], &from = at->operands[1];
  if (type().kind == PtxType::Pred)
    return write(readPredicate(from));
  unsigned bits = type().width();
  if (from.kind == Operand::Special) {
    Value value = special ? special(from.name, bits) : Value();
    if (!value)
      return (void)refuse("the special register " + from.name +
                          " is not supported");
    return write(value);
  }
  auto part = [&](const Operand &list) {
    PtxType type{PtxType::Bits, unsigned(bits / list.elements.size()), 1, "b"};
    return type;
  };
  Value value;
  if (from.kind == Operand::List) {
    SmallVector<Value> parts;
    for (const Operand &each : from.elements)
      parts.push_back(read(each, part(from)));
    value = joined(parts);
  } else {
    value = read(1, type());
  }
  if (to.kind != Operand::List)
    return write(value);
  for (auto [i, each] : llvm::enumerate(to.elements)) {
    unsigned width = part(to).bits;
    write(each, resized(right(value, i * width), width));
  }
}
