// SPDX-License-Identifier: Apache-2.0
//
// Lowers `probe.histogram`.

#include "Emitter.h"
#include "Layout.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
using namespace mlir::triton_ext::probe;
namespace tt = mlir::triton;

/// Returns the addresses of the bins of a histogram.
Value Emitter::binWords(unsigned site, int64_t numBins) {
  auto wide = RankedTensorType::get({numBins}, b.getI64Type());
  Value bin = arith::ExtUIOp::create(
      b, wide,
      tt::MakeRangeOp::create(b, wide.clone(b.getI32Type()), 0, numBins));
  constexpr int64_t size = kCopyWords;
  int64_t first = sites.binLines[site] / kSitesOfChunk;
  Value offset = splat(chunks[first], numBins);
  for (int64_t i = 1; i * size < numBins; ++i) {
    // The bins from here on lie in this chunk.
    Value isBehind = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, bin,
                                           splat(constant(i * size), numBins));
    Value chunk =
        arith::SubIOp::create(b, chunks[first + i], constant(i * size));
    offset =
        arith::SelectOp::create(b, isBehind, splat(chunk, numBins), offset);
  }
  Value start = arith::AddIOp::create(
      b, copy, constant(sites.binLines[site] % kSitesOfChunk * kSiteWords));
  offset = arith::AddIOp::create(b, offset, splat(start, numBins));
  Value pointer = splat(base, numBins);
  return tt::AddPtrOp::create(b, pointer.getType(), pointer,
                              arith::AddIOp::create(b, offset, bin));
}

void Emitter::emitHistogram(unsigned site, HistogramOp op) {
  // A scalar is a tensor with one lane.
  int64_t n = std::max<int64_t>(numLanesOf(op), 1), bins = op.getBins();
  Value value = flat(op.getValue(), n);
  Value isOn = op.getMask() ? flat(op.getMask(), n) : splat(truth(true), n);
  auto f64 = RankedTensorType::get({n}, b.getF64Type());
  auto i32 = RankedTensorType::get({n}, b.getI32Type());
  auto number = [&](double x) {
    return splat(arith::ConstantOp::create(b, b.getF64FloatAttr(x)), n);
  };
  auto integer = [&](int32_t x) {
    return splat(arith::ConstantOp::create(b, b.getI32IntegerAttr(x)), n);
  };
  auto is = [&](arith::CmpFPredicate predicate, Value left, Value right) {
    Value found = arith::CmpFOp::create(b, predicate, left, right);
    return Value(arith::AndIOp::create(b, isOn, found));
  };
  value = inF64(value, op.getIsUnsigned());
  double lo = op.getLo().convertToDouble(), hi = op.getHi().convertToDouble();
  using Predicate = arith::CmpFPredicate;
  addTo(siteWord(site, kBelow), numberOf(is(Predicate::OLT, value, number(lo))),
        isThere);
  addTo(siteWord(site, kAbove), numberOf(is(Predicate::OGT, value, number(hi))),
        isThere);
  addTo(siteWord(site, kNaN), numberOf(is(Predicate::UNO, value, value)),
        isThere);
  isOn = is(Predicate::OGE, value, number(lo));
  isOn = is(Predicate::OLE, value, number(hi));
  addTo(siteWord(site, kCount), numberOf(isOn), isThere);

  // An estimate, which is off by one at most, and then the edges decide.
  value = arith::SelectOp::create(b, isOn, value, number(lo));
  double step = (hi - lo) / bins;
  Value scaled = arith::MulFOp::create(
      b, arith::SubFOp::create(b, value, number(lo)), number(bins / (hi - lo)));
  Value bin = arith::FPToSIOp::create(b, i32, scaled);
  bin = arith::MinSIOp::create(b, bin, integer(bins - 1));
  auto edge = [&](Value index) {
    // The product is rounded before the sum, as NumPy does: a target may fuse a
    // product and a sum, but not this operation and a sum.
    Value product = math::FmaOp::create(
        b, arith::SIToFPOp::create(b, f64, index), number(step), number(0));
    return Value(arith::AddFOp::create(b, product, number(lo)));
  };
  Value isBelow = arith::CmpFOp::create(b, Predicate::OLT, value, edge(bin));
  Value next = arith::AddIOp::create(b, bin, integer(1));
  Value isAbove = arith::CmpFOp::create(b, Predicate::OGE, value, edge(next));
  isAbove = arith::AndIOp::create(
      b, isAbove,
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, next, integer(bins)));
  bin = arith::SubIOp::create(b, bin, arith::ExtUIOp::create(b, i32, isBelow));
  bin = arith::AddIOp::create(b, bin, arith::ExtUIOp::create(b, i32, isAbove));

  int64_t size = llvm::PowerOf2Ceil(bins);
  auto counts = RankedTensorType::get({size}, b.getI32Type());
  Value found = tt::HistogramOp::create(b, counts, bin, isOn);
  found = arith::ExtUIOp::create(b, counts.clone(b.getI64Type()), found);
  addTo(binWords(site, size), found, splat(isThere, size));
}
