// SPDX-License-Identifier: Apache-2.0
//
// Converts matrix products. Microscaled operands are first multiplied by their
// scales in f32, which represents all values and scales exactly.

#include "Builders.h"
#include "Conversion.h"

#include "mlir/Transforms/DialectConversion.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;
using Rewriter = ConversionPatternRewriter;

static Value product(OpBuilder &builder, Location loc, Value a, Value b,
                     Value c) {
  SmallVector<Value> inputs{a, b};
  if (cast<RankedTensorType>(c.getType()).getRank() == 3)
    return linalg::BatchMatmulOp::create(builder, loc, c.getType(), inputs, c)
        ->getResult(0);
  return linalg::MatmulOp::create(builder, loc, c.getType(), inputs, c)
      ->getResult(0);
}

namespace {

struct DotPattern : OpConversionPattern<tt::DotOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::DotOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    rewriter.replaceOp(op, product(rewriter, op.getLoc(), adaptor.getA(),
                                   adaptor.getB(), adaptor.getC()));
    return success();
  }
};

/// Converts microscaled matrices to f32, elementwise on tensors.
struct Unscaler {
  Value constant(Value like, TypedAttr value) {
    auto type = cast<RankedTensorType>(like.getType()).clone(value.getType());
    return arith::ConstantOp::create(
        builder, loc, cast<TypedAttr>(DenseElementsAttr::get(type, value)));
  }
  Value integer(Value like, int64_t value) {
    return constant(like, builder.getIntegerAttr(
                              getElementTypeOrSelf(like.getType()), value));
  }
  Value cast32(Value value, Type element) {
    return arith::BitcastOp::create(
        builder, loc, withElement(value.getType(), element), value);
  }
  Value widened(Value value) {
    return arith::ExtUIOp::create(
        builder, loc, withElement(value.getType(), builder.getI32Type()),
        value);
  }
  Value equals(Value value, int64_t number) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, value,
                                 integer(value, number));
  }

  /// Unpacks the two elements of each byte, the low one first, along `dim`.
  Value unpack(Value packed, int64_t dim);
  /// Converts numbers of four bits: the sign, two bits of exponent and one bit
  /// of mantissa.
  Value fromE2M1(Value bits);
  /// Converts powers of two: the byte is the exponent, with a bias of 127; 255
  /// is NaN.
  Value fromE8M0(Value bits);
  Value toF32(Value value);
  Value values(Value operand, tt::ScaleDotElemType format, int64_t packedDim);
  /// Returns a scale for each element of a matrix with `size` elements in a
  /// row.
  Value scales(Value scale, int64_t size);

  OpBuilder &builder;
  Location loc;
};

} // namespace

Value Unscaler::unpack(Value packed, int64_t dim) {
  auto type = cast<RankedTensorType>(packed.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] *= 2;
  Value low = arith::AndIOp::create(builder, loc, packed, integer(packed, 15));
  Value high = arith::ShRUIOp::create(builder, loc, packed, integer(packed, 4));
  Value whole = emptyOf(builder, loc, type.clone(shape));
  for (auto [index, part] : llvm::enumerate(SmallVector<Value>{low, high})) {
    SmallVector<OpFoldResult> offsets, sizes, strides;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      offsets.push_back(builder.getIndexAttr(d == dim ? index : 0));
      sizes.push_back(builder.getIndexAttr(type.getDimSize(d)));
      strides.push_back(builder.getIndexAttr(d == dim ? 2 : 1));
    }
    whole = tensor::InsertSliceOp::create(builder, loc, part, whole, offsets,
                                          sizes, strides);
  }
  return whole;
}

Value Unscaler::fromE2M1(Value bits) {
  Value wide = widened(bits);
  auto masked = [&](int64_t mask) {
    return arith::AndIOp::create(builder, loc, wide, integer(wide, mask));
  };
  auto shifted = [&](Value value, int64_t by) {
    return arith::ShLIOp::create(builder, loc, value, integer(value, by));
  };
  // Numbers with exponent 0 are subnormal: 0 or 0.5.
  Value half =
      arith::SelectOp::create(builder, loc, equals(masked(1), 1),
                              integer(wide, 0x3F000000), integer(wide, 0));
  Value normal = arith::AddIOp::create(builder, loc, shifted(masked(7), 22),
                                       integer(wide, int64_t(126) << 23));
  Value isSmall = equals(masked(6), 0);
  Value magnitude =
      arith::SelectOp::create(builder, loc, isSmall, half, normal);
  Value both =
      arith::OrIOp::create(builder, loc, magnitude, shifted(masked(8), 28));
  return cast32(both, builder.getF32Type());
}

