// SPDX-License-Identifier: Apache-2.0
//
// Emits one operation on scalars or vectors. If x86 traps on an input, or LLVM
// leaves its result undefined, and a GPU has a result, the code has a guard.

#include "Elementwise.h"

#include "Operations.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// Emits the same operation with the given operands and result type.
static Value cloneWith(LaneBuilder &b, Operation *op, ValueRange operands,
                       Type result) {
  OperationState state(b.getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(result);
  for (NamedAttribute attribute : op->getAttrs())
    if (!attribute.getName().strref().starts_with("tt."))
      state.addAttribute(attribute.getName(), attribute.getValue());
  return b.create(state)->getResult(0);
}

Value Elementwise::divide(Operation *op, Value lhs, Value rhs) {
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp>(op);
  bool isRemainder = isa<arith::RemSIOp, arith::RemUIOp>(op);
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
  Value zero = b.constant(type, 0), one = b.constant(type, 1);
  Value isZero = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rhs, zero);
  if (isa<VectorType>(type) && width <= 32) {
    // x86 has no division of integer vectors. Truncating the quotient of
    // doubles is exact for integers of up to 32 bits.
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
    if (!isRemainder)
      return integer;
    return arith::SubIOp::create(b, lhs,
                                 arith::MulIOp::create(b, integer, rhs));
  }
  rhs = arith::SelectOp::create(b, isZero, one, rhs);
  if (isSigned) {
    Value minimum =
        b.constant(type, APInt::getSignedMinValue(width).getSExtValue());
    Value overflows = arith::AndIOp::create(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lhs, minimum),
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rhs,
                              b.constant(type, -1)));
    rhs = arith::SelectOp::create(b, overflows, one, rhs);
  }
  return cloneWith(b, op, {lhs, rhs}, type);
}

/// Divides all lanes by one number. Multiplies by its reciprocal if that is a
/// normal number; this is within 1.5 ulp (a GPU is within 2). Else divides.
Value Elementwise::divideBy(Value lanes, Value divisor) {
  Type f32 = b.getF32Type(), type = lanes.getType();
  int n = b.lanes();
  Value magnitude = b.intrinsic("llvm.fabs", f32, {divisor});
  auto compare = [&](arith::CmpFPredicate predicate, double limit) {
    return arith::CmpFOp::create(b, predicate, magnitude,
                                 b.floatConstant(f32, limit));
  };
  Value isNormal = arith::AndIOp::create(
      b, compare(arith::CmpFPredicate::OGE, std::ldexp(1.0, -126)),
      compare(arith::CmpFPredicate::OLE, std::ldexp(1.0, 126)));
  auto branch = scf::IfOp::create(b, TypeRange{type}, isNormal, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value reciprocal =
      arith::DivFOp::create(b, b.floatConstant(f32, 1.0), divisor);
  scf::YieldOp::create(
      b, ValueRange{arith::MulFOp::create(b, lanes, b.splat(reciprocal, n))});
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(
      b, ValueRange{arith::DivFOp::create(b, lanes, b.splat(divisor, n))});
  return branch.getResult(0);
}

/// Computes in f32 if an operand is bf16, for which there is no arithmetic: f32
/// and one rounding at the end give the same result. Null if no operand is
/// bf16.
Value Elementwise::computeWide(Operation *op, ValueRange operands,
                               Type result) {
  auto source = [&](int i) {
    return getElementTypeOrSelf(op->getOperand(i).getType());
  };
  bool isCast =
      isa<arith::ExtFOp, arith::TruncFOp, triton::FpToFpOp, arith::SelectOp,
          arith::ConstantOp, triton::BitcastOp, arith::BitcastOp>(op);
  auto isBrain = [&](int i) {
    return source(i).isBF16() &&
           getElementTypeOrSelf(operands[i].getType()).isInteger(16);
  };
  if (isCast || llvm::none_of(llvm::seq<int>(0, operands.size()), isBrain))
    return {};
  Type f32 = b.getF32Type(), bf16 = b.getBF16Type();
  SmallVector<Value> wide;
  for (auto [i, v] : llvm::enumerate(operands))
    wide.push_back(isBrain(i) ? conversion.convert(op, v, bf16, f32)
                              : Value(v));
  bool narrows = getElementTypeOrSelf(op->getResult(0).getType()).isBF16();
  Value value = compute(op, wide, narrows ? like(operands[0], f32) : result);
  return narrows ? conversion.convert(op, value, f32, bf16) : value;
}

/// Emits a shift. An amount of at least the width, for which LLVM's shifts are
/// poison, gives 0; in an arithmetic shift right, it gives the sign in all
/// bits.
Value Elementwise::shift(Operation *op, ValueRange operands, Type result) {
  unsigned width = getElementTypeOrSelf(result).getIntOrFloatBitWidth();
  APInt number;
  if (matchPattern(operands[1], m_ConstantInt(&number)) && number.ult(width))
    return cloneWith(b, op, operands, result);
  Value limit = b.constant(result, width);
  Value fits =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, operands[1], limit);
  Value by = arith::SelectOp::create(
      b, fits, operands[1],
      b.constant(result, isa<arith::ShRSIOp>(op) ? width - 1 : 0));
  Value shifted = cloneWith(b, op, {operands[0], by}, result);
  if (isa<arith::ShRSIOp>(op))
    return shifted;
  return arith::SelectOp::create(b, fits, shifted, b.constant(result, 0));
}

