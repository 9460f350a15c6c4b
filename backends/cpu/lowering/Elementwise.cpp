// SPDX-License-Identifier: Apache-2.0
//
// One elementwise operation on lanes: address arithmetic keeps the form base +
// constant, everything else becomes the same operation on scalars or vectors,
// guarded where x86 or LLVM has no result for an input and a GPU has.

#include "Lowering.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// Returns address arithmetic as base + pattern, and no lanes if the result is
/// not known to have this form. If it has it under a condition, sets `exact`.
Lanes Lowering::integerPattern(Operation *op, ArrayRef<Lanes> operands) {
  if (llvm::any_of(operands, [](const Lanes &l) { return bool(l.vec); }))
    return {};
  Lanes result = patternOf(op, operands);
  if (!result)
    return {};
  for (const Lanes &operand : operands)
    if (operand.holds && result.holds)
      result.holds = b.createOrFold<arith::AndIOp>(result.holds, operand.holds);
    else if (operand.holds)
      result.holds = operand.holds;
  if (!result.holds)
    return result;
  SmallVector<Value> values;
  for (const Lanes &operand : operands)
    values.push_back(toVector(operand));
  Type type = convert(op->getResult(0).getType());
  Value exact = compute(op, values, VectorType::get(scope->lanes, type));
  // One address for all lanes would be one access.
  if (result.isUniform())
    return Lanes::vector(exact);
  result.exact = exact;
  return result;
}

/// Returns the result as base + pattern if its operands have this form. `holds`
/// is the condition that this operation needs, without those of its operands.
Lanes Lowering::patternOf(Operation *op, ArrayRef<Lanes> operands) {
  auto scalar = [&](ValueRange values) {
    return compute(op, values, convert(op->getResult(0).getType()));
  };
  auto constantOf = [&](const Lanes &lanes, APInt &number) {
    return lanes.isUniform() &&
           matchPattern(lanes.base, m_ConstantInt(&number));
  };
  Lanes result;
  APInt number;
  if (isa<arith::AddIOp>(op))
    return addLanes(operands[0], operands[1]);
  if (isa<arith::SubIOp>(op)) {
    result = Lanes::uniform(scalar({operands[0].base, operands[1].base}));
    result.pattern.assign(scope->lanes, 0);
    for (auto [i, p] : llvm::enumerate(operands[0].pattern))
      result.pattern[i] += p;
    for (auto [i, p] : llvm::enumerate(operands[1].pattern))
      result.pattern[i] -= p;
    return normalize(result);
  }
  if (isa<arith::MulIOp>(op)) {
    if (constantOf(operands[1], number))
      return scaleLanes(operands[0], number.getSExtValue());
    if (constantOf(operands[0], number))
      return scaleLanes(operands[1], number.getSExtValue());
    return {};
  }
  if (isa<arith::ShLIOp>(op) && constantOf(operands[1], number)) {
    // A shift by the width or more gives 0, as on a GPU.
    bool isOut = number.uge(number.getBitWidth());
    return scaleLanes(operands[0],
                      isOut ? 0 : int64_t(1) << number.getZExtValue());
  }
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op)) {
    if (convert(op->getResult(0).getType()).getIntOrFloatBitWidth() < 32)
      return {};
    result = Lanes::uniform(scalar({operands[0].base}));
    result.pattern = operands[0].pattern;
    // A truncation is exact modulo 2^width. An extension is not if some lanes
    // wrap around: with `uint32(i - n) < m` as the mask, the lanes before n
    // are 2^32 apart from the others.
    if (!isa<arith::TruncIOp>(op) && !neverWraps(operands[0]))
      result.holds = isa<arith::ExtUIOp>(op) ? staysUnsigned(operands[0])
                                             : staysSigned(operands[0]);
    return normalize(result);
  }
  if (isa<arith::RemSIOp, arith::RemUIOp>(op) && operands[0].isPattern() &&
      operands[1].isUniform()) {
    if (operands[0].exact)
      return {};
    // A group that starts at a multiple of its size stays in one piece.
    int64_t common = std::min(facts.divisor(operands[0].base),
                              facts.divisor(operands[1].base));
    if (llvm::any_of(operands[0].pattern,
                     [&](int64_t p) { return p < 0 || p >= common; }))
      return {};
    result = Lanes::uniform(scalar({operands[0].base, operands[1].base}));
    result.pattern = operands[0].pattern;
    // Below zero, a multiple of the divisor and what follows it are far apart:
    // of -32 and -31, the remainders by 32 are 0 and -31.
    if (isa<arith::RemSIOp>(op) && !facts.limit(operands[0].base))
      result.holds =
          arith::CmpIOp::create(b, arith::CmpIPredicate::sge, operands[0].base,
                                constant(operands[0].base.getType(), 0));
    return result;
  }
  if (isa<triton::AddPtrOp>(op)) {
    int64_t bytes = pointeeBytes(op->getResult(0).getType());
    Lanes by = operands[1];
    Type i64 = b.getI64Type();
    if (by.base.getType() != i64) {
      if (!neverWraps(by))
        result.holds = staysSigned(by);
      by.base = b.createOrFold<arith::ExtSIOp>(i64, by.base);
    }
    by = scaleLanes(by, bytes);
    result.base = offset(operands[0].base, by.base);
    result.pattern = operands[0].pattern;
    if (by.isPattern()) {
      result.pattern.resize(scope->lanes, 0);
      for (auto [i, p] : llvm::enumerate(by.pattern))
        result.pattern[i] += p;
    }
    return normalize(result);
  }
  return {};
}

