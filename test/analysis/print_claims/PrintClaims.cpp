// SPDX-License-Identifier: Apache-2.0
//
// Prints the claims of each client of the analyses about the values of
// functions.

#include "Names.h"

#include "analysis/AxisInfo.h"
#include "analysis/Dimensions.h"
#include "analysis/IntegerFacts.h"
#include "analysis/MaskTracker.h"
#include "analysis/PointerTracker.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::triton_ext::print_claims {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_PRINTCLAIMSPASS
#include "PrintClaims.h.inc"
} // namespace mlir::triton_ext::print_claims

using namespace mlir;
using namespace mlir::triton_ext::analysis;
using namespace mlir::triton_ext::print_claims;
namespace tt = mlir::triton;

namespace {

struct PrintClaimsPass
    : mlir::triton_ext::print_claims::impl::PrintClaimsPassBase<
          PrintClaimsPass> {
  using PrintClaimsPassBase::PrintClaimsPassBase;

  void runOnOperation() override {
    Names names;
    SmallVector<Value> values = collect(getOperation(), names);
    // Print everything in one call, because stderr is not buffered.
    std::string all;
    llvm::raw_string_ostream stream(all);
    out = &stream;
    for (const std::string &client : clients) {
      if (client == "facts")
        printFacts(values, names);
      else if (client == "wraps")
        printAxes("W", Overflow::Wraps, values, names);
      else if (client == "never")
        printAxes("N", Overflow::Never, values, names);
      else if (client == "loops")
        printLoops(getOperation(), values, names, *out);
      else
        printTracked(values, names);
    }
    llvm::errs() << all;
  }

  raw_ostream *out = nullptr;

  void printFacts(ArrayRef<Value> values, const Names &names);
  void printAxes(StringRef kind, Overflow overflow, ArrayRef<Value> values,
                 const Names &names);
  void printTracked(ArrayRef<Value> values, const Names &names);
};

} // namespace

/// F: a divisor, and the range, signed and unsigned.
void PrintClaimsPass::printFacts(ArrayRef<Value> values, const Names &names) {
  raw_ostream &os = *out;
  IntegerFacts facts;
  for (auto function : getOperation().getOps<tt::FuncOp>())
    for (BlockArgument argument : function.getArguments()) {
      int i = argument.getArgNumber();
      if (!isa<IntegerType>(argument.getType()))
        continue;
      if (auto divisor =
              function.getArgAttrOfType<IntegerAttr>(i, "tt.divisibility"))
        facts.setDivisor(argument, divisor.getInt());
      if (auto limit = function.getArgAttrOfType<IntegerAttr>(i, "tt.limit"))
        facts.setLimit(argument, limit.getInt());
    }
  for (Value value : values) {
    if (!getElementTypeOrSelf(value.getType()).isIntOrIndex())
      continue;
    ConstantIntRanges range = facts.range(value);
    os << "F " << names.lookup(value) << " " << facts.divisor(value) << " "
       << text(range.smin()) << " " << text(range.smax()) << " "
       << text(range.umin(), false) << " " << text(range.umax(), false) << "\n";
  }
}

/// W and N: divisibility, stride and stride value of each dimension; whether
/// the value is not negative; its constant value.
void PrintClaimsPass::printAxes(StringRef kind, Overflow overflow,
                                ArrayRef<Value> values, const Names &names) {
  raw_ostream &os = *out;
  AxisInfos infos(getOperation(), overflow);
  for (Value value : values) {
    Type element = getElementTypeOrSelf(value.getType());
    AxisInfo info = infos.get(value);
    if (!element.isIntOrIndex() && !isa<tt::PointerType>(element))
      continue;
    os << kind << " " << names.lookup(value) << " ";
    if (!info.isKnown()) {
      os << "never\n";
      continue;
    }
    llvm::interleave(
        info.axes, os,
        [&](const Axis &axis) {
          os << axis.divisibility << ":" << axis.stride << ":"
             << axis.strideValue;
        },
        ",");
    os << " " << info.isNonNegative << " "
       << (info.constant ? text(*info.constant) : "-") << "\n";
  }
}

/// O: the offset and strides of integers. P: the base, offset and strides of
/// pointers. K: the box of a mask.
void PrintClaimsPass::printTracked(ArrayRef<Value> values, const Names &names) {
  raw_ostream &os = *out;
  for (Value value : values) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    Operation *op = value.getDefiningOp();
    if (!type || !op || op->getNumRegions() > 0)
      continue;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    Operation *next = op->getNextNode();
    IndexMath math{builder, op->getLoc()};
    std::string found;
    llvm::raw_string_ostream line(found);
    auto list = [&](ArrayRef<OpFoldResult> numbers) {
      line << "[";
      llvm::interleave(
          numbers, line,
          [&](OpFoldResult number) { express(line, number, names); }, ",");
      line << "]";
    };
    auto say = [&](const Offsets &offsets) {
      express(line, offsets.offset, names);
      line << " ";
      list(offsets.strides);
    };
    if (isa<tt::PointerType>(type.getElementType())) {
      auto pointers = trackPointers(value, math);
      if (pointers && !pointers->offsets.wrapsAround()) {
        line << "P " << names.lookup(value) << " ";
        express(line, pointers->base, names);
        line << " ";
        say(pointers->offsets);
      }
    } else if (type.getElementType().isInteger(1)) {
      if (auto box = trackMask(value, math)) {
        line << "K " << names.lookup(value) << " ";
        list(box->low);
        line << " ";
        list(box->high);
      }
    } else if (type.getElementType().isIntOrIndex()) {
      auto offsets = trackOffsets(value, math);
      if (offsets && !offsets->wrapsAround()) {
        line << "O " << names.lookup(value) << " ";
        say(*offsets);
      }
    }
    if (!found.empty())
      os << found << "\n";
    while (op->getNextNode() != next)
      next->getPrevNode()->erase();
  }
}
