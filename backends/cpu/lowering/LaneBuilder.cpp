// SPDX-License-Identifier: Apache-2.0
//
// Groups of lanes, and the operations of LLVM that convert between vectors and
// scalars.

#include "LaneBuilder.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

Type mlir::triton_ext::cpu::loweredType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return loweredType(tensor.getElementType());
  if (isa<triton::PointerType>(type))
    return LLVM::LLVMPointerType::get(type.getContext());
  if (auto floating = dyn_cast<FloatType>(type))
    // A bf16 is lowered to its bits, because LLVM would call a library for
    // arithmetic on bf16.
    if (floating.getWidth() == 8 || floating.isBF16())
      return IntegerType::get(type.getContext(), floating.getWidth());
  if (type.isIndex())
    return IntegerType::get(type.getContext(), 64);
  return type;
}

int64_t mlir::triton_ext::cpu::bytesOf(Type type) {
  return isa<LLVM::LLVMPointerType>(type)
             ? 8
             : std::max<int64_t>(1, type.getIntOrFloatBitWidth() / 8);
}

bool mlir::triton_ext::cpu::isContiguous(ArrayRef<int64_t> pattern,
                                         int64_t step) {
  for (auto [i, p] : llvm::enumerate(pattern))
    if (p - pattern.front() != int64_t(i) * step)
      return false;
  return true;
}

Type mlir::triton_ext::cpu::like(Value value, Type element) {
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    return VectorType::get(vector.getShape(), element);
  return element;
}

LaneBuilder::GroupGuard::GroupGuard(LaneBuilder &builder, int lanes)
    : builder(builder), outerLanes(builder.numLanes),
      outerZero(builder.groupZero) {
  builder.numLanes = lanes;
  builder.groupZero = builder.constant(builder.getI64Type(), 0);
}

LaneBuilder::GroupGuard::~GroupGuard() {
  builder.numLanes = outerLanes;
  builder.groupZero = outerZero;
}

Value LaneBuilder::constant(Type type, int64_t value) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    auto element = cast<IntegerType>(vector.getElementType());
    return arith::ConstantOp::create(
        *this, DenseElementsAttr::get(
                   vector, APInt(element.getWidth(), value, true, true)));
  }
  unsigned width = cast<IntegerType>(type).getWidth();
  return arith::ConstantOp::create(
      *this, getIntegerAttr(type, APInt(width, value, true, true)));
}

Value LaneBuilder::floatConstant(Type type, double value) {
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  APFloat number(value);
  bool lost;
  number.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &lost);
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(*this,
                                     DenseElementsAttr::get(vector, number));
  return arith::ConstantOp::create(*this, getFloatAttr(element, number));
}

Value LaneBuilder::splat(Value scalar, int lanes) {
  if (lanes == 1)
    return scalar;
  auto type = VectorType::get(lanes, scalar.getType());
  Attribute attribute;
  if (matchPattern(scalar, m_Constant(&attribute)) &&
      isa<IntegerAttr, FloatAttr>(attribute))
    return arith::ConstantOp::create(*this,
                                     DenseElementsAttr::get(type, attribute));
  Value undefined = LLVM::PoisonOp::create(*this, type);
  Value first = LLVM::InsertElementOp::create(*this, undefined, scalar,
                                              constant(getI32Type(), 0));
  return shuffle(first, undefined, SmallVector<int32_t>(lanes, 0));
}

Value LaneBuilder::toVector(const Lanes &group) {
  int n = lanes();
  if (group.vec)
    return group.vec;
  if (group.exact)
    return group.exact;
  if (group.isUniform() || n == 1)
    return splat(group.base, n);
  bool isPointer = isa<LLVM::LLVMPointerType>(group.base.getType());
  Type element = isPointer ? getI64Type() : group.base.getType();
  unsigned width = cast<IntegerType>(element).getWidth();
  SmallVector<APInt> values;
  for (int64_t value : group.pattern)
    values.push_back(APInt(width, value, true, true));
  auto type = VectorType::get(n, element);
  Value offsets =
      arith::ConstantOp::create(*this, DenseElementsAttr::get(type, values));
  if (isPointer)
    return LLVM::GEPOp::create(*this, VectorType::get(n, group.base.getType()),
                               getI8Type(), group.base,
                               ArrayRef<LLVM::GEPArg>{offsets});
  if (matchPattern(group.base, m_Zero()))
    return offsets;
  return arith::AddIOp::create(*this, splat(group.base, n), offsets);
}

Value LaneBuilder::toScalar(const Lanes &group) {
  return group.vec ? group.vec : group.base;
}

Value LaneBuilder::shuffle(Value lhs, Value rhs, ArrayRef<int32_t> mask) {
  return LLVM::ShuffleVectorOp::create(*this, lhs, rhs, mask);
}

Value LaneBuilder::extract(Value vec, int lane) {
  if (!isa<VectorType>(vec.getType()))
    return vec;
  return LLVM::ExtractElementOp::create(*this, vec,
                                        constant(getI32Type(), lane));
}

Value LaneBuilder::offset(Value ptr, Value bytes) {
  return LLVM::GEPOp::create(*this, ptr.getType(), getI8Type(), ptr,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value LaneBuilder::intrinsic(StringRef name, Type result, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(*this, result, getStringAttr(name),
                                       operands)
      .getResult(0);
}

Value LaneBuilder::compact(const Lanes &group) {
  return group.isUniform() ? group.base : toVector(group);
}

Lanes LaneBuilder::contiguous(Value first, int64_t step) {
  Lanes group = Lanes::uniform(first);
  for (int i = 0; i < lanes(); ++i)
    group.pattern.push_back(i * step);
  return group;
}

Lanes LaneBuilder::select(const Lanes &condition, const Lanes &yes,
                          const Lanes &no) {
  if (condition.isUniform() && yes.isUniform() && no.isUniform())
    return Lanes::uniform(
        arith::SelectOp::create(*this, condition.base, yes.base, no.base));
  Value choice = condition.isUniform() ? condition.base : toVector(condition);
  return Lanes::vector(
      arith::SelectOp::create(*this, choice, toVector(yes), toVector(no)));
}

SmallVector<Value> LaneBuilder::forLoop(
    int64_t from, int64_t to, int64_t step, ValueRange inits,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  Type i64 = getI64Type();
  if (from >= to)
    return inits;
  if (from + step >= to)
    return body(constant(i64, from), inits);
  return forLoop(constant(i64, from), constant(i64, to), step, inits, body);
}

SmallVector<Value> LaneBuilder::forLoop(
    Value from, Value to, int64_t step, ValueRange inits,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop =
      scf::ForOp::create(*this, from, to, constant(getI64Type(), step), inits);
  OpBuilder::InsertionGuard guard(*this);
  Block *block = loop.getBody();
  bool hasYield = !block->empty();
  setInsertionPointToStart(block);
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!hasYield)
    scf::YieldOp::create(*this, next);
  return loop.getResults();
}

void LaneBuilder::forLoop(int64_t from, int64_t to, int64_t step,
                          llvm::function_ref<void(Value)> body) {
  forLoop(from, to, step, ValueRange(),
          [&](Value iv, ValueRange) -> SmallVector<Value> {
            body(iv);
            return {};
          });
}

void LaneBuilder::ifTrue(Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(*this, condition, /*withElseRegion=*/false);
  InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  body();
}
