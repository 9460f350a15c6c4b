// SPDX-License-Identifier: Apache-2.0
//
// The video instructions: arithmetic on a byte, a half or all of a word, and
// on the two halves or four bytes of a word at once.

#include "Emitter.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::convert_ptx_to_arith;

using I = IntPredicate;

namespace {
/// The part of a word that "b2" or "h1" selects; "" selects all of it.
struct Part {
  unsigned bits = 32, index = 0;
  unsigned shift() const { return bits * index; }
};

struct Limits {
  int64_t low, high;
};
} // namespace

static std::optional<Part> partOf(StringRef selector) {
  if (selector.empty())
    return Part();
  unsigned bits = selector.front() == 'b'   ? 8
                  : selector.front() == 'h' ? 16
                                            : 0;
  unsigned index;
  if (!bits || selector.drop_front().getAsInteger(10, index) ||
      index >= 32 / bits)
    return std::nullopt;
  return Part{bits, index};
}

static bool isSigned(const PtxType &type) {
  return type.kind == PtxType::Signed;
}

static bool areWords(ArrayRef<PtxType> types) {
  return llvm::all_of(types, [](const PtxType &type) {
    return type.name == "u32" || type.name == "s32";
  });
}

static Limits limitsOf(unsigned bits, bool isSigned) {
  int64_t count = int64_t(1) << bits;
  return isSigned ? Limits{-count / 2, count / 2 - 1} : Limits{0, count - 1};
}

static Operand withoutSelector(Operand operand) {
  operand.selector = "";
  operand.hasMinus = false;
  return operand;
}

/// Returns the selected part of an operand as 64 bits.
Value Emitter::extendedPart(const Operand &operand, const PtxType &type) {
  std::optional<Part> part = partOf(operand.selector);
  if (!part) {
    refuse("'." + operand.selector + "' does not select a byte or a half");
    return constant(64, 0);
  }
  Value word = right(read(withoutSelector(operand), type), part->shift());
  return resized(resized(word, part->bits), 64, isSigned(type));
}

/// Returns the result of the operation that the opcode names. The operands
/// have so many bits that nothing overflows.
Value Emitter::videoResult(Value x, Value y, bool isSet) {
  unsigned bits = bitsOf(x);
  if (isSet) {
    StringRef name = takeOne({"eq", "ne", "lt", "le", "gt", "ge"});
    if (name.empty())
      return refuse("expected a comparison"), constant(bits, 0);
    // The extended operands are signed, whatever their types.
    auto predicate = llvm::StringSwitch<I>(name)
                         .Case("eq", I::eq)
                         .Case("ne", I::ne)
                         .Case("lt", I::slt)
                         .Case("le", I::sle)
                         .Case("gt", I::sgt)
                         .Default(I::sge);
    return resized(is(predicate, x, y), bits);
  }
  StringRef name = at->opcode;
  if (name.starts_with("vadd"))
    return add(x, y);
  if (name.starts_with("vsub"))
    return sub(x, y);
  Value low = minimum(x, y, true), high = maximum(x, y, true);
  if (name.starts_with("vmin"))
    return low;
  if (name.starts_with("vmax"))
    return high;
  if (name.starts_with("vabsdiff"))
    return sub(high, low);
  // vavrg rounds ties away from zero.
  Value sum = add(x, y);
  Value up = resized(is(I::sge, sum, 0), bits);
  return right(add(sum, up), 1, true);
}

