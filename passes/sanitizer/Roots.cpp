// SPDX-License-Identifier: Apache-2.0
//
// Follows pointers backward to their origins.

#include "Roots.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;

namespace {
class Walk {
public:
  Walk(tt::FuncOp kernel) : kernel(kernel) {}
  Roots run(Value value);

private:
  void visit(Value value);
  void visitArgument(BlockArgument argument);
  void visitResult(Operation *op, OpResult result);
  /// Finds the only pointer from which an integer is computed.
  Value pointerIn(Value integer, unsigned depth = 0);
  void push(Value value) { worklist.push_back(value); }

  tt::FuncOp kernel;
  SmallVector<Value> worklist;
  DenseSet<Value> seen;
  Roots roots;
};
} // namespace

static bool isPointer(Value value) {
  return isa<tt::PointerType>(getElementTypeOrSelf(value.getType()));
}

Value Walk::pointerIn(Value integer, unsigned depth) {
  Operation *op = integer.getDefiningOp();
  if (!op || depth > 64)
    return {};
  if (auto cast = dyn_cast<tt::PtrToIntOp>(op))
    return cast.getSrc();
  if (isa<arith::AddIOp, arith::SubIOp, arith::AndIOp, arith::OrIOp>(op)) {
    Value left = pointerIn(op->getOperand(0), depth + 1);
    Value right = pointerIn(op->getOperand(1), depth + 1);
    return left && right ? Value() : left ? left : right;
  }
  if (isa<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp,
          tt::TransOp, tt::BitcastOp>(op))
    return pointerIn(op->getOperand(0), depth + 1);
  return {};
}

/// Pushes what reaches an argument of a region or a block.
void Walk::visitArgument(BlockArgument argument) {
  Block *block = argument.getOwner();
  if (block == &kernel.front()) {
    if (isa<tt::PointerType>(argument.getType()))
      roots.arguments.insert(argument.getArgNumber());
    else
      roots.isOpen = true;
    return;
  }
  unsigned number = argument.getArgNumber();
  Operation *parent = block->getParentOp();
  if (parent == kernel) {
    for (auto it = block->pred_begin(), end = block->pred_end(); it != end;
         ++it) {
      auto branch = dyn_cast<BranchOpInterface>((*it)->getTerminator());
      Value passed =
          branch ? branch.getSuccessorOperands(it.getSuccessorIndex())[number]
                 : Value();
      passed ? push(passed) : void(roots.isOpen = true);
    }
  } else if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    unsigned index = number - loop.getNumInductionVars();
    push(loop.getInitArgs()[index]);
    push(loop.getYieldedValues()[index]);
  } else if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    if (block == loop.getBeforeBody()) {
      push(loop.getInits()[number]);
      push(loop.getYieldOp().getOperand(number));
    } else {
      push(loop.getConditionOp().getArgs()[number]);
    }
  } else {
    roots.isOpen = true;
  }
}

void Walk::visitResult(Operation *op, OpResult result) {
  unsigned number = result.getResultNumber();
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](tt::AddPtrOp add) {
        roots.hasOffset = true;
        push(add.getPtr());
      })
      .Case<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp,
            tt::TransOp, tt::GatherOp, tt::UnsplatOp, tt::SplitOp>(
          [&](auto) { push(op->getOperand(0)); })
      .Case<tt::CatOp, tt::JoinOp>([&](auto) {
        push(op->getOperand(0));
        push(op->getOperand(1));
      })
      .Case([&](tt::BitcastOp cast) {
        if (isPointer(cast.getSrc()))
          push(cast.getSrc());
        else
          roots.others.insert(result);
      })
      .Case([&](tt::IntToPtrOp cast) {
        if (Value pointer = pointerIn(cast.getSrc())) {
          roots.hasOffset = true;
          push(pointer);
        } else {
          roots.others.insert(result);
        }
      })
      .Case([&](arith::SelectOp select) {
        push(select.getTrueValue());
        push(select.getFalseValue());
      })
      .Case([&](scf::IfOp branch) {
        push(branch.thenYield().getOperand(number));
        push(branch.elseYield().getOperand(number));
      })
      .Case([&](scf::ForOp loop) {
        push(loop.getInitArgs()[number]);
        push(loop.getYieldedValues()[number]);
      })
      .Case([&](scf::WhileOp loop) {
        push(loop.getConditionOp().getArgs()[number]);
      })
      .Case<tt::LoadOp, tt::AtomicLoadOp, tt::AtomicRMWOp, tt::AtomicCASOp>(
          [&](auto) { roots.others.insert(result); })
      .Default([&](Operation *) { roots.isOpen = true; });
}

void Walk::visit(Value value) {
  if (!seen.insert(value).second)
    return;
  if (auto argument = dyn_cast<BlockArgument>(value))
    visitArgument(argument);
  else
    visitResult(value.getDefiningOp(), cast<OpResult>(value));
}

Roots Walk::run(Value value) {
  push(value);
  while (!worklist.empty())
    visit(worklist.pop_back_val());
  return std::move(roots);
}

Roots mlir::triton_ext::sanitizer::rootsOf(Value value, tt::FuncOp kernel) {
  return Walk(kernel).run(value);
}
