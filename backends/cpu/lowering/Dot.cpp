// SPDX-License-Identifier: Apache-2.0
//
// Matrix products: operands go to scratch memory in the type that is
// multiplied, then blocks of the result are kept in registers over all of K.
// `multiply` is where packed layouts, AMX and the units for bf16 plug in.

#include "Lowering.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// c += a * b for row-major a, b, c of one element type; c's rows and columns
/// are the last two dimensions, what is before them are batches.
void Lowering::multiply(const Buffer &a, const Buffer &b2, const Buffer &c) {
  Type element = c.element;
  int rank = c.shape.size();
  int64_t M = c.shape[rank - 2], N = c.shape[rank - 1], K = a.shape[rank - 1];
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  // As many sums as leave registers for the operands: 16 of 32, or 8 of 16.
  int64_t vectorBytes = this->vectorBytes();
  bool hasFma = this->hasFma();
  int registers = vectorBytes == 64 ? 16 : 8;
  int lanes = std::min<int64_t>(vectorBytes / bytes, N);
  int columns = std::min<int64_t>(vectorBytes == 64 ? 4 : 2, N / lanes);
  int rows = std::min<int64_t>(registers / columns, M);
  bool isFloat = isa<FloatType>(element);
  Type i64 = b.getI64Type();
  auto vectorType =
      lanes == 1 ? element : Type(VectorType::get(lanes, element));
  auto at = [&](Value base, Value row, int64_t addRow, int64_t stride,
                Value column, int64_t addColumn) {
    Value index = b.createOrFold<arith::MulIOp>(row, constant(i64, stride));
    index = b.createOrFold<arith::AddIOp>(index, column);
    Value address = LLVM::GEPOp::create(b, base.getType(), element, base,
                                        ArrayRef<LLVM::GEPArg>{index});
    int32_t constantPart = addRow * stride + addColumn;
    return constantPart ? Value(LLVM::GEPOp::create(
                              b, base.getType(), element, address,
                              ArrayRef<LLVM::GEPArg>{constantPart}))
                        : address;
  };
  SmallVector<int64_t> batches(c.shape.begin(), c.shape.end() - 2);
  forTile(
      batches, std::max(0, rank - 3),
      [&](const Coords &batch) {
        Value number = constant(i64, 0);
        for (auto [i, coord] : llvm::enumerate(batch)) {
          number =
              b.createOrFold<arith::MulIOp>(number, constant(i64, batches[i]));
          number = b.createOrFold<arith::AddIOp>(number, coord.base);
        }
        auto plane = [&](const Buffer &buffer, int64_t size) -> Value {
          if (batches.empty())
            return buffer.ptr;
          return offset(buffer.ptr, b.createOrFold<arith::MulIOp>(
                                        number, constant(i64, size * bytes)));
        };
        Value pa = plane(a, M * K), pb = plane(b2, K * N), pc = plane(c, M * N);
        auto block = [&](Value i, Value j) {
          SmallVector<Value> sums;
          for (int r = 0; r < rows; ++r)
            for (int v = 0; v < columns; ++v)
              sums.push_back(LLVM::LoadOp::create(
                  b, vectorType, at(pc, i, r, N, j, v * lanes), bytes));
          sums = forLoop(0, K, 1, sums, [&](Value k, ValueRange carried) {
            SmallVector<Value> next(carried), right;
            for (int v = 0; v < columns; ++v)
              right.push_back(LLVM::LoadOp::create(
                  b, vectorType, at(pb, k, 0, N, j, v * lanes), bytes));
            for (int r = 0; r < rows; ++r) {
              Value left = splat(LLVM::LoadOp::create(
                                     b, element, at(pa, i, r, K, k, 0), bytes),
                                 lanes);
              for (int v = 0; v < columns; ++v) {
                Value &sum = next[r * columns + v];
                if (isFloat && hasFma)
                  sum = LLVM::FMAOp::create(b, left, right[v], sum);
                else if (isFloat)
                  sum = arith::AddFOp::create(
                      b, sum, arith::MulFOp::create(b, left, right[v]));
                else
                  sum = arith::AddIOp::create(
                      b, sum, arith::MulIOp::create(b, left, right[v]));
              }
            }
            return next;
          });
          for (int r = 0; r < rows; ++r)
            for (int v = 0; v < columns; ++v)
              LLVM::StoreOp::create(b, sums[r * columns + v],
                                    at(pc, i, r, N, j, v * lanes), bytes);
        };
        forLoop(0, N, lanes * columns, ValueRange(),
                [&](Value j, ValueRange) -> SmallVector<Value> {
                  forLoop(0, M, rows, ValueRange(),
                          [&](Value i, ValueRange) -> SmallVector<Value> {
                            block(i, j);
                            return {};
                          });
                  return {};
                });
      },
      /*maxLanes=*/1);
}

