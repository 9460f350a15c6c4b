// SPDX-License-Identifier: Apache-2.0
//
// Groups of lanes: uniform, with a constant for each lane, or a vector; and the
// few LLVM operations that make one from the other.

#include "Lowering.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

int64_t Lowering::vectorBytes() {
  auto known =
      module->getAttrOfType<IntegerAttr>("triton_ext_cpu.vector_bytes");
  return known ? known.getInt() : 32;
}

bool Lowering::hasFma() {
  auto known = module->getAttrOfType<IntegerAttr>("triton_ext_cpu.has_fma");
  return !known || known.getInt();
}

Type Lowering::convert(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return convert(tensor.getElementType());
  if (isa<triton::PointerType>(type))
    return LLVM::LLVMPointerType::get(type.getContext());
  if (auto floating = dyn_cast<FloatType>(type))
    // Types without arithmetic are their bits; LLVM would call a library where
    // the CPU has no instructions for bf16.
    if (floating.getWidth() == 8 || floating.isBF16())
      return IntegerType::get(type.getContext(), floating.getWidth());
  if (type.isIndex())
    return IntegerType::get(type.getContext(), 64);
  return type;
}

Value Lowering::constant(Type type, int64_t value) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    auto element = cast<IntegerType>(vector.getElementType());
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(
               vector, APInt(element.getWidth(), value, true, true)));
  }
  unsigned width = cast<IntegerType>(type).getWidth();
  return arith::ConstantOp::create(
      b, b.getIntegerAttr(type, APInt(width, value, true, true)));
}

Value Lowering::floatConstant(Type type, double value) {
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  APFloat number(value);
  bool lost;
  number.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &lost);
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(b, DenseElementsAttr::get(vector, number));
  return arith::ConstantOp::create(b, b.getFloatAttr(element, number));
}

Value Lowering::splat(Value scalar, int lanes) {
  if (lanes == 1)
    return scalar;
  auto type = VectorType::get(lanes, scalar.getType());
  Attribute attribute;
  if (matchPattern(scalar, m_Constant(&attribute)) &&
      isa<IntegerAttr, FloatAttr>(attribute))
    return arith::ConstantOp::create(b,
                                     DenseElementsAttr::get(type, attribute));
  Value undefined = LLVM::PoisonOp::create(b, type);
  Value first = LLVM::InsertElementOp::create(b, undefined, scalar,
                                              constant(b.getI32Type(), 0));
  return shuffle(first, undefined, SmallVector<int32_t>(lanes, 0));
}

Type Lowering::elementType(const Lanes &lanes) {
  return getElementTypeOrSelf((lanes.vec ? lanes.vec : lanes.base).getType());
}

Lanes Lowering::laneConstants(Type type, ArrayRef<int64_t> values) {
  Lanes lanes = Lanes::uniform(constant(type, 0));
  lanes.pattern.assign(values.begin(), values.end());
  return normalize(lanes);
}

Value Lowering::toVector(const Lanes &lanes) {
  int n = scope->lanes;
  if (lanes.vec)
    return lanes.vec;
  if (lanes.exact)
    return lanes.exact;
  if (lanes.isUniform() || n == 1)
    return splat(lanes.base, n);
  bool isPointer = isa<LLVM::LLVMPointerType>(lanes.base.getType());
  Type element = isPointer ? b.getI64Type() : lanes.base.getType();
  unsigned width = cast<IntegerType>(element).getWidth();
  SmallVector<APInt> values;
  for (int64_t value : lanes.pattern)
    values.push_back(APInt(width, value, true, true));
  auto type = VectorType::get(n, element);
  Value offsets =
      arith::ConstantOp::create(b, DenseElementsAttr::get(type, values));
  if (isPointer)
    return LLVM::GEPOp::create(b, VectorType::get(n, lanes.base.getType()),
                               b.getI8Type(), lanes.base,
                               ArrayRef<LLVM::GEPArg>{offsets});
  if (matchPattern(lanes.base, m_Zero()))
    return offsets;
  return arith::AddIOp::create(b, splat(lanes.base, n), offsets);
}

Value Lowering::toScalar(const Lanes &lanes) {
  return lanes.vec ? lanes.vec : lanes.base;
}

Value Lowering::shuffle(Value lhs, Value rhs, ArrayRef<int32_t> mask) {
  return LLVM::ShuffleVectorOp::create(b, lhs, rhs, mask);
}

Value Lowering::extract(Value vec, int lane) {
  if (!isa<VectorType>(vec.getType()))
    return vec;
  return LLVM::ExtractElementOp::create(b, vec, constant(b.getI32Type(), lane));
}

Type Lowering::like(Value value, Type element) {
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    return VectorType::get(vector.getShape(), element);
  return element;
}

