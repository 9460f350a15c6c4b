// SPDX-License-Identifier: Apache-2.0
//
// Sums and multiples of lanes.

#include "LaneArithmetic.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

Lanes LaneArithmetic::normalize(Lanes lanes) {
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
    lanes.base = b.offset(lanes.base, b.constant(b.getI64Type(), common));
  else
    lanes.base = b.createOrFold<arith::AddIOp>(
        lanes.base, b.constant(lanes.base.getType(), common));
  return lanes;
}

Lanes LaneArithmetic::add(const Lanes &lhs, const Lanes &rhs) {
  if (lhs.vec || rhs.vec)
    return Lanes::vector(
        arith::AddIOp::create(b, b.toVector(lhs), b.toVector(rhs)));
  Lanes sum = Lanes::uniform(b.createOrFold<arith::AddIOp>(lhs.base, rhs.base));
  if (lhs.isPattern() || rhs.isPattern()) {
    sum.pattern.assign(b.lanes(), 0);
    for (const Lanes *part : {&lhs, &rhs})
      for (auto [i, value] : llvm::enumerate(part->pattern))
        sum.pattern[i] += value;
  }
  return normalize(sum);
}

Lanes LaneArithmetic::scale(const Lanes &lanes, int64_t factor) {
  if (factor == 1)
    return lanes;
  if (lanes.vec)
    return Lanes::vector(arith::MulIOp::create(
        b, lanes.vec, b.constant(lanes.vec.getType(), factor)));
  Lanes product = Lanes::uniform(b.createOrFold<arith::MulIOp>(
      lanes.base, b.constant(lanes.base.getType(), factor)));
  for (int64_t value : lanes.pattern)
    product.pattern.push_back(int64_t(uint64_t(value) * uint64_t(factor)));
  return normalize(product);
}

bool LaneArithmetic::hasDisjointBits(const Lanes &lanes) const {
  if (!lanes.isPattern())
    return lanes.isUniform();
  int64_t divisor = facts.divisor(lanes.base);
  return llvm::all_of(lanes.pattern,
                      [&](int64_t p) { return p >= 0 && p < divisor; });
}

Lanes LaneArithmetic::exchange(const Lanes &lanes) {
  auto flip = [&](Value value) {
    return b.createOrFold<arith::XOrIOp>(value, b.constant(value.getType(), 1));
  };
  if (lanes.isUniform())
    return Lanes::uniform(flip(lanes.base));
  if (lanes.vec || !hasDisjointBits(lanes) || facts.divisor(lanes.base) % 2)
    return Lanes::vector(flip(b.toVector(lanes)));
  // The base is even, so the lowest bit is that of the pattern.
  Lanes flipped = lanes;
  for (int64_t &p : flipped.pattern)
    p = p ^ 1;
  return flipped;
}