/// vadd.dtype.atype.btype{.sat}{.secop} d{.dsel}, a{.asel}, b{.bsel}{, c} and
/// the like. Returns the sum, the minimum or the maximum of the result and c,
/// or c with the result in one of its parts.
void Emitter::video() {
  bool isSet = at->opcode == "vset", isShift = at->opcode.starts_with("vsh");
  unsigned first = isSet ? 0 : 1;
  if (at->types.size() != first + 2 || !areWords(at->types) ||
      at->operands.size() < 3 || (isShift && type(2).name != "u32"))
    return (void)refuse("this form is not supported");
  const PtxType &from = type(first), &by = type(first + 1);
  bool hasSign = !isSet && isSigned(type());
  std::optional<Part> to = partOf(at->operands[0].selector);
  if (!to)
    return (void)refuse("'." + at->operands[0].selector +
                        "' does not select a byte or a half");
  bool saturates = take("sat");
  Value x = extendedPart(at->operands[1], from);
  Value y = extendedPart(at->operands[2], by), found;
  if (isShift) {
    bool wraps = take("wrap");
    if (!wraps && !take("clamp"))
      return (void)refuse("expected '.clamp' or '.wrap'");
    y = wraps ? band(y, 31) : minimum(y, constant(64, 32), true);
    if (saturates && at->opcode == "vshl")
      return (void)refuse("the ISA does not say how many bits of the shifted "
                          "number '.sat' sees");
    found = at->opcode == "vshl" ? left(x, y) : right(x, y, isSigned(from));
  } else {
    found = videoResult(x, y, isSet);
  }
  Limits limits = limitsOf(to->bits, hasSign);
  Value clamped = minimum(found, constant(64, limits.high), true);
  clamped = maximum(clamped, constant(64, limits.low), true);
  if (saturates)
    found = clamped;
  StringRef second = takeOne({"add", "min", "max"});
  bool merges = to->bits < 32, combines = !second.empty();
  if ((merges && combines) || at->operands.size() != 3u + (merges || combines))
    return (void)refuse("this number of operands is not supported");
  if (!merges && !combines)
    return write(resized(found, 32));
  Value c = read(3, type());
  if (merges) {
    uint64_t mask = (1ull << to->bits) - 1;
    Operand target = withoutSelector(at->operands[0]);
    return write(target, bor(left(band(resized(found, 32), mask), to->shift()),
                             band(c, ~(mask << to->shift()) & 0xffffffff)));
  }
  if (second == "add")
    return write(add(resized(found, 32), c));
  // The ISA does not say how many bits of a result beyond the range of dtype
  // take part in the comparison with c.
  bool areParts =
      !at->operands[1].selector.empty() && !at->operands[2].selector.empty();
  bool keepsRange = isSigned(from) == hasSign && isSigned(by) == hasSign &&
                    (at->opcode == "vmin" || at->opcode == "vmax");
  if (!saturates && !isSet && !keepsRange &&
      !(areParts && hasSign && at->opcode != "vshl"))
    return (void)refuse("'." + second + "' needs '.sat' here");
  c = resized(c, 64, hasSign);
  write(resized(
      second == "min" ? minimum(found, c, true) : maximum(found, c, true), 32));
}

/// vmad.dtype.atype.btype{.po}{.sat}{.scale} d, {-}a{.asel}, {-}b{.bsel},
/// {-}c: the product and c, and 1 with `po`; shifted right by the scale.
void Emitter::videoMultiplyAdd() {
  if (!needs(3, 4))
    return;
  if (!areWords(at->types))
    return (void)refuse("expected types of {u32,s32}");
  const Operand &a = at->operands[1], &y = at->operands[2],
                &c = at->operands[3];
  bool plusOne = take("po"), saturates = take("sat");
  bool isNegative = a.hasMinus != y.hasMinus;
  if ((plusOne && (a.hasMinus || y.hasMinus || c.hasMinus)) ||
      (isNegative && c.hasMinus) || !c.selector.empty())
    return (void)refuse("this form is not supported");
  StringRef scale = takeOne({"shr7", "shr15"});
  bool hasSign =
      isSigned(type(1)) || isSigned(type(2)) || isNegative || c.hasMinus;
  if (saturates && hasSign && !isSigned(type(1)) && !isSigned(type(2)) &&
      a.selector.empty() && y.selector.empty())
    return (void)refuse("'.sat' of a negated product of unsigned words is not "
                        "supported");
  Value product = mul(extendedPart(a, type(1)), extendedPart(y, type(2)));
  Value addend = resized(read(withoutSelector(c), type(0)), 64, hasSign);
  if (isNegative)
    product = negative(product);
  if (c.hasMinus)
    addend = negative(addend);
  Value sum = add(product, addend);
  if (plusOne)
    sum = add(sum, constant(64, 1));
  if (!scale.empty())
    sum = right(sum, scale == "shr7" ? 7 : 15, hasSign);
  if (saturates) {
    Limits limits = limitsOf(32, hasSign);
    sum = minimum(sum, constant(64, limits.high), hasSign);
    if (hasSign)
      sum = maximum(sum, constant(64, limits.low), true);
  }
  write(resized(sum, 32));
}