void Lowering::lowerDot(triton::DotOp op) {
  auto type = op.getType();
  Type result = type.getElementType();
  auto typeOf = [&](Value value) {
    return cast<RankedTensorType>(value.getType()).getElementType();
  };
  // What is multiplied and summed up: f64, i32, or f32 for all the rest.
  Type work = result;
  if (isa<FloatType>(result) && !result.isF64())
    work = b.getF32Type();
  auto operand = [&](Value value) {
    auto it = buffers.find(value);
    if (it != buffers.end() && it->second.element == work &&
        typeOf(value) == work)
      return it->second;
    auto shape = cast<RankedTensorType>(value.getType()).getShape();
    Buffer buffer = allocate(work, shape);
    Type from = typeOf(value);
    forTile(shape, plan.contiguousDim(value), [&](const Coords &coords) {
      Lanes lanes = eval(value, coords);
      Value v = lanes.isUniform() ? lanes.base : toVector(lanes);
      if (isa<FloatType>(from)) {
        v = convertFloat(op, v, from, work, false);
      } else if (from != work) {
        v = arith::ExtSIOp::create(b, like(v, work), v);
      }
      storeBuffer(buffer, coords,
                  lanes.isUniform() ? Lanes::uniform(v) : Lanes::vector(v));
    });
    return buffer;
  };
  Buffer left = operand(op.getA()), right = operand(op.getB());
  Buffer sum = work == result ? allocateFor(op.getResult())
                              : allocate(work, type.getShape());
  auto start = buffers.find(op.getC());
  if (start == buffers.end() || start->second.ptr != sum.ptr)
    forTile(
        sum.shape, plan.contiguousDim(op.getC()), [&](const Coords &coords) {
          Lanes lanes = eval(op.getC(), coords);
          Value v = lanes.isUniform() ? lanes.base : toVector(lanes);
          if (work != result)
            v = convertFloat(op, v, result, work, false);
          storeBuffer(sum, coords,
                      lanes.isUniform() ? Lanes::uniform(v) : Lanes::vector(v));
        });
  multiply(left, right, sum);
  if (work != result) {
    Buffer narrow = allocateFor(op.getResult()); // of the narrow type's bits
    forTile(sum.shape, sum.shape.size() - 1, [&](const Coords &coords) {
      Lanes lanes = loadBuffer(sum, coords);
      Value v = convertFloat(op, toVector(lanes), work, result, false);
      storeBuffer(narrow, coords,
                  isa<VectorType>(v.getType()) ? Lanes::vector(v)
                                               : Lanes::uniform(v));
    });
    sum = narrow;
  }
  buffers[op.getResult()] = sum;
}