Value Unscaler::fromE8M0(Value bits) {
  Value wide = widened(bits);
  Value power = arith::ShLIOp::create(builder, loc, wide, integer(wide, 23));
  // 2^-127 is subnormal in f32.
  power = arith::SelectOp::create(builder, loc, equals(wide, 0),
                                  integer(wide, 0x00400000), power);
  power = arith::SelectOp::create(builder, loc, equals(wide, 255),
                                  integer(wide, 0x7FC00000), power);
  return cast32(power, builder.getF32Type());
}

Value Unscaler::toF32(Value value) {
  Type f32 = builder.getF32Type();
  if (getElementTypeOrSelf(value.getType()) == f32)
    return value;
  return arith::ExtFOp::create(builder, loc, withElement(value.getType(), f32),
                               value);
}

Value Unscaler::values(Value operand, tt::ScaleDotElemType format,
                       int64_t packedDim) {
  if (format == tt::ScaleDotElemType::E2M1)
    return fromE2M1(unpack(operand, packedDim));
  if (getElementTypeOrSelf(operand.getType()).isInteger()) {
    bool isE4M3 = format == tt::ScaleDotElemType::E4M3;
    operand = cast32(operand, isE4M3 ? Type(builder.getType<Float8E4M3FNType>())
                                     : Type(builder.getType<Float8E5M2Type>()));
  }
  return toF32(operand);
}

Value Unscaler::scales(Value scale, int64_t size) {
  Value numbers = getElementTypeOrSelf(scale.getType()).isInteger()
                      ? fromE8M0(scale)
                      : toF32(scale);
  auto type = cast<RankedTensorType>(numbers.getType());
  int64_t rank = type.getRank(), last = rank - 1;
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(size / shape.back());
  Value repeated =
      linalg::BroadcastOp::create(
          builder, loc, numbers, emptyOf(builder, loc, type.clone(shape)), rank)
          ->getResult(0);
  shape.pop_back();
  shape[last] = size;
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < rank; ++dim)
    groups.push_back({dim});
  groups.back().push_back(rank);
  return tensor::CollapseShapeOp::create(builder, loc, type.clone(shape),
                                         repeated, groups);
}

namespace {

struct DotScaledPattern : OpConversionPattern<tt::DotScaledOp> {
  using OpConversionPattern::OpConversionPattern;

  static Reason whyNot(tt::DotScaledOp op) {
    using Format = tt::ScaleDotElemType;
    for (Format format : {op.getAElemType(), op.getBElemType()})
      if (format == Format::E2M3 || format == Format::E3M2)
        return "no type has the formats e2m3 and e3m2 (use e2m1, e4m3 or e5m2)";
    return std::nullopt;
  }

  LogicalResult matchAndRewrite(tt::DotScaledOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    if (Reason reason = whyNot(op))
      return rewriter.notifyMatchFailure(op, *reason);
    Location loc = op.getLoc();
    Unscaler unscaler{rewriter, loc};
    auto resultType = cast<RankedTensorType>(op.getType());
    int64_t last = resultType.getRank() - 1, before = last - 1;
    Value a = unscaler.values(adaptor.getA(), op.getAElemType(),
                              op.getLhsKPack() ? last : before);
    Value b = unscaler.values(adaptor.getB(), op.getBElemType(),
                              op.getRhsKPack() ? before : last);
    int64_t inner = cast<RankedTensorType>(a.getType()).getDimSize(last);
    if (Value scale = adaptor.getAScale())
      a = arith::MulFOp::create(rewriter, loc, a,
                                unscaler.scales(scale, inner));
    // A row of b's scales runs along the inner dimension, which is the first
    // of b, so the scales are transposed.
    if (Value scale = adaptor.getBScale()) {
      SmallVector<int64_t> order(
          llvm::to_vector(llvm::seq<int64_t>(0, last + 1)));
      std::swap(order[last], order[before]);
      Value transposed =
          linalg::TransposeOp::create(
              rewriter, loc, unscaler.scales(scale, inner),
              emptyOf(rewriter, loc, cast<RankedTensorType>(b.getType())),
              order)
              ->getResult(0);
      b = arith::MulFOp::create(rewriter, loc, b, transposed);
    }
    Value result = product(rewriter, loc, a, b, unscaler.toF32(adaptor.getC()));
    if (result.getType() != resultType)
      result = arith::TruncFOp::create(rewriter, loc, resultType, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void mlir::triton_ext::convert_triton_to_linalg::populateDotPatterns(
    const TypeConverter &converter, PatternSet &patterns) {
  patterns.add<DotPattern, DotScaledPattern>(converter);
}
