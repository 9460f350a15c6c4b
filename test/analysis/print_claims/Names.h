// SPDX-License-Identifier: Apache-2.0
//
// How claims name values and write numbers. A value is named by the line that
// defines it and its place there: r0 is the first result, a0 the first argument
// of the first region, b0 the first argument of the second region.

#ifndef TRITON_EXT_PRINTCLAIMS_NAMES_H
#define TRITON_EXT_PRINTCLAIMS_NAMES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::triton_ext::print_claims {

using Names = DenseMap<Value, std::string>;

inline unsigned lineOf(Operation *op) {
  return cast<FileLineColLoc>(op->getLoc()).getLine();
}

/// Returns the values below `top`, in order, and sets their names.
inline SmallVector<Value> collect(Operation *top, Names &names) {
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

inline std::string text(const APInt &number, bool isSigned = true) {
  return llvm::toString(number, 10, isSigned);
}

/// Prints a Python expression of numbers and of `v(line, 'slot')`.
inline void express(raw_ostream &os, OpFoldResult what, const Names &names) {
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

/// Prints the claims of LoopSplit about the values below `module`, if it is
/// there.
void printLoops(ModuleOp module, ArrayRef<Value> values, const Names &names,
                raw_ostream &os);

} // namespace mlir::triton_ext::print_claims

#endif // TRITON_EXT_PRINTCLAIMS_NAMES_H