Lanes Lowering::elementwise(Operation *op, ArrayRef<Lanes> operands) {
  Type element = convert(op->getResult(0).getType());
  bool isUniform = llvm::all_of(
      operands, [](const Lanes &lanes) { return lanes.isUniform(); });
  if (isa<triton::AddPtrOp>(op) || !isUniform)
    if (Lanes lanes = integerPattern(op, operands))
      return lanes;
  if (isa<arith::DivFOp>(op) && element.isF32() && !isUniform &&
      operands[1].isUniform())
    return Lanes::vector(divideBy(toVector(operands[0]), operands[1].base));
  SmallVector<Value> values;
  for (const Lanes &lanes : operands)
    values.push_back(isUniform ? lanes.base : toVector(lanes));
  if (isUniform)
    return Lanes::uniform(compute(op, values, element));
  int n = scope->lanes;
  return Lanes::vector(compute(
      op, values, n == 1 ? element : Type(VectorType::get(n, element))));
}

/// The operation itself with other operands and result types.
static Value cloneWith(ImplicitLocOpBuilder &b, Operation *op,
                       ValueRange operands, Type result) {
  OperationState state(b.getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(result);
  for (NamedAttribute attribute : op->getAttrs())
    if (!attribute.getName().strref().starts_with("tt."))
      state.addAttribute(attribute.getName(), attribute.getValue());
  return b.create(state)->getResult(0);
}

Value Lowering::divide(Operation *op, Value lhs, Value rhs, bool isSigned,
                       bool rem) {
  Type type = lhs.getType();
  auto element = cast<IntegerType>(getElementTypeOrSelf(type));
  unsigned width = element.getWidth();
  APInt number;
  DenseIntElementsAttr dense;
  bool isSafe = matchPattern(rhs, m_ConstantInt(&number)) ||
                (matchPattern(rhs, m_Constant(&dense)) && dense.isSplat() &&
                 (number = dense.getSplatValue<APInt>(), true));
  isSafe = isSafe && !number.isZero() && !number.isAllOnes();
  if (isSafe)
    return cloneWith(b, op, {lhs, rhs}, type);
  Value zero = constant(type, 0), one = constant(type, 1);
  Value isZero = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rhs, zero);
  if (isa<VectorType>(type) && width <= 32) {
    // x86 cannot divide vectors of integers; doubles give the exact quotient.
    Type wide = like(lhs, b.getF64Type()), i32 = like(lhs, b.getI32Type());
    Type i64 = like(lhs, b.getI64Type());
    rhs = arith::SelectOp::create(b, isZero, one, rhs);
    auto toDouble = [&](Value v) -> Value {
      if (isSigned)
        return arith::SIToFPOp::create(b, wide, v);
      return arith::UIToFPOp::create(b, wide, v);
    };
    Value quotient = arith::DivFOp::create(b, toDouble(lhs), toDouble(rhs));
    Value integer;
    // INT_MIN / -1 does not fit and wraps around.
    if (width == 32)
      integer = arith::TruncIOp::create(
          b, type, arith::FPToSIOp::create(b, i64, quotient));
    else
      integer = arith::TruncIOp::create(
          b, type, arith::FPToSIOp::create(b, i32, quotient));
    if (!rem)
      return integer;
    return arith::SubIOp::create(b, lhs,
                                 arith::MulIOp::create(b, integer, rhs));
  }
  rhs = arith::SelectOp::create(b, isZero, one, rhs);
  if (isSigned) {
    Value minimum =
        constant(type, APInt::getSignedMinValue(width).getSExtValue());
    Value overflows = arith::AndIOp::create(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lhs, minimum),
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rhs,
                              constant(type, -1)));
    rhs = arith::SelectOp::create(b, overflows, one, rhs);
  }
  return cloneWith(b, op, {lhs, rhs}, type);
}

