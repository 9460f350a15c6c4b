// SPDX-License-Identifier: Apache-2.0
//
// Finds out which views of memory an access needs, and says so in remarks.

#include "Access.h"
#include "Runs.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Remarks.h"

#define DEBUG_TYPE "triton-ext-convert-triton-to-linalg"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;

/// Returns whether all elements along some dimension are known to have one
/// address. Strides that are known only when the kernel runs may be 0, too.
/// Then several elements are stored to one address, and it is undefined which
/// of them stays, as it is in Triton.
static bool overlaps(const Pointers &pointers, ArrayRef<int64_t> shape) {
  SmallVector<OpFoldResult> strides(pointers.offsets.strides);
  for (const analysis::WrappedOffset &term : pointers.offsets.wrapped)
    strides[term.dim] = term.stride;
  return llvm::any_of(llvm::zip(strides, shape), [](auto dim) {
    auto [stride, size] = dim;
    return size != 1 && isConstantIntValue(stride, 0);
  });
}

static void print(raw_ostream &os, OpFoldResult value) {
  if (std::optional<int64_t> number = getConstantIntValue(value))
    os << *number;
  else
    os << "?";
}

/// Describes a view for a remark. Values that are not constants are `?`.
static std::string describe(const Pointers &pointers, const Box &box) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "a view: offset ";
  print(os, pointers.offsets.offset);
  os << ", strides [";
  llvm::interleaveComma(pointers.offsets.strides, os,
                        [&](OpFoldResult stride) { print(os, stride); });
  os << "], ";
  for (const analysis::WrappedOffset &term : pointers.offsets.wrapped) {
    os << "and along " << term.dim << " ";
    print(os, term.offset);
    os << " + ";
    print(os, term.stride);
    os << " i modulo ";
    print(os, term.modulus);
    os << ", ";
  }
  os << "elements ";
  llvm::interleave(
      llvm::zip(box.low, box.high), os,
      [&](auto dim) {
        os << "[";
        print(os, std::get<0>(dim));
        os << ", ";
        print(os, std::get<1>(dim));
        os << ")";
      },
      " x ");
  return text;
}

static remark::RemarkOpts remarkOptions() {
  return remark::RemarkOpts::name("view").category(DEBUG_TYPE);
}

void Access::noteMissed() {
  remark::missed(loc, remarkOptions())
      << remark::reason("not a view: {0}", untracked);
}

std::optional<std::pair<Pointers, Box>>
Access::track(Operation *op, Value pointers, Value mask) {
  auto missed = [&](StringRef why) {
    untracked = why;
    return std::nullopt;
  };
  std::optional<Pointers> tracked = trackPointers(pointers, math);
  if ((!tracked || tracked->offsets.wrapsAround()) && pointerFacts.strides)
    tracked = fromFirst(pointers, *pointerFacts.strides);
  if (!tracked)
    return missed("its pointers are not tracked");
  if (!haveRuns(*tracked))
    return missed("its pointers wrap around twice along a dimension");
  if (!isa<tt::LoadOp>(op) && overlaps(*tracked, shape))
    return missed("it writes to one address several times");
  std::optional<Box> box =
      mask ? trackMask(mask, math) : analysis::wholeOf(shape, math);
  if (!box)
    return missed("its mask is not tracked");
  remark::analysis(loc, remarkOptions())
      << remark::reason("{0}", describe(*tracked, *box));
  return std::pair(*tracked, *box);
}

std::optional<analysis::Rows> Access::trackRows(Operation *op, Value pointers,
                                                Value mask) {
  math.budget = IndexMath{builder, loc}.budget;
  auto acceptAll = [](const Box &, std::optional<unsigned>) { return true; };
  auto rows = analysis::trackRows(pointers, mask, math, acceptAll);
  // Rows of one element are elements.
  bool isStrided = rows && llvm::any_of(llvm::enumerate(shape), [&](auto dim) {
                     return dim.index() != rows->dim && dim.value() != 1;
                   });
  if (!isStrided || (!isa<tt::LoadOp>(op) && overlaps(rows->pointers, shape))) {
    noteMissed();
    return std::nullopt;
  }
  remark::analysis(loc, remarkOptions())
      << remark::reason("a view for each index of dimension {0}{1}: {2}",
                        rows->dim, rows->mask ? " where a mask is true" : "",
                        describe(rows->pointers, rows->box));
  return rows;
}