Value Lowering::offset(Value ptr, Value bytes) {
  return LLVM::GEPOp::create(b, ptr.getType(), b.getI8Type(), ptr,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

/// A pattern that is the same in all lanes becomes part of the base; one of
/// narrow integers is kept modulo 2^width, as what the lanes hold.
Lanes Lowering::normalize(Lanes lanes) {
  if (auto integer = dyn_cast<IntegerType>(lanes.base.getType());
      integer && integer.getWidth() < 64)
    for (int64_t &value : lanes.pattern)
      value = llvm::SignExtend64(value, integer.getWidth());
  if (!lanes.isPattern() || !llvm::all_equal(lanes.pattern))
    return lanes;
  int64_t common = lanes.pattern.front();
  lanes.pattern.clear();
  if (common == 0)
    return lanes;
  if (isa<LLVM::LLVMPointerType>(lanes.base.getType()))
    lanes.base = offset(lanes.base, constant(b.getI64Type(), common));
  else
    lanes.base = b.createOrFold<arith::AddIOp>(
        lanes.base, constant(lanes.base.getType(), common));
  return lanes;
}

Lanes Lowering::addLanes(const Lanes &lhs, const Lanes &rhs) {
  if (lhs.vec || rhs.vec)
    return Lanes::vector(
        arith::AddIOp::create(b, toVector(lhs), toVector(rhs)));
  Lanes sum = Lanes::uniform(b.createOrFold<arith::AddIOp>(lhs.base, rhs.base));
  if (lhs.isPattern() || rhs.isPattern()) {
    sum.pattern.assign(scope->lanes, 0);
    for (const Lanes *part : {&lhs, &rhs})
      for (auto [i, value] : llvm::enumerate(part->pattern))
        sum.pattern[i] += value;
  }
  return normalize(sum);
}

Lanes Lowering::scaleLanes(const Lanes &lanes, int64_t factor) {
  if (factor == 1)
    return lanes;
  if (lanes.vec)
    return Lanes::vector(arith::MulIOp::create(
        b, lanes.vec, constant(lanes.vec.getType(), factor)));
  Lanes product = Lanes::uniform(b.createOrFold<arith::MulIOp>(
      lanes.base, constant(lanes.base.getType(), factor)));
  for (int64_t value : lanes.pattern)
    product.pattern.push_back(int64_t(uint64_t(value) * uint64_t(factor)));
  return normalize(product);
}

int Lowering::coordId(const Lanes &lanes) {
  SmallVector<int64_t> pattern(lanes.pattern.begin(), lanes.pattern.end());
  void *base = lanes.base ? lanes.base.getAsOpaquePointer() : nullptr;
  IntegerAttr number;
  if (lanes.base && matchPattern(lanes.base, m_Constant(&number))) {
    // Constants are known by their value, not by the operation that made them.
    base = nullptr;
    pattern.push_back(number.getValue().getSExtValue());
    pattern.push_back(-1);
  }
  void *vec = lanes.vec ? lanes.vec.getAsOpaquePointer() : nullptr;
  auto [it, inserted] = scope->coordIds.try_emplace(
      {base, pattern, vec}, int(scope->coordIds.size()));
  return it->second;
}

SmallVector<int> Lowering::coordIds(const Coords &coords) {
  SmallVector<int> ids;
  for (const Lanes &coord : coords)
    ids.push_back(coordId(coord));
  return ids;
}

bool Lowering::hasDisjointBits(const Lanes &lanes) {
  if (!lanes.isPattern())
    return lanes.isUniform();
  int64_t divisor = facts.divisor(lanes.base);
  return llvm::all_of(lanes.pattern,
                      [&](int64_t p) { return p >= 0 && p < divisor; });
}

/// Whether base + pattern is known not to wrap around in any lane, signed and
/// unsigned.
bool Lowering::neverWraps(const Lanes &lanes) {
  if (hasDisjointBits(lanes))
    return true;
  std::optional<APInt> limit = facts.limit(lanes.base);
  auto [low, high] =
      std::minmax_element(lanes.pattern.begin(), lanes.pattern.end());
  if (!limit || *low < 0)
    return false;
  bool overflow = false;
  APInt most(limit->getBitWidth(), *high);
  (void)limit->sadd_ov(most, overflow);
  return !overflow && !most.isNegative();
}

/// Returns the least and the greatest of the numbers that are added to the base
/// and of zero.
static std::pair<int64_t, int64_t> patternRange(const Lanes &lanes) {
  auto [low, high] =
      std::minmax_element(lanes.pattern.begin(), lanes.pattern.end());
  return {std::min<int64_t>(*low, 0), std::max<int64_t>(*high, 0)};
}

/// Returns an i1: whether no lane wraps around as an unsigned number. The least
/// and the greatest lane are in this order then and only then, since they are
/// less than 2^width apart.
Value Lowering::staysUnsigned(const Lanes &lanes) {
  auto [low, high] = patternRange(lanes);
  auto shifted = [&](int64_t by) {
    return b.createOrFold<arith::AddIOp>(lanes.base,
                                         constant(lanes.base.getType(), by));
  };
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ule, shifted(low),
                               shifted(high));
}

namespace {
/// An integer as a sum of terms, modulo 2^width.
struct Terms {
  /// Terms of unknown size, and the constants that they are multiplied by.
  SmallVector<std::pair<Value, int64_t>> large;
  /// The range of the sum of all other terms.
  int64_t low = 0, high = 0;

  void add(const Facts &facts, Value value, int64_t factor, int depth = 0);
  bool addRange(int64_t from, int64_t to);
};
} // namespace

/// Adds a term in [from, to] to the sum, unless the range became too large: an
/// access whose base is that near to the ends of the type is a gather.
bool Terms::addRange(int64_t from, int64_t to) {
  constexpr int64_t most = int64_t(1) << 24;
  if (low + from < -most || high + to > most)
    return false;
  low += from;
  high += to;
  return true;
}

/// Adds `factor` times `value` to the sum.
void Terms::add(const Facts &facts, Value value, int64_t factor, int depth) {
  constexpr unsigned mostBits = 24;
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number))) {
    if (number.isSignedIntN(mostBits) &&
        addRange(factor * number.getSExtValue(),
                 factor * number.getSExtValue()))
      return;
  } else if (std::optional<APInt> limit = facts.limit(value);
             limit && limit->isIntN(mostBits)) {
    int64_t end = factor * limit->getSExtValue();
    if (addRange(std::min<int64_t>(end, 0), std::max<int64_t>(end, 0)))
      return;
  } else if (Operation *op = value.getDefiningOp(); op && depth < 8) {
    auto addOperand = [&](int i, int64_t times) {
      add(facts, op->getOperand(i), factor * times, depth + 1);
    };
    if (isa<arith::TruncIOp>(op))
      return addOperand(0, 1);
    if (isa<arith::AddIOp, arith::SubIOp>(op)) {
      addOperand(0, 1);
      return addOperand(1, isa<arith::AddIOp>(op) ? 1 : -1);
    }
    if (isa<arith::MulIOp>(op) &&
        matchPattern(op->getOperand(1), m_ConstantInt(&number)) &&
        number.isSignedIntN(mostBits) &&
        llvm::isInt<mostBits>(factor * number.getSExtValue()))
      return addOperand(0, number.getSExtValue());
  }
  large.push_back({value, factor});
}

