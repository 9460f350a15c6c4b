// SPDX-License-Identifier: Apache-2.0
//
// Which unit multiplies a product, and its instructions on vectors.

#include "DotUnits.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

DotShape mlir::triton_ext::cpu::shapeOf(triton::DotOp op) {
  ArrayRef<int64_t> result = op.getType().getShape();
  int64_t K = op.getA().getType().getShape().back();
  return {llvm::to_vector<2>(result.drop_back(2)), result[result.size() - 2],
          result.back(), K};
}

/// The most elements that a word has.
static constexpr int64_t mostElementsOfWord = 4;

bool mlir::triton_ext::cpu::mayWait(triton::DotOp op, Type sum) {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  auto carried = dyn_cast<BlockArgument>(op.getC());
  if (!loop || !carried || carried.getOwner() != loop.getBody() ||
      !carried.hasOneUse() || !op->hasOneUse() ||
      op.getType().getElementType() != sum)
    return false;
  OpOperand &use = *op->getUses().begin();
  if (use.getOwner() != loop.getBody()->getTerminator() ||
      use.getOperandNumber() + 1 != carried.getArgNumber())
    return false;
  // Each iteration packs whole words.
  return shapeOf(op).K >= mostElementsOfWord;
}

bool mlir::triton_ext::cpu::multipliesStoredRight(const Plan &plan,
                                                  triton::DotOp op,
                                                  const DotUnit &unit) {
  return unit.isFloats() && plan.isStored(op.getB());
}

int64_t mlir::triton_ext::cpu::joinedIterations(triton::DotOp op,
                                                const DotUnit &unit) {
  // The panels of a block and its rows of the left operand fit in the first
  // level of the cache.
  int64_t most = unit.isTiles() ? 128 : 64;
  int64_t words = shapeOf(op).K / unit.elementsOfWord();
  return mayWait(op, unit.sum()) ? std::max<int64_t>(1, most / words) : 1;
}

/// Whether every number of the type is a bf16 that is not denormal.
static bool isBrainFloat(Type type) {
  auto floating = dyn_cast<FloatType>(type);
  return floating && (floating.isBF16() || floating.getWidth() == 8);
}

/// Returns the unit of tiles if the product fills whole tiles. Sizes are powers
/// of two, so a size that is at least a tile's is a multiple of it.
static std::optional<DotUnit> fullTiles(const DotShape &shape, Type element,
                                        StringRef product) {
  DotUnit unit{DotUnit::Kind::Tiles, element, tileWords, product};
  bool isFull = shape.M >= tileRows && shape.N >= tileWords &&
                shape.K >= tileWords * unit.elementsOfWord();
  return isFull ? std::optional(unit) : std::nullopt;
}

/// Returns the unit `kind` with vectors of at most `vectorBytes`, if the
/// product fills vectors of 16 bytes and one word along K.
static std::optional<DotUnit> fullVectors(const DotShape &shape,
                                          DotUnit::Kind kind, Type element,
                                          int64_t vectorBytes) {
  constexpr int64_t leastBytes = 16;
  DotUnit unit{kind, element, /*lanes=*/0};
  unit.lanes = std::min(vectorBytes / unit.wordBytes(), shape.N);
  bool isFull = unit.lanes * unit.wordBytes() >= leastBytes &&
                shape.K >= unit.elementsOfWord();
  return isFull ? std::optional(unit) : std::nullopt;
}

static std::optional<DotUnit> forBytes(const Target &target,
                                       const DotShape &shape, Builder b) {
  Type i8 = b.getI8Type(), i16 = b.getIntegerType(16);
  int32_t features = target.dotFeatures;
  std::optional<DotUnit> unit;
  if (features & amxInt8)
    unit = fullTiles(shape, i8, "llvm.x86.tdpbssd");
  if (!unit && features & (avx512Vnni | avxVnni))
    unit = fullVectors(shape, DotUnit::Kind::Bytes, i8,
                       features & avx512Vnni ? 64 : 32);
  if (!unit)
    unit = fullVectors(shape, DotUnit::Kind::Pairs, i16,
                       features & avx512bw ? 64 : (features & avx2 ? 32 : 16));
  return unit;
}

