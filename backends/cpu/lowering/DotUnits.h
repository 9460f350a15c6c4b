// SPDX-License-Identifier: Apache-2.0
//
// The instructions that multiply matrices, and the choice among them. All of
// them multiply words: the elements of a word are neighbours along K, and an
// instruction adds the products of all elements of two words to an element of
// the result. A word has 32 bits: two or four narrow elements, or one f32 if no
// unit multiplies the narrow floats. If f16 are summed in f16, a word is an
// f16.

#ifndef TRITON_EXT_CPU_DOTUNITS_H
#define TRITON_EXT_CPU_DOTUNITS_H

#include "Context.h"
#include "Plan.h"

namespace mlir::triton_ext::cpu {

/// The rows of an AMX tile, and the words and bytes of each row.
constexpr int tileRows = 16, tileWords = 16, tileRowBytes = 64;

/// The bytes of a word of the left operand.
constexpr int64_t leftBytes = 4;

/// Features of a processor, as bits of the option `dot-units` of the pass.
enum DotFeature : int32_t {
  avx2 = 1,
  avx512bw = 2,
  avxVnni = 4,
  avx512Vnni = 8,
  avx512Bf16 = 16,
  amxInt8 = 32,
  amxBf16 = 64,
  amxFp16 = 128,
  avx512Fp16 = 256,
};

/// The sizes of a product: M x K times K x N, for each of the batches.
struct DotShape {
  SmallVector<int64_t, 2> batches;
  int64_t M, N, K;
};

struct DotUnit {
  enum class Kind {
    Pairs,       ///< vpmaddwd: pairs of i16, summed in i32
    Bytes,       ///< vpdpbusd: four u8 times four i8, summed in i32
    BrainFloats, ///< vdpbf16ps: pairs of bf16, summed in f32
    Tiles,       ///< AMX: tiles of 16 words by 16 words
    Floats,      ///< an f32 or f16, multiplied and added as others are
  };
  Kind kind;
  /// The lowered type of the elements of a word.
  Type element;
  /// The words of a vector, or of a row of a tile.
  int lanes;
  /// What multiplies two tiles, as an intrinsic of LLVM.
  StringRef tileProduct = {};
  /// Whether the products of `Floats` are added without being rounded.
  bool hasFma = false;
  /// How many bf16 an element of an operand becomes whose sum it is. The
  /// products of all parts of two elements are added. An f16 has 11 significant
  /// bits, two bf16 have 16: so each product is exact, as it is with an FMA of
  /// f32, and none is denormal.
  int64_t parts = 1;

  bool isTiles() const { return kind == Kind::Tiles; }
  bool isFloats() const { return kind == Kind::Floats; }
  /// The bytes of a word of the right operand, and of an element of the sum.
  int64_t wordBytes() const { return isFloats() ? bytesOf(element) : 4; }
  int64_t elementsOfWord() const { return wordBytes() / bytesOf(element); }
  /// Whether a word of the left operand has its element twice. The load port of
  /// Intel's processors copies 32 bits to all lanes, but not 16: these take a
  /// turn of a port that could multiply (Intel's optimization manual).
  bool repeatsLeft() const { return wordBytes() == leftBytes / 2; }
  bool isSplit() const { return parts > 1; }
  /// The type in which products are summed.
  Type sum() const;
  /// Whether the elements of operands are bf16, of which denormals count as
  /// zeros.
  bool hasBrainFloats() const {
    return kind == Kind::BrainFloats ||
           (tileProduct.contains("bf16") && !isSplit());
  }
  /// The type as which a vector of words is loaded, or one word.
  Type words(int count) const;
};

/// Returns the best unit of the target for a product; none if the product fills
/// none, or if its result is an f64 or a wide integer.
std::optional<DotUnit> chooseDotUnit(const Target &target, triton::DotOp op);

DotShape shapeOf(triton::DotOp op);

/// Whether the product may wait for later iterations of its loop: it adds to a
/// loop-carried tensor of the type `sum`, in which its unit sums, and nothing
/// else reads the tensor in the loop. An element of the sum is the same then,
/// bit for bit, because the products are added to it in the same order. (It is
/// not if a sum of f32 is rounded to f16 in each iteration.)
bool mayWait(triton::DotOp op, Type sum);

/// Whether the right operand is a matrix in scratch memory that floats are
/// multiplied with as it is, row by row. Then it is not packed, so the product
/// neither waits nor shares it.
bool multipliesStoredRight(const Plan &plan, triton::DotOp op,
                           const DotUnit &unit);

/// Returns how many iterations of its loop a product waits for: their operands
/// are packed side by side along K, then multiplied at once. It is 1 if the
/// product cannot wait, or if its K is large enough. It is a power of two.
int64_t joinedIterations(triton::DotOp op, const DotUnit &unit);

/// Returns the f32 that `operand` is rounded from, if it is a tensor of bf16
/// that one instruction rounds for `unit`; else null. The instruction takes
/// denormal f32 for zeros.
Value roundedFrom(const Target &target, const DotUnit &unit, Value operand);

/// Rounds a vector of 8 or 16 f32 to bf16 with this instruction.
Value roundToBrainFloats(LaneBuilder &b, Value value);

/// Returns x * y + sum.
Value multiplyAdd(LaneBuilder &b, bool hasFma, Value x, Value y, Value sum);

/// Returns `sum` plus the products of the words `left` and `right`, vectors of
/// `lanes` words. The bytes of `left` are unsigned for `Bytes`.
Value multiplyWords(LaneBuilder &b, const DotUnit &unit, Value sum, Value left,
                    Value right);

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_DOTUNITS_H