Value Elementwise::compute(Operation *op, ValueRange operands, Type result) {
  Type element = getElementTypeOrSelf(result);
  auto source = [&](int i) {
    return getElementTypeOrSelf(op->getOperand(i).getType());
  };
  Type destination = getElementTypeOrSelf(op->getResult(0).getType());
  StringRef name = op->getName().getStringRef();

  if (Value value = computeWide(op, operands, result))
    return value;
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return divide(op, operands[0], operands[1]);
  if (isa<arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp>(op))
    return shift(op, operands, result);
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op)) {
    bool isSigned = isa<arith::FPToSIOp>(op);
    // The conversion saturates and turns NaN into 0, as on a GPU.
    if (element.isInteger(1))
      return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, operands[0],
                                   b.floatConstant(operands[0].getType(), 0.0));
    return b.intrinsic(isSigned ? "llvm.fptosi.sat" : "llvm.fptoui.sat", result,
                       operands);
  }
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    if (!destination.isBF16())
      return cloneWith(b, op, operands, result);
    // An i32 goes through f64, which represents it exactly. An i64 is rounded
    // twice: to f32, then to bf16.
    Value wide = cloneWith(b, op, operands, like(operands[0], b.getF64Type()));
    if (getElementTypeOrSelf(operands[0].getType()).getIntOrFloatBitWidth() <=
        32)
      return conversion.convert(op, wide, b.getF64Type(), destination);
    Value single =
        cloneWith(b, op, operands, like(operands[0], b.getF32Type()));
    return conversion.convert(op, single, b.getF32Type(), destination);
  }
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return conversion.convert(op, operands[0], source(0), destination);
  if (auto cast = dyn_cast<triton::FpToFpOp>(op)) {
    bool rtz = cast.getRounding() == triton::RoundingMode::RTZ;
    return conversion.convert(op, operands[0], source(0), destination, rtz);
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
      by = arith::MulIOp::create(b, by, b.constant(i64, bytes));
    return LLVM::GEPOp::create(b, result, b.getI8Type(), operands[0],
                               ArrayRef<LLVM::GEPArg>{by});
  }
  if (auto clamp = dyn_cast<triton::ClampFOp>(op)) {
    bool nan = clamp.getPropagateNan() == triton::PropagateNan::ALL;
    Value low = b.intrinsic(nan ? "llvm.maximum" : "llvm.maxnum", result,
                            {operands[0], operands[1]});
    return b.intrinsic(nan ? "llvm.minimum" : "llvm.minnum", result,
                       {low, operands[2]});
  }
  if (isa<triton::PreciseDivFOp, triton::ApproxDivFOp>(op))
    return arith::DivFOp::create(b, operands[0], operands[1]);
  if (isa<triton::PreciseSqrtOp>(op))
    return b.intrinsic("llvm.sqrt", result, operands);
  if (isa<arith::RemFOp>(op))
    return functions.callScalar(element.isF64() ? "fmod" : "fmodf", operands,
                                result);
  if (isa<triton::MulhiUIOp>(op)) {
    unsigned width = element.getIntOrFloatBitWidth();
    Type wide = like(operands[0], b.getIntegerType(2 * width));
    Value product =
        arith::MulIOp::create(b, arith::ExtUIOp::create(b, wide, operands[0]),
                              arith::ExtUIOp::create(b, wide, operands[1]));
    return arith::TruncIOp::create(
        b, result, arith::ShRUIOp::create(b, product, b.constant(wide, width)));
  }
  if (auto external = dyn_cast<triton::ExternElementwiseOp>(op))
    return functions.callExternal(external, operands);
  if (auto assembly = dyn_cast<triton::ElementwiseInlineAsmOp>(op)) {
    // An extension that emits assembly for x86-64 sets the attribute `target`.
    auto target = op->getAttrOfType<StringAttr>("target");
    if (target && target.getValue() == "x86-64" && operands.empty())
      return LLVM::InlineAsmOp::create(
                 b, result, operands, assembly.getAsmString(),
                 assembly.getConstraints(),
                 /*has_side_effects=*/!assembly.getPure(),
                 /*is_align_stack=*/false, LLVM::TailCallKind::None,
                 LLVM::AsmDialectAttr::get(b.getContext(),
                                           LLVM::AsmDialect::AD_ATT),
                 /*operand_attrs=*/ArrayAttr())
          .getResult(0);
    auto why = op->getAttrOfType<StringAttr>("ptx.refused");
    return context.error(
        op, "inline assembly is written for a GPU, the CPU cannot run it (" +
                (why ? "PTX: " + why.getValue() + "; " : Twine()) +
                "use the operations of triton.language)");
  }
  if (name.consume_front("math."))
    return functions.call(op, name, operands);
  if (name.starts_with("arith.") && op->getNumResults() == 1) {
    if (auto compare = dyn_cast<arith::CmpIOp>(op);
        compare && isa<triton::PointerType>(source(0)))
      return LLVM::ICmpOp::create(
          b, LLVM::ICmpPredicate(int(compare.getPredicate())), operands[0],
          operands[1]);
    // The condition of a select may be a scalar for all lanes.
    return cloneWith(b, op, operands, result);
  }
  return context.error(op, "not supported on the CPU");
}