std::optional<DotUnit>
mlir::triton_ext::cpu::chooseDotUnit(const Target &target, triton::DotOp op) {
  DotShape shape = shapeOf(op);
  Builder b(op.getContext());
  if (mayWait(op, b.getF32Type()) || mayWait(op, b.getI32Type()))
    shape.K = std::max<int64_t>(shape.K, tileWords * mostElementsOfWord);
  Type left = op.getA().getType().getElementType();
  Type right = op.getB().getType().getElementType();
  Type result = op.getType().getElementType();
  int32_t features = target.dotFeatures;
  if (left.isInteger(8) && right.isInteger(8) && result.isInteger(32))
    return forBytes(target, shape, b);
  if (!isa<FloatType>(result) || result.isF64())
    return std::nullopt;
  std::optional<DotUnit> unit;
  Type i16 = b.getIntegerType(16);
  bool hasTiles = features & amxBf16;
  if (isBrainFloat(left) && isBrainFloat(right)) {
    if (hasTiles)
      unit = fullTiles(shape, i16, "llvm.x86.tdpbf16ps");
    if (!unit && features & avx512Bf16)
      unit = fullVectors(shape, DotUnit::Kind::BrainFloats, i16, 64);
  } else if (left.isF16() && right.isF16() && features & amxFp16) {
    unit = fullTiles(shape, left, "llvm.x86.tdpfp16ps");
  }
  if (unit)
    return unit;
  if (left.isF16() && right.isF16() && result.isF16() && features & avx512Fp16)
    unit = fullVectors(shape, DotUnit::Kind::Floats, left, target.vectorBytes);
  // Each row of the left operand is split for all columns. Measured on a Xeon:
  // with 16 columns, it takes up to twice the time of an FMA.
  if (!unit && left.isF16() && right.isF16() && hasTiles &&
      shape.N >= 2 * tileWords) {
    unit = fullTiles(shape, i16, "llvm.x86.tdpbf16ps");
    if (unit)
      unit->parts = 2;
  }
  if (!unit)
    unit = fullVectors(shape, DotUnit::Kind::Floats, b.getF32Type(),
                       target.vectorBytes);
  if (unit)
    unit->hasFma = target.hasFma;
  return unit;
}

Value mlir::triton_ext::cpu::roundedFrom(const Target &target,
                                         const DotUnit &unit, Value operand) {
  auto round = operand.getDefiningOp<arith::TruncFOp>();
  bool isRounded = round && target.dotFeatures & avx512Bf16 &&
                   unit.hasBrainFloats() &&
                   getElementTypeOrSelf(round.getIn().getType()).isF32();
  return isRounded ? round.getIn() : Value();
}

Value mlir::triton_ext::cpu::roundToBrainFloats(LaneBuilder &b, Value value) {
  int64_t lanes = cast<VectorType>(value.getType()).getNumElements();
  std::string bits = std::to_string(lanes * 32);
  value = b.intrinsic("llvm.x86.avx512bf16.cvtneps2bf16." + bits,
                      VectorType::get(lanes, b.getBF16Type()), {value});
  return LLVM::BitcastOp::create(b, VectorType::get(lanes, b.getI16Type()),
                                 value);
}

Type DotUnit::sum() const {
  if (isFloats())
    return element;
  Builder b(element.getContext());
  bool isFloat = isa<FloatType>(element) || hasBrainFloats() || isSplit();
  return isFloat ? Type(b.getF32Type()) : Type(b.getI32Type());
}

Type DotUnit::words(int count) const {
  Type word =
      isFloats() ? element : Type(IntegerType::get(element.getContext(), 32));
  return count == 1 ? word : Type(VectorType::get(count, word));
}

Value mlir::triton_ext::cpu::multiplyAdd(LaneBuilder &b, bool hasFma, Value x,
                                         Value y, Value sum) {
  if (!isa<FloatType>(getElementTypeOrSelf(sum.getType())))
    return arith::AddIOp::create(b, sum, arith::MulIOp::create(b, x, y));
  if (hasFma)
    return LLVM::FMAOp::create(b, x, y, sum);
  return arith::AddFOp::create(b, sum, arith::MulFOp::create(b, x, y));
}

Value mlir::triton_ext::cpu::multiplyWords(LaneBuilder &b, const DotUnit &unit,
                                           Value sum, Value left, Value right) {
  if (unit.isFloats())
    return multiplyAdd(b, unit.hasFma, left, right, sum);
  std::string bits = std::to_string(unit.lanes * unit.wordBytes() * 8);
  Type element = unit.kind == DotUnit::Kind::BrainFloats ? Type(b.getBF16Type())
                                                         : unit.element;
  auto type = VectorType::get(unit.lanes * unit.elementsOfWord(), element);
  left = LLVM::BitcastOp::create(b, type, left);
  right = LLVM::BitcastOp::create(b, type, right);
  switch (unit.kind) {
  case DotUnit::Kind::Bytes:
    return b.intrinsic("llvm.x86.avx512.vpdpbusd." + bits, sum.getType(),
                       {sum, left, right});
  case DotUnit::Kind::BrainFloats:
    return b.intrinsic("llvm.x86.avx512bf16.dpbf16ps." + bits, sum.getType(),
                       {sum, left, right});
  case DotUnit::Kind::Pairs: {
    StringRef name = unit.lanes == 16  ? "llvm.x86.avx512.pmaddw.d.512"
                     : unit.lanes == 8 ? "llvm.x86.avx2.pmadd.wd"
                                       : "llvm.x86.sse2.pmadd.wd";
    return arith::AddIOp::create(
        b, sum, b.intrinsic(name, sum.getType(), {left, right}));
  }
  case DotUnit::Kind::Tiles:
  case DotUnit::Kind::Floats:
    break;
  }
  llvm_unreachable("the kind is not a vector of integers");
}