/// Returns an i1 that implies that no lane wraps around as a signed number, and
/// null if no lane ever does. The condition leaves out the small terms of the
/// base, the loop's induction variable among them, so that LLVM can move it out
/// of the loop over a tile: for `start + arange(0, 1024)`, whose greatest lane
/// is `start + 1023`, it is `start <= 2^31 - 1024`.
Value Lowering::staysSigned(const Lanes &lanes) {
  auto type = cast<IntegerType>(lanes.base.getType());
  Terms terms;
  terms.add(facts, lanes.base, 1);
  auto [low, high] = patternRange(lanes);
  if (low == 0 && high <= facts.room(lanes.base))
    return {};
  low = std::min<int64_t>(low + terms.low, 0);
  high = std::max<int64_t>(high + terms.high, 0);
  Value rest;
  for (auto [value, factor] : terms.large) {
    if (value.getType() != type)
      value = b.createOrFold<arith::TruncIOp>(type, value);
    value = b.createOrFold<arith::MulIOp>(value, constant(type, factor));
    rest = rest ? b.createOrFold<arith::AddIOp>(rest, value) : value;
  }
  if (!rest)
    return {};
  unsigned width = type.getWidth();
  assert(width >= 32 && "offsets of fewer bits are no pattern");
  APInt first = APInt::getSignedMinValue(width) - APInt(width, low, true);
  APInt last = APInt::getSignedMaxValue(width) - APInt(width, high, true);
  std::optional<APInt> limit = facts.limit(rest);
  if (limit && limit->sle(last))
    return {};
  auto compare = [&](arith::CmpIPredicate predicate, const APInt &with) {
    return b.createOrFold<arith::CmpIOp>(predicate, rest,
                                         constant(type, with.getSExtValue()));
  };
  Value stays = compare(arith::CmpIPredicate::sle, last);
  if (low < 0)
    stays = b.createOrFold<arith::AndIOp>(
        stays, compare(arith::CmpIPredicate::sge, first));
  return matchPattern(stays, m_One()) ? Value() : stays;
}
