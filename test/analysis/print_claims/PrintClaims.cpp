// SPDX-License-Identifier: Apache-2.0
//
// Prints the claims of each client of the analyses about the values of
// functions. A value is named by the line that defines it and its place there:
// r0 is the first result, a0 the first argument of the first region, b0 the
// first argument of the second region.

#include "analysis/AxisInfo.h"
#include "analysis/Dimensions.h"
#include "analysis/IntegerFacts.h"
#include "analysis/MaskTracker.h"
#include "analysis/PointerTracker.h"
#if __has_include("loop_split/Condition.h")
#include "loop_split/Condition.h"
#endif

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
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
namespace tt = mlir::triton;

namespace {

using Names = DenseMap<Value, std::string>;

unsigned lineOf(Operation *op) {
  return cast<FileLineColLoc>(op->getLoc()).getLine();
}

/// Returns the values below `top`, in order, and sets their names.
SmallVector<Value> collect(Operation *top, Names &names) {
  SmallVector<Value> values;
  auto add = [&](Value value, Operation *op, const std::string &slot) {
    names[value] = std::to_string(lineOf(op)) + " " + slot;
    values.push_back(value);
  };
  top->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ModuleOp>(op))
      return;
    for (auto [k, result] : llvm::enumerate(op->getResults()))
      add(result, op, "r" + std::to_string(k));
    for (auto [n, region] : llvm::enumerate(op->getRegions()))
      for (auto [k, argument] : llvm::enumerate(region.getArguments()))
        add(argument, op, (n == 0 ? "a" : "b") + std::to_string(k));
  });
  return values;
}

std::string text(const APInt &number, bool isSigned = true) {
  return llvm::toString(number, 10, isSigned);
}

/// Prints a Python expression of numbers and of `v(line, 'slot')`.
void express(raw_ostream &os, OpFoldResult what, const Names &names) {
  if (std::optional<int64_t> number = getConstantIntValue(what)) {
    os << *number;
    return;
  }
  Value value = cast<Value>(what);
  if (auto known = names.find(value); known != names.end()) {
    auto [line, slot] = StringRef(known->second).split(' ');
    os << "v(" << line << ",'" << slot << "')";
    return;
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::IndexCastOp>(op))
    return express(os, op->getOperand(0), names);
  os << op->getName().getStringRef().split('.').second << "(";
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    os << "'" << stringifyCmpIPredicate(compare.getPredicate()) << "',";
  llvm::interleave(
      op->getOperands(), os,
      [&](Value operand) { express(os, operand, names); }, ",");
  os << ")";
}

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
        printLoops(values, names);
      else
        printTracked(values, names);
    }
    llvm::errs() << all;
  }

  raw_ostream *out = nullptr;

  void printFacts(ArrayRef<Value> values, const Names &names);
  void printAxes(StringRef kind, Overflow overflow, ArrayRef<Value> values,
                 const Names &names);
  void printLoops(ArrayRef<Value> values, const Names &names);
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

/// M: a power of two that divides the value. L: two values, the first of which
/// is at most the second. S: a loop, a value in it, and the value's recurrence.
/// C: a condition.
void PrintClaimsPass::printLoops(ArrayRef<Value> values, const Names &names) {
#if __has_include("loop_split/Condition.h")
  using namespace mlir::triton_ext::loop_split;
  raw_ostream &os = *out;
  SmallVector<Value> scalars;
  for (Value value : values)
    if (bitWidth(value.getType()) > 1)
      scalars.push_back(value);
  for (Value value : scalars) {
    unsigned width = bitWidth(value.getType());
    for (unsigned bits = std::min(width - 1, 10u); bits > 0; --bits)
      if (isMultipleOf(value, APInt::getOneBitSet(width, bits))) {
        os << "M " << names.lookup(value) << " " << bits << "\n";
        break;
      }
  }
  for (auto function : getOperation().getOps<tt::FuncOp>()) {
    DominanceInfo dominance(function);
    SmallVector<Value> own;
    for (Value value : scalars)
      if (function->isAncestor(value.getParentBlock()->getParentOp()))
        own.push_back(value);
    auto isBefore = [&](Value first, Value second) {
      Operation *op = second.getDefiningOp();
      if (!op) {
        auto argument = cast<BlockArgument>(second);
        op = &argument.getOwner()->front();
        return first.getParentBlock() != argument.getOwner() &&
               dominance.properlyDominates(first, op);
      }
      return dominance.properlyDominates(first, op);
    };
    auto isConstant = [](Value value) {
      return matchPattern(value, m_Constant());
    };
    for (Value lhs : own)
      for (Value rhs : own)
        if (lhs != rhs && !(isConstant(lhs) && isConstant(rhs)) &&
            lhs.getType() == rhs.getType() &&
            (isBefore(lhs, rhs) || isBefore(rhs, lhs)) && isAtMost(lhs, rhs))
          os << "L " << names.lookup(lhs) << " " << names.lookup(rhs) << " "
             << isBefore(lhs, rhs) << "\n";
  }
  auto print = [&](const AffineForm &form) {
    os << " " << text(form.constant) << " " << text(form.spread, false) << " "
       << form.terms.size();
    for (auto &[term, factor] : form.terms)
      os << " " << names.lookup(term) << " " << text(factor);
  };
  auto printRecurrence = [&](scf::ForOp loop, Value value,
                             const Recurrence &found) {
    if (!found.affine && !found.views[0].exact && !found.views[1].exact)
      return;
    os << "S " << lineOf(loop) << " " << names.lookup(value) << " "
       << found.affine << " " << text(found.slope);
    for (const Recurrence::View &view : found.views) {
      os << " " << view.exact;
      if (view.exact)
        os << " " << text(view.low) << " " << text(view.high);
      else
        os << " 0 0";
    }
    os << "\n";
  };
  getOperation().walk([&](scf::ForOp loop) {
    ConditionAnalysis analysis(loop);
    RecurrenceAnalysis recurrences(loop);
    loop.getBody()->walk([&](Operation *op) {
      for (Value value : op->getResults())
        if (bitWidth(value.getType()) != 0)
          for (bool trustsFlags : {false, true})
            printRecurrence(loop, value, recurrences.get(value, trustsFlags));
      auto compare = dyn_cast<arith::CmpIOp>(op);
      StringRef reason;
      auto condition = compare ? analysis.get(compare, reason) : std::nullopt;
      if (!condition)
        return;
      os << "C " << lineOf(loop) << " " << lineOf(op) << " "
         << names.lookup(compare.getLhs()) << " "
         << names.lookup(compare.getRhs()) << " " << condition->swapped << " "
         << (condition->increasing ? "" : "-") << text(condition->slope, false)
         << " " << condition->isUnsigned << " " << condition->exact;
      print(condition->lhs);
      print(condition->rhs);
      os << "\n";
    });
  });
#endif
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
      if (auto pointers = trackPointers(value, math)) {
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
      if (auto offsets = trackOffsets(value, math)) {
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
