// SPDX-License-Identifier: Apache-2.0
//
// Products of scaled narrow floats become products of bf16 or f32, whose
// operands are computed with operations on tensors. The conversions use integer
// operations, so that no intermediate result is a subnormal float.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::expand_dot_scaled {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_EXPANDDOTSCALEDPASS
#include "ExpandDotScaled.h.inc"
} // namespace mlir::triton_ext::expand_dot_scaled

using namespace mlir;
namespace tt = mlir::triton;
using Format = tt::ScaleDotElemType;

/// The significant bits of a bf16, with the leading one.
constexpr unsigned bitsOfBF16 = 8;

namespace {
/// One operand of a product. `dimOfK` and `dimOfRows` are its dimensions; the
/// rows of the right operand are its columns.
struct Operand {
  Value elements, scales;
  Format format;
  int64_t dimOfK, dimOfRows;
  bool isPackedAlongK;

  static Operand left(tt::DotScaledOp op) {
    int64_t last = op.getType().getRank() - 1;
    return {op.getA(), op.getAScale(), op.getAElemType(),
            last,      last - 1,       op.getLhsKPack()};
  }
  static Operand right(tt::DotScaledOp op) {
    int64_t last = op.getType().getRank() - 1;
    return {op.getB(), op.getBScale(), op.getBElemType(),
            last - 1,  last,           op.getRhsKPack()};
  }

  bool hasSixBits() const {
    return format == Format::E2M3 || format == Format::E3M2;
  }
  /// Returns the most significant bits of an element times its scale.
  unsigned significantBits() const;
};

/// Builds the operands of a product as f32.
class Expansion {
public:
  Expansion(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  /// Returns the elements times their scales.
  Value scaled(const Operand &operand);
  Value convert(Value value, Type element);
  Value multiply(Value left, Value right, Value sum);

private:
  Value integer(Value like, int64_t value);
  Value cast32(Value value, Type element) {
    return arith::BitcastOp::create(b, loc, withElement(value, element), value);
  }
  Value widened(Value value) {
    return arith::ExtUIOp::create(b, loc, withElement(value, b.getI32Type()),
                                  value);
  }
  Value equals(Value value, int64_t number) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, value,
                                 integer(value, number));
  }
  static Type withElement(Value value, Type element) {
    return cast<RankedTensorType>(value.getType()).clone(element);
  }
  Value reshaped(Value value, ArrayRef<int64_t> shape) {
    return tt::ReshapeOp::create(b, loc, shape, value, /*allowReorder=*/false);
  }

  /// Unpacks the two elements of each byte, the low one first, along `dim`.
  Value unpack(Value packed, int64_t dim);
  /// Converts codes of four bits: a sign, two bits of exponent with the bias 1
  /// and one bit of mantissa. Ignores higher bits.
  Value fromE2M1(Value codes);
  /// Converts codes that are exponents with the bias 127; 255 is NaN.
  Value fromE8M0(Value codes);
  Value elements(const Operand &operand);
  /// Returns a scale for each element of an operand of `shape`.
  Value factors(const Operand &operand, ArrayRef<int64_t> shape);

  OpBuilder &b;
  Location loc;
};
} // namespace

unsigned Operand::significantBits() const {
  auto precision = [](Type type) {
    return llvm::APFloat::semanticsPrecision(
        cast<FloatType>(type).getFloatSemantics());
  };
  MLIRContext *context = elements.getContext();
  auto typeOfElements = [&]() -> Type {
    switch (format) {
    case Format::E2M1:
      return Float4E2M1FNType::get(context);
    case Format::E4M3:
      return Float8E4M3FNType::get(context);
    case Format::E5M2:
      return Float8E5M2Type::get(context);
    default:
      return getElementTypeOrSelf(elements.getType());
    }
  };
  unsigned bits = precision(typeOfElements());
  // A scale that is an integer stands for a power of two, which adds no bit.
  if (scales && !getElementTypeOrSelf(scales.getType()).isInteger())
    bits += precision(getElementTypeOrSelf(scales.getType()));
  return bits;
}

Value Expansion::integer(Value like, int64_t value) {
  auto type = cast<RankedTensorType>(like.getType());
  auto number = b.getIntegerAttr(type.getElementType(), value);
  return arith::ConstantOp::create(b, loc,
                                   DenseElementsAttr::get(type, number));
}

Value Expansion::unpack(Value packed, int64_t dim) {
  Value high = arith::ShRUIOp::create(b, loc, packed, integer(packed, 4));
  Value pairs = tt::JoinOp::create(b, loc, packed, high);
  auto type = cast<RankedTensorType>(packed.getType());
  int64_t rank = type.getRank();
  if (dim != rank - 1) {
    auto order = llvm::to_vector(llvm::seq<int32_t>(0, rank));
    order.insert(order.begin() + dim + 1, rank);
    pairs = tt::TransOp::create(b, loc, pairs, order);
  }
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] *= 2;
  return reshaped(pairs, shape);
}

