// SPDX-License-Identifier: Apache-2.0
//
// Replaces looks that are alike by a loop around the first one. Leaves looks
// alone that differ in more than scalars.

#include "Merge.h"
#include "Likeness.h"
#include "Tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "probe/Probe.h"

#include <map>

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;

static constexpr StringLiteral lookName = "sanitize.look";
static constexpr StringLiteral orderedName = "sanitize.ordered";

void mlir::triton_ext::sanitizer::markLook(scf::IfOp look, StringRef kind,
                                           bool isOrdered) {
  look->setAttr(lookName, StringAttr::get(look.getContext(), kind));
  if (isOrdered)
    look->setAttr(orderedName, UnitAttr::get(look.getContext()));
}

namespace {
/// Looks that become one.
struct Group {
  SmallVector<scf::IfOp> looks;
  SmallVector<Likeness> others; ///< for each look but the first one
};
} // namespace

namespace {
/// Replaces the looks of a group by one.
class Merger {
public:
  explicit Merger(Group &group)
      : group(group), first(group.looks.front()),
        b(group.looks.back().getLoc(), group.looks.back()) {}

  void run();

private:
  Value choose(ArrayRef<Value> values);
  Value choose(ArrayRef<IntegerAttr> numbers);
  void chooseScalars();
  void chooseIn(Operation *op);

  Group &group;
  scf::IfOp first;
  ImplicitLocOpBuilder b;
  Value turn;                ///< i32
  SmallVector<Value> isTurn; ///< of each look but the last one
  DenseMap<Attribute, Value> constants;
  std::map<SmallVector<void *>, Value> chosen;
};
} // namespace

/// Returns the element of `values`, which has one for each look, for the look
/// whose turn it is.
Value Merger::choose(ArrayRef<Value> values) {
  if (llvm::all_equal(values))
    return values.front();
  SmallVector<void *> key;
  for (Value value : values)
    key.push_back(value.getAsOpaquePointer());
  Value &result = chosen[key];
  if (!result) {
    result = values.back();
    for (size_t i = values.size() - 1; i-- > 0;)
      result = arith::SelectOp::create(b, isTurn[i], values[i], result);
  }
  return result;
}

Value Merger::choose(ArrayRef<IntegerAttr> numbers) {
  SmallVector<Value> values;
  for (IntegerAttr number : numbers) {
    Value &known = constants[number];
    if (!known)
      known = arith::ConstantOp::create(b, number);
    values.push_back(known);
  }
  return choose(values);
}

void Merger::chooseScalars() {
  llvm::SmallSetVector<OpOperand *, 8> operands;
  for (Likeness &other : group.others)
    for (auto &[operand, value] : other.scalars)
      operands.insert(operand);
  for (OpOperand *operand : operands) {
    SmallVector<Value> values{operand->get()};
    for (Likeness &other : group.others) {
      auto it = other.scalars.find(operand);
      values.push_back(it == other.scalars.end() ? operand->get() : it->second);
    }
    operand->set(choose(values));
  }
}