/// Element (row, k) of one operand as f32: unpacked, converted, scaled. `batch`
/// is the coordinates before these two.
Value Lowering::scaledElement(triton::DotScaledOp op, bool isLeft,
                              const Coords &batch, Value row, Value k) {
  using Kind = triton::ScaleDotElemType;
  Value operand = isLeft ? op.getA() : op.getB();
  Value scale = isLeft ? op.getAScale() : op.getBScale();
  Kind kind = isLeft ? op.getAElemType() : op.getBElemType();
  bool kPack = isLeft ? op.getLhsKPack() : op.getRhsKPack();
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  auto half = [&](Value v) -> Value {
    return arith::ShRUIOp::create(b, v, constant(v.getType(), 1));
  };
  bool isPacked = kind == Kind::E2M1;
  Value r = isPacked && !kPack ? half(row) : row;
  Value c = isPacked && kPack ? half(k) : k;
  auto inBatch = [&](Value first, Value second) {
    Coords at = batch;
    at.append({Lanes::uniform(first), Lanes::uniform(second)});
    return at;
  };
  Coords at = isLeft ? inBatch(r, c) : inBatch(c, r);
  Value bits = toScalar(eval(operand, at)), value;
  auto bytesOf = [&](Type type) { return fromFloat8(bits, type); };
  switch (kind) {
  case Kind::E4M3:
    value = bytesOf(Float8E4M3FNType::get(b.getContext()));
    break;
  case Kind::E5M2:
    value = bytesOf(Float8E5M2Type::get(b.getContext()));
    break;
  case Kind::BF16:
  case Kind::FP16:
    value = convertFloat(
        op, bits, cast<RankedTensorType>(operand.getType()).getElementType(),
        f32, false);
    break;
  case Kind::E2M1: {
    // Two to a byte, the first in the low half: sign, two bits of exponent
    // (bias 1), one of mantissa.
    Value wide = arith::ExtUIOp::create(b, i32, bits);
    Value position =
        arith::AndIOp::create(b, kPack ? k : row, constant(b.getI64Type(), 1));
    Value shift = arith::ShLIOp::create(
        b, arith::TruncIOp::create(b, i32, position), constant(i32, 2));
    Value code = arith::ShRUIOp::create(b, wide, shift);
    Value magnitude = arith::AndIOp::create(b, code, constant(i32, 7));
    Value sign = arith::ShLIOp::create(
        b, arith::AndIOp::create(b, code, constant(i32, 8)), constant(i32, 28));
    Value number = arith::BitcastOp::create(
        b, f32, arith::ShLIOp::create(b, magnitude, constant(i32, 22)));
    number = arith::MulFOp::create(b, number,
                                   floatConstant(f32, std::ldexp(1.0, 126)));
    value = arith::BitcastOp::create(
        b, f32,
        arith::OrIOp::create(b, arith::BitcastOp::create(b, i32, number),
                             sign));
    break;
  }
  default:
    return error(op, "operands of 6 bits are not supported on the CPU");
  }
  if (!scale)
    return value;
  auto scaleType = cast<RankedTensorType>(scale.getType());
  int64_t depth = cast<RankedTensorType>(op.getA().getType()).getShape().back();
  if (op.getAElemType() == Kind::E2M1 && op.getLhsKPack())
    depth *= 2;
  int64_t group = depth / scaleType.getShape().back();
  Value index =
      arith::ShRUIOp::create(b, k, constant(k.getType(), llvm::Log2_64(group)));
  Value code = toScalar(eval(scale, inBatch(row, index)));
  Value factor;
  if (scaleType.getElementType().isInteger(8)) {
    // An exponent with bias 127; 0 is 2^-127, 255 is NaN.
    Value wide = arith::ExtUIOp::create(b, i32, code);
    Value exponent = arith::BitcastOp::create(
        b, f32, arith::ShLIOp::create(b, wide, constant(i32, 23)));
    Value isZero = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, wide,
                                         constant(i32, 0));
    Value isNan = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, wide,
                                        constant(i32, 255));
    factor = arith::SelectOp::create(
        b, isZero, floatConstant(f32, std::ldexp(1.0, -127)), exponent);
    factor = arith::SelectOp::create(b, isNan, floatConstant(f32, NAN), factor);
  } else {
    factor = convertFloat(op, code, scaleType.getElementType(), f32, false);
  }
  return arith::MulFOp::create(b, value, factor);
}

void Lowering::lowerDotScaled(triton::DotScaledOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  Type f32 = b.getF32Type(), result = type.getElementType();
  SmallVector<int64_t> leftShape(type.getShape()), rightShape(leftShape);
  int64_t depth = cast<RankedTensorType>(op.getA().getType()).getShape().back();
  if (op.getAElemType() == triton::ScaleDotElemType::E2M1 && op.getLhsKPack())
    depth *= 2;
  leftShape.back() = depth;
  rightShape.end()[-2] = depth;
  Buffer left = allocate(f32, leftShape), right = allocate(f32, rightShape);
  Buffer sum = allocate(f32, type.getShape());
  for (bool isLeft : {true, false}) {
    const Buffer &target = isLeft ? left : right;
    forTile(
        target.shape, type.getRank() - 1,
        [&](const Coords &at) {
          Coords batch(ArrayRef(at).drop_back(2));
          Value row = at.end()[isLeft ? -2 : -1].base;
          Value k = at.end()[isLeft ? -1 : -2].base;
          Value element = scaledElement(op, isLeft, batch, row, k);
          storeBuffer(target, at, Lanes::uniform(element));
        },
        /*maxLanes=*/1);
  }
  forTile(sum.shape, type.getRank() - 1, [&](const Coords &at) {
    Value value = toVector(eval(op.getC(), at));
    value = convertFloat(op, value, result, f32, false);
    storeBuffer(sum, at,
                isa<VectorType>(value.getType()) ? Lanes::vector(value)
                                                 : Lanes::uniform(value));
  });
  multiply(left, right, sum);
  if (result != f32) {
    Buffer narrow = allocate(convert(result), type.getShape());
    forTile(sum.shape, type.getRank() - 1, [&](const Coords &at) {
      Value value =
          convertFloat(op, toVector(loadBuffer(sum, at)), f32, result, false);
      storeBuffer(narrow, at,
                  isa<VectorType>(value.getType()) ? Lanes::vector(value)
                                                   : Lanes::uniform(value));
    });
    sum = narrow;
  }
  buffers[op.getResult()] = sum;
}