Value Expansion::fromE2M1(Value codes) {
  Value wide = widened(codes);
  auto masked = [&](int64_t mask) {
    return arith::AndIOp::create(b, loc, wide, integer(wide, mask));
  };
  auto shifted = [&](Value value, int64_t by) {
    return arith::ShLIOp::create(b, loc, value, integer(value, by));
  };
  // With the exponent 0, the number is 0 or 0.5.
  Value half =
      arith::SelectOp::create(b, loc, equals(masked(1), 1),
                              integer(wide, 0x3F000000), integer(wide, 0));
  // The bias of f32 is 126 larger.
  Value normal = arith::AddIOp::create(b, loc, shifted(masked(7), 22),
                                       integer(wide, int64_t(126) << 23));
  Value magnitude =
      arith::SelectOp::create(b, loc, equals(masked(6), 0), half, normal);
  Value bits = arith::OrIOp::create(b, loc, magnitude, shifted(masked(8), 28));
  return cast32(bits, b.getF32Type());
}

Value Expansion::fromE8M0(Value codes) {
  Value wide = widened(codes);
  Value power = arith::ShLIOp::create(b, loc, wide, integer(wide, 23));
  auto replace = [&](int64_t code, int64_t bits) {
    power = arith::SelectOp::create(b, loc, equals(wide, code),
                                    integer(wide, bits), power);
  };
  replace(0, 0x00400000); // 2^-127, a subnormal f32
  replace(255, 0x7FC00000);
  return cast32(power, b.getF32Type());
}

Value Expansion::convert(Value value, Type element) {
  auto from = cast<FloatType>(getElementTypeOrSelf(value.getType()));
  Type type = withElement(value, element);
  if (from == element)
    return value;
  if (from.getWidth() == 8)
    return tt::FpToFpOp::create(b, loc, type, value);
  if (from.getWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, loc, type, value);
  return arith::TruncFOp::create(b, loc, type, value);
}

Value Expansion::elements(const Operand &operand) {
  Value value = operand.elements;
  if (operand.format == Format::E2M1)
    return fromE2M1(unpack(value, operand.isPackedAlongK ? operand.dimOfK
                                                         : operand.dimOfRows));
  if (getElementTypeOrSelf(value.getType()).isInteger()) {
    Type type = operand.format == Format::E4M3
                    ? Type(b.getType<Float8E4M3FNType>())
                    : Type(b.getType<Float8E5M2Type>());
    value = tt::BitcastOp::create(b, loc, withElement(value, type), value);
  }
  return convert(value, b.getF32Type());
}

Value Expansion::factors(const Operand &operand, ArrayRef<int64_t> shape) {
  Value scales = operand.scales;
  int64_t rank = shape.size();
  // Rows of scales run along K, also for the right operand. They are transposed
  // before they are converted and repeated: a backend that stores them then has
  // neighbours along the rows of the operand side by side.
  if (operand.dimOfK != rank - 1) {
    auto order = llvm::to_vector(llvm::seq<int32_t>(0, rank));
    std::swap(order[operand.dimOfK], order[operand.dimOfRows]);
    scales = tt::TransOp::create(b, loc, scales, order);
  }
  Value numbers = getElementTypeOrSelf(scales.getType()).isInteger()
                      ? fromE8M0(scales)
                      : convert(scales, b.getF32Type());
  auto type = cast<RankedTensorType>(numbers.getType());
  SmallVector<int64_t> each(type.getShape());
  int64_t repeats = shape[operand.dimOfK] / each[operand.dimOfK];
  each.insert(each.begin() + operand.dimOfK + 1, repeats);
  Value repeated = tt::BroadcastOp::create(
      b, loc, type.clone(each),
      tt::ExpandDimsOp::create(b, loc, numbers, operand.dimOfK + 1));
  return reshaped(repeated, shape);
}

Value Expansion::scaled(const Operand &operand) {
  Value value = elements(operand);
  if (!operand.scales)
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  return arith::MulFOp::create(b, loc, value,
                               factors(operand, type.getShape()));
}

Value Expansion::multiply(Value left, Value right, Value sum) {
  return tt::DotOp::create(b, loc, sum.getType(), left, right, sum,
                           tt::InputPrecision::IEEE, /*maxNumImpreciseAcc=*/0);
}

/// Replaces the product, as one of bf16 if `narrow` is set and changes nothing.
static void expand(tt::DotScaledOp op, bool narrow) {
  Operand left = Operand::left(op), right = Operand::right(op);
  if (left.hasSixBits() || right.hasSixBits())
    return;
  OpBuilder b(op);
  Expansion expansion(b, op.getLoc());
  bool isNarrow = narrow && left.significantBits() <= bitsOfBF16 &&
                  right.significantBits() <= bitsOfBF16;
  Type element = isNarrow ? Type(b.getBF16Type()) : Type(b.getF32Type());
  Value product =
      expansion.multiply(expansion.convert(expansion.scaled(left), element),
                         expansion.convert(expansion.scaled(right), element),
                         expansion.convert(op.getC(), b.getF32Type()));
  op.replaceAllUsesWith(expansion.convert(
      product, cast<RankedTensorType>(op.getType()).getElementType()));
  op.erase();
}

namespace {
struct ExpandDotScaledPass
    : mlir::triton_ext::expand_dot_scaled::impl::ExpandDotScaledPassBase<
          ExpandDotScaledPass> {
  using ExpandDotScaledPassBase::ExpandDotScaledPassBase;

  void runOnOperation() override {
    getOperation().walk([&](tt::DotScaledOp op) { expand(op, narrow); });
  }
};
} // namespace