/// Returns the numbers in a selector such as "b3210", the last first, if they
/// are less than `limit`.
static std::optional<SmallVector<unsigned>>
numbersIn(StringRef selector, char kind, unsigned limit) {
  if (!selector.consume_front(StringRef(&kind, 1)))
    return std::nullopt;
  SmallVector<unsigned> numbers;
  for (char digit : llvm::reverse(selector)) {
    if (!llvm::isDigit(digit) || unsigned(digit - '0') >= limit)
      return std::nullopt;
    numbers.push_back(digit - '0');
  }
  return numbers;
}

/// vadd4.dtype.atype.btype{.sat} d{.mask}, a{.asel}, b{.bsel}, c and the like:
/// lanes without a mask come from c; with `add`, the sum of c and the lanes.
void Emitter::videoLanes() {
  unsigned count = at->opcode.back() - '0', bits = 32 / count;
  char kind = count == 2 ? 'h' : 'b';
  bool isSet = at->opcode.starts_with("vset");
  if (!needs(isSet ? 2 : 3, 4))
    return;
  if (!areWords(at->types))
    return (void)refuse("expected types of {u32,s32}");
  unsigned first = isSet ? 0 : 1;
  Value words[] = {read(withoutSelector(at->operands[1]), type(first)),
                   read(withoutSelector(at->operands[2]), type(first + 1))};
  // Part 0 is the lowest of a, part `count` the lowest of b.
  SmallVector<Value> operands[2];
  for (unsigned i = 0; i < 2; ++i) {
    const Operand &operand = at->operands[i + 1];
    SmallVector<unsigned> parts;
    for (unsigned lane = 0; lane < count; ++lane)
      parts.push_back(i * count + lane);
    if (!operand.selector.empty()) {
      auto selected = numbersIn(operand.selector, kind, 2 * count);
      if (!selected || selected->size() != count || operand.hasMinus)
        return (void)refuse("'." + operand.selector + "' does not select " +
                            Twine(count) + " parts");
      parts = *selected;
    }
    for (unsigned part : parts)
      operands[i].push_back(resized(
          resized(right(words[part / count], part % count * bits), bits), 32,
          isSigned(type(first + i))));
  }
  SmallVector<bool> isWritten(count, at->operands[0].selector.empty());
  if (!isWritten[0]) {
    auto written = numbersIn(at->operands[0].selector, kind, count);
    if (!written || written->empty() || !llvm::is_sorted(*written))
      return (void)refuse("'." + at->operands[0].selector + "' is not a mask");
    for (unsigned lane : *written)
      isWritten[lane] = true;
  }
  bool saturates = !isSet && take("sat"), sums = take("add");
  if (saturates && sums)
    return (void)refuse("'.sat' and '.add' exclude each other");
  Limits limits = limitsOf(bits, !isSet && isSigned(type()));
  Value c = read(3, type()), result = sums ? c : constant(32, 0);
  SmallVector<StringRef> rest = modifiers;
  for (unsigned lane = 0; lane < count; ++lane) {
    uint64_t mask = ((1ull << bits) - 1) << (lane * bits);
    if (!isWritten[lane]) {
      result = sums ? result : bor(result, band(c, mask));
      continue;
    }
    modifiers = rest;
    Value found = videoResult(operands[0][lane], operands[1][lane], isSet);
    if (saturates) {
      found = minimum(found, constant(32, limits.high), true);
      found = maximum(found, constant(32, limits.low), true);
    }
    result = sums ? add(result, found)
                  : bor(result, band(left(found, lane * bits), mask));
  }
  write(withoutSelector(at->operands[0]), result);
}