/// All lanes by one number: times its reciprocal, within 1.5 ulp as on a GPU
/// (2 ulp), unless the reciprocal is not a normal number.
Value Lowering::divideBy(Value lanes, Value divisor) {
  Type f32 = b.getF32Type(), type = lanes.getType();
  int n = scope->lanes;
  Value magnitude = intrinsic("llvm.fabs", f32, {divisor});
  auto compare = [&](arith::CmpFPredicate predicate, double limit) {
    return arith::CmpFOp::create(b, predicate, magnitude,
                                 floatConstant(f32, limit));
  };
  Value isNormal = arith::AndIOp::create(
      b, compare(arith::CmpFPredicate::OGE, std::ldexp(1.0, -126)),
      compare(arith::CmpFPredicate::OLE, std::ldexp(1.0, 126)));
  auto branch = scf::IfOp::create(b, TypeRange{type}, isNormal, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value reciprocal = arith::DivFOp::create(b, floatConstant(f32, 1.0), divisor);
  scf::YieldOp::create(
      b, ValueRange{arith::MulFOp::create(b, lanes, splat(reciprocal, n))});
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(
      b, ValueRange{arith::DivFOp::create(b, lanes, splat(divisor, n))});
  return branch.getResult(0);
}

Value Lowering::intrinsic(StringRef name, Type result, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(b, result, b.getStringAttr(name),
                                       operands)
      .getResult(0);
}

Value Lowering::compute(Operation *op, ValueRange operands, Type result) {
  Type element = getElementTypeOrSelf(result);
  auto source = [&](int i) {
    return getElementTypeOrSelf(op->getOperand(i).getType());
  };
  Type destination = getElementTypeOrSelf(op->getResult(0).getType());
  StringRef name = op->getName().getStringRef();

  // bf16 has no arithmetic; f32 and one rounding give the same.
  bool isCast =
      isa<arith::ExtFOp, arith::TruncFOp, triton::FpToFpOp, arith::SelectOp,
          arith::ConstantOp, triton::BitcastOp, arith::BitcastOp>(op);
  auto isBrain = [&](int i) {
    return source(i).isBF16() &&
           getElementTypeOrSelf(operands[i].getType()).isInteger(16);
  };
  if (!isCast && llvm::any_of(llvm::seq<int>(0, operands.size()), isBrain)) {
    Type f32 = b.getF32Type(), bf16 = b.getBF16Type();
    SmallVector<Value> wide;
    for (auto [i, v] : llvm::enumerate(operands))
      wide.push_back(isBrain(i) ? convertFloat(op, v, bf16, f32, false)
                                : Value(v));
    bool narrows = destination.isBF16();
    Value value = compute(op, wide, narrows ? like(operands[0], f32) : result);
    return narrows ? convertFloat(op, value, f32, bf16, false) : value;
  }

  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return divide(op, operands[0], operands[1],
                  isa<arith::DivSIOp, arith::RemSIOp>(op),
                  isa<arith::RemSIOp, arith::RemUIOp>(op));
  if (isa<arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp>(op)) {
    APInt number;
    if (matchPattern(operands[1], m_ConstantInt(&number)))
      return cloneWith(b, op, operands, result);
    // A shift by the width or more: 0, or the sign.
    unsigned width = element.getIntOrFloatBitWidth();
    Value limit = constant(result, width);
    Value fits =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, operands[1], limit);
    Value by = arith::SelectOp::create(
        b, fits, operands[1],
        constant(result, isa<arith::ShRSIOp>(op) ? width - 1 : 0));
    Value shifted = cloneWith(b, op, {operands[0], by}, result);
    if (isa<arith::ShRSIOp>(op))
      return shifted;
    return arith::SelectOp::create(b, fits, shifted, constant(result, 0));
  }
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op)) {
    bool isSigned = isa<arith::FPToSIOp>(op);
    // Saturates, and 0 for NaN, as on a GPU.
    if (element.isInteger(1))
      return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, operands[0],
                                   floatConstant(operands[0].getType(), 0.0));
    return intrinsic(isSigned ? "llvm.fptosi.sat" : "llvm.fptoui.sat", result,
                     operands);
  }
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    if (!destination.isBF16())
      return cloneWith(b, op, operands, result);
    // Through f64, which holds every i32; i64 rounds to odd on the way.
    Value wide = cloneWith(b, op, operands, like(operands[0], b.getF64Type()));
    if (getElementTypeOrSelf(operands[0].getType()).getIntOrFloatBitWidth() <=
        32)
      return convertFloat(op, wide, b.getF64Type(), destination, false);
    Value single =
        cloneWith(b, op, operands, like(operands[0], b.getF32Type()));
    return convertFloat(op, single, b.getF32Type(), destination, false);
  }
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return convertFloat(op, operands[0], source(0), destination, false);
  if (auto cast = dyn_cast<triton::FpToFpOp>(op)) {
    bool rtz = cast.getRounding() == triton::RoundingMode::RTZ;
    return convertFloat(op, operands[0], source(0), destination, rtz);
  }
  if (isa<triton::BitcastOp, arith::BitcastOp>(op)) {
    if (operands[0].getType() == result)
      return operands[0];
    return LLVM::BitcastOp::create(b, result, operands[0]);
  }
  if (isa<triton::IntToPtrOp>(op))
    return LLVM::IntToPtrOp::create(b, result, operands[0]);
  if (isa<triton::PtrToIntOp>(op))
    return LLVM::PtrToIntOp::create(b, result, operands[0]);
  if (isa<triton::AddPtrOp>(op)) {
    Value by = operands[1];
    Type i64 = like(by, b.getI64Type());
    if (by.getType() != i64)
      by = arith::ExtSIOp::create(b, i64, by);
    int64_t bytes = pointeeBytes(op->getResult(0).getType());
    if (bytes > 1)
      by = arith::MulIOp::create(b, by, constant(i64, bytes));
    return LLVM::GEPOp::create(b, result, b.getI8Type(), operands[0],
                               ArrayRef<LLVM::GEPArg>{by});
  }
  if (auto clamp = dyn_cast<triton::ClampFOp>(op)) {
    bool nan = clamp.getPropagateNan() == triton::PropagateNan::ALL;
    Value low = intrinsic(nan ? "llvm.maximum" : "llvm.maxnum", result,
                          {operands[0], operands[1]});
    return intrinsic(nan ? "llvm.minimum" : "llvm.minnum", result,
                     {low, operands[2]});
  }
  if (isa<triton::PreciseDivFOp, triton::ApproxDivFOp>(op))
    return arith::DivFOp::create(b, operands[0], operands[1]);
  if (isa<triton::PreciseSqrtOp>(op))
    return intrinsic("llvm.sqrt", result, operands);
  if (isa<arith::RemFOp>(op))
    return callScalar(element.isF64() ? "fmod" : "fmodf", operands, result);
  if (isa<triton::MulhiUIOp>(op)) {
    unsigned width = element.getIntOrFloatBitWidth();
    Type wide = like(operands[0], b.getIntegerType(2 * width));
    Value product =
        arith::MulIOp::create(b, arith::ExtUIOp::create(b, wide, operands[0]),
                              arith::ExtUIOp::create(b, wide, operands[1]));
    return arith::TruncIOp::create(
        b, result, arith::ShRUIOp::create(b, product, constant(wide, width)));
  }
  if (auto external = dyn_cast<triton::ExternElementwiseOp>(op))
    return externFunction(external, operands);
  if (isa<triton::ElementwiseInlineAsmOp>(op))
    return error(op, "inline assembly is written for a GPU, the CPU cannot run "
                     "it (use the operations of triton.language)");
  if (name.consume_front("math."))
    return mathFunction(op, name, operands);
  if (name.starts_with("arith.") && op->getNumResults() == 1) {
    if (auto compare = dyn_cast<arith::CmpIOp>(op);
        compare && isa<triton::PointerType>(source(0)))
      return LLVM::ICmpOp::create(
          b, LLVM::ICmpPredicate(int(compare.getPredicate())), operands[0],
          operands[1]);
    // A condition may be one for all lanes.
    return cloneWith(b, op, operands, result);
  }
  return error(op, "not supported on the CPU");
}