/// Replaces a constant, a launch word or a report of the first look by that of
/// the look whose turn it is.
void Merger::chooseIn(Operation *op) {
  auto partners = llvm::map_to_vector(
      group.others, [&](Likeness &other) { return other.partners.lookup(op); });
  if (auto report = dyn_cast<probe::FailuresOp>(op)) {
    SmallVector<Attribute> messages(report.getMessages().getValue()),
        notes(report.getNotes().getValue()),
        places(report.getPlaces().getValue());
    for (Operation *other : partners) {
      auto same = cast<probe::FailuresOp>(other);
      llvm::append_range(messages, same.getMessages());
      llvm::append_range(notes, same.getNotes());
      llvm::append_range(places, same.getPlaces());
    }
    report.setMessagesAttr(b.getArrayAttr(messages));
    report.setNotesAttr(b.getArrayAttr(notes));
    report.setPlacesAttr(b.getArrayAttr(places));
    report.getSiteMutable().assign(turn);
    return;
  }
  auto word = dyn_cast<probe::LaunchWordOp>(op);
  auto numberOf = [&](Operation *one) -> IntegerAttr {
    if (word)
      return b.getI64IntegerAttr(
          int64_t(cast<probe::LaunchWordOp>(one).getWord()) -
          int64_t(word.getWord()));
    return integerOf(one);
  };
  SmallVector<IntegerAttr> numbers{numberOf(op)};
  for (Operation *other : partners)
    numbers.push_back(numberOf(other));
  if (llvm::all_equal(numbers))
    return;
  Value number = choose(numbers);
  if (word) {
    word.getOffsetMutable().assign(number);
    return;
  }
  Type type = op->getResult(0).getType();
  if (isa<RankedTensorType>(type))
    number = tt::SplatOp::create(b, type, number);
  op->getResult(0).replaceAllUsesWith(number);
  op->erase();
}

void Merger::run() {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  };
  SmallVector<Value> conditions;
  Value isAny;
  for (scf::IfOp look : group.looks) {
    Value condition = look.getCondition();
    if (!llvm::is_contained(conditions, condition))
      isAny =
          isAny ? Value(arith::OrIOp::create(b, isAny, condition)) : condition;
    conditions.push_back(condition);
  }
  auto rare = scf::IfOp::create(b, isAny, /*withElseRegion=*/false);
  b.setInsertionPointToStart(rare.thenBlock());
  auto loop = scf::ForOp::create(b, number(0),
                                 number(int64_t(conditions.size())), number(1));
  keepRolled(loop);
  b.setInsertionPointToStart(loop.getBody());
  turn = loop.getInductionVar();
  for (size_t i = 0; i + 1 < conditions.size(); ++i)
    isTurn.push_back(
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, turn, number(i)));
  first->moveBefore(loop.getBody()->getTerminator());
  b.setInsertionPoint(first);
  first.getConditionMutable().assign(choose(conditions));
  first->removeAttr(lookName);
  first->removeAttr(orderedName);
  chooseScalars();
  SmallVector<Operation *> different;
  for (auto &[op, other] : group.others.front().partners)
    different.push_back(op);
  for (Operation *op : different)
    chooseIn(op);
  for (scf::IfOp look : ArrayRef(group.looks).drop_front())
    look.erase();
}

/// Returns the groups of looks of a block that follow each other.
static void merge(ArrayRef<scf::IfOp> looks) {
  SmallVector<Group> groups;
  for (scf::IfOp look : looks) {
    Attribute kind = look->getAttr(lookName);
    bool isMerged = false;
    for (Group &group : llvm::reverse(groups)) {
      scf::IfOp other = group.looks.front();
      if (other->getAttr(lookName) != kind)
        continue;
      Likeness likeness;
      isMerged = likeness.areAlike(other.getThenRegion(), look.getThenRegion());
      if (isMerged) {
        group.looks.push_back(look);
        group.others.push_back(std::move(likeness));
      }
      if (isMerged || look->hasAttr(orderedName))
        break;
    }
    if (!isMerged)
      groups.push_back({{look}, {}});
  }
  for (Group &group : groups)
    if (group.looks.size() > 1)
      Merger(group).run();
}

void mlir::triton_ext::sanitizer::mergeLooks(tt::FuncOp kernel) {
  SmallVector<SmallVector<scf::IfOp>> runs;
  kernel.walk([&](Block *block) {
    runs.emplace_back();
    for (Operation &op : *block) {
      auto look = dyn_cast<scf::IfOp>(op);
      if (look && look->hasAttr(lookName))
        runs.back().push_back(look);
      else if (op.getNumRegions() || !isMemoryEffectFree(&op))
        runs.emplace_back();
    }
  });
  for (ArrayRef<scf::IfOp> looks : runs)
    merge(looks);
}
