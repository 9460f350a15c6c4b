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

/// A pattern that is the same in all lanes becomes part of the base.
Lanes Lowering::normalize(Lanes lanes) {
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
    product.pattern.push_back(value * factor);
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

int64_t Lowering::knownDivisor(Value value, int depth) {
  constexpr int64_t max = int64_t(1) << 20;
  if (depth > 8)
    return 1;
  if (auto it = divisors.find(value); it != divisors.end())
    return it->second;
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.isZero()
               ? max
               : std::min<int64_t>(
                     max, int64_t(1) << std::min(20u, number.countr_zero()));
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop =
        dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar())
      return 1;
    return std::min(knownDivisor(loop.getLowerBound(), depth + 1),
                    knownDivisor(loop.getStep(), depth + 1));
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return 1;
  auto of = [&](int i) { return knownDivisor(op->getOperand(i), depth + 1); };
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp>(op))
    return std::min(of(0), of(1));
  if (isa<arith::MulIOp>(op))
    return std::min(max, of(0) * of(1));
  if (isa<arith::AndIOp>(op))
    return std::max(of(0), of(1));
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op))
    return of(0);
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return std::min(of(0), of(1));
  if (isa<arith::SelectOp>(op))
    return std::min(of(1), of(2));
  APInt shift;
  if (isa<arith::ShRUIOp>(op) &&
      matchPattern(op->getOperand(1), m_ConstantInt(&shift)))
    return std::max<int64_t>(1, of(0) >> shift.getZExtValue());
  if (isa<arith::ShLIOp>(op) &&
      matchPattern(op->getOperand(1), m_ConstantInt(&shift)))
    return std::min<int64_t>(
        max, of(0) << std::min<uint64_t>(20, shift.getZExtValue()));
  return 1;
}

bool Lowering::isNonNegative(Value value, bool &ifDivisors, int depth) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.isNonNegative();
  if (llvm::is_contained(programIds, value) ||
      llvm::is_contained(numPrograms, value))
    return true;
  if (depth > 12)
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop =
        dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() &&
           !loop.getUnsignedCmp() &&
           isNonNegative(loop.getLowerBound(), ifDivisors, depth + 1);
  }
  Operation *op = value.getDefiningOp();
  auto of = [&](int i) {
    return isNonNegative(op->getOperand(i), ifDivisors, depth + 1);
  };
  if (isa<arith::AddIOp, arith::MulIOp>(op))
    return of(0) && of(1);
  if (isa<arith::RemSIOp>(op)) // has the sign of what is divided
    return of(0);
  if (isa<arith::DivSIOp>(op)) {
    ifDivisors |= !of(1);
    return of(0);
  }
  if (isa<arith::SelectOp>(op)) {
    // The guard of a division, or a minimum.
    return of(1) && of(2);
  }
  if (isa<arith::ExtUIOp>(op))
    return true;
  if (isa<arith::ExtSIOp, arith::TruncIOp>(op))
    return of(0);
  return false;
}

bool Lowering::hasDisjointBits(const Lanes &lanes) {
  if (!lanes.isPattern())
    return lanes.isUniform();
  int64_t divisor = knownDivisor(lanes.base);
  return llvm::all_of(lanes.pattern,
                      [&](int64_t p) { return p >= 0 && p < divisor; });
}
