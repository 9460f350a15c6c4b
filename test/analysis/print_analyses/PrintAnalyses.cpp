// SPDX-License-Identifier: Apache-2.0
//
// Prints the results of each analysis in infra/analysis, for their tests. The
// operations that the trackers create are printed as expressions and erased.

#include "analysis/AxisInfo.h"
#include "analysis/Dimensions.h"
#include "analysis/MaskTracker.h"
#include "analysis/PointerTracker.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::triton_ext::print_analyses {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_PRINTANALYSESPASS
#include "PrintAnalyses.h.inc"
} // namespace mlir::triton_ext::print_analyses

using namespace mlir;
using namespace mlir::triton_ext::analysis;
namespace tt = mlir::triton;

/// Prints a value that a tracker has created, as an expression of the values
/// that existed before.
static void printValue(raw_ostream &os, Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    os << (isa<FunctionOpInterface>(argument.getOwner()->getParentOp())
               ? "arg"
               : "carried")
       << argument.getArgNumber();
    return;
  }
  auto binary = [&](StringRef text) {
    return [&os, text](auto op) {
      os << "(";
      printValue(os, op.getLhs());
      os << " " << text << " ";
      printValue(os, op.getRhs());
      os << ")";
    };
  };
  llvm::TypeSwitch<Operation *>(value.getDefiningOp())
      .Case([&](arith::AddIOp op) { binary("+")(op); })
      .Case([&](arith::SubIOp op) { binary("-")(op); })
      .Case([&](arith::MulIOp op) { binary("*")(op); })
      .Case([&](arith::MinSIOp op) { binary("min")(op); })
      .Case([&](arith::MaxSIOp op) { binary("max")(op); })
      .Case([&](arith::CmpIOp op) {
        binary(arith::stringifyCmpIPredicate(op.getPredicate()))(op);
      })
      .Case([&](arith::IndexCastOp op) { printValue(os, op.getIn()); })
      .Case([&](arith::SelectOp op) {
        os << "(";
        printValue(os, op.getCondition());
        os << " ? ";
        printValue(os, op.getTrueValue());
        os << " : ";
        printValue(os, op.getFalseValue());
        os << ")";
      })
      .Default([&](Operation *op) {
        if (std::optional<int64_t> number = getConstantIntValue(value))
          os << *number;
        else
          os << op->getName();
      });
}

static void printNumber(raw_ostream &os, OpFoldResult number) {
  if (std::optional<int64_t> known = getConstantIntValue(number))
    os << *known;
  else
    printValue(os, cast<Value>(number));
}

static void print(raw_ostream &os, const Offsets &offsets) {
  os << "offset ";
  printNumber(os, offsets.offset);
  os << ", strides [";
  llvm::interleaveComma(offsets.strides, os,
                        [&](OpFoldResult stride) { printNumber(os, stride); });
  os << "]";
  for (const WrappedOffset &term : offsets.wrapped) {
    os << ", along " << term.dim << " (";
    printNumber(os, term.offset);
    os << " + ";
    printNumber(os, term.stride);
    os << " i) % ";
    printNumber(os, term.modulus);
  }
}

static void print(raw_ostream &os, const Pointers &pointers) {
  os << "base ";
  printValue(os, pointers.base);
  os << ", ";
  print(os, pointers.offsets);
}

static void print(raw_ostream &os, const Box &box) {
  llvm::interleave(
      llvm::zip_equal(box.low, box.high), os,
      [&](auto dim) {
        os << "[";
        printNumber(os, std::get<0>(dim));
        os << ", ";
        printNumber(os, std::get<1>(dim));
        os << ")";
      },
      " x ");
}

/// Runs a tracker on `value`, with the insertion point behind `op`.
template <typename Tracker>
static void report(Operation *op, Value value, StringRef name,
                   Tracker tracker) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Operation *next = op->getNextNode();
  IndexMath math{builder, op->getLoc()};
  auto found = tracker(value, math);
  std::string text;
  llvm::raw_string_ostream os(text);
  if (found)
    print(os, *found);
  else
    os << "not tracked";
  emitRemark(op->getLoc()) << name << ": " << text;
  while (op->getNextNode() != next)
    next->getPrevNode()->erase();
}

namespace {
struct PrintAnalysesPass
    : mlir::triton_ext::print_analyses::impl::PrintAnalysesPassBase<
          PrintAnalysesPass> {
  using PrintAnalysesPassBase::PrintAnalysesPassBase;

  void runOnOperation() override {
    if (axis || wraps)
      printAxes(wraps ? Overflow::Wraps : Overflow::Never);
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      if (op->hasTrait<OpTrait::IsTerminator>())
        continue;
      for (Value value : op->getResults()) {
        auto tensor = dyn_cast<RankedTensorType>(value.getType());
        if (!tensor)
          continue;
        Type element = tensor.getElementType();
        if (pointers && isa<tt::PointerType>(element))
          report(op, value, "pointers", trackPointers);
        if (masks && element.isInteger(1))
          report(op, value, "mask", trackMask);
        if (offsets && element.isIntOrIndex() && !element.isInteger(1))
          report(op, value, "offsets", trackOffsets);
      }
    }
  }

  /// Returns the arguments of all blocks.
  static SmallVector<BlockArgument> getArguments(Region &region) {
    SmallVector<BlockArgument> arguments;
    for (Block &block : region)
      llvm::append_range(arguments, block.getArguments());
    return arguments;
  }

  void printAxes(Overflow overflow) {
    AxisInfos infos(getOperation(), overflow);
    auto say = [&](Value value, Operation *where, StringRef name) {
      Type element = getElementTypeOrSelf(value.getType());
      if (!element.isIntOrIndex() && !isa<tt::PointerType>(element))
        return;
      std::string text;
      llvm::raw_string_ostream os(text);
      infos.get(value).print(os);
      emitRemark(where->getLoc()) << name << ": " << text;
    };
    getOperation().walk([&](Operation *op) {
      for (auto [index, result] : llvm::enumerate(op->getResults()))
        say(result, op, "result " + std::to_string(index));
      for (auto [number, region] : llvm::enumerate(op->getRegions()))
        for (BlockArgument argument : getArguments(region)) {
          std::string name =
              "argument " + llvm::utostr(argument.getArgNumber());
          if (op->getNumRegions() > 1)
            name += " of region " + llvm::utostr(number);
          say(argument, op, name);
        }
    });
  }
};
} // namespace
