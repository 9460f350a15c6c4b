// SPDX-License-Identifier: Apache-2.0
//
// What the checks share: launch words, findings, verdicts.

#include "Checks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "probe/Probe.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;

Checker::Checker(tt::FuncOp kernel, llvm::StringSet<> checks, Action action)
    : kernel(kernel), action(action), signs(kernel), checks(std::move(checks)) {
  auto b = OpBuilder::atBlockBegin(&kernel.front());
  start = arith::ConstantOp::create(b, kernel.getLoc(), b.getI64IntegerAttr(0));
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    order[op] = int64_t(order.size());
    if (auto access = analysis::memoryAccessOf(op))
      accesses.push_back(*access);
  });
}

ImplicitLocOpBuilder Checker::before(Operation *op) const {
  return ImplicitLocOpBuilder(op->getLoc(), op);
}

ImplicitLocOpBuilder Checker::after(Operation *op) const {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  b.setInsertionPointAfter(op);
  return b;
}

Value Checker::word(int64_t number) {
  Value &known = words[number];
  if (!known) {
    auto b =
        ImplicitLocOpBuilder::atBlockBegin(kernel.getLoc(), &kernel.front());
    known = wordAt(b, number);
  }
  return known;
}

/// Returns what a word is without a slot: of the bounds of tensors what makes
/// them the bounds of everything, else 0.
static int64_t wordWithoutSlot(int64_t number) {
  if (number < Checker::numberOf(0, ArgumentWord::StorageStart))
    return 0;
  switch (ArgumentWord(number % 8)) {
  case ArgumentWord::StorageStart:
  case ArgumentWord::ViewStart:
    return INT64_MIN;
  case ArgumentWord::StorageEnd:
  case ArgumentWord::ViewEnd:
    return INT64_MAX;
  default:
    return 0;
  }
}

Value Checker::wordAt(ImplicitLocOpBuilder &b, int64_t number, Value offset) {
  int64_t otherwise = wordWithoutSlot(number);
  return probe::LaunchWordOp::create(b, b.getI64Type(), int32_t(number), offset,
                                     otherwise ? b.getI64IntegerAttr(otherwise)
                                               : IntegerAttr());
}

Value Checker::serialAt(ImplicitLocOpBuilder &b) {
  Value &known = serials[b.getInsertionBlock()];
  auto at = b.getInsertionPoint();
  bool isBefore = known && (at == b.getInsertionBlock()->end() ||
                            known.getDefiningOp()->isBeforeInBlock(&*at));
  if (!isBefore)
    known = wordAt(b, 2);
  return known;
}

void Checker::sinkWords() {
  Block *block = start->getBlock();
  for (Operation *op = start->getPrevNode(); op;) {
    Operation *before = op->getPrevNode(), *user = nullptr;
    for (Operation *one : op->getUsers()) {
      Operation *own = block->findAncestorOpInBlock(*one);
      if (!own) // in another block of the kernel
        return;
      if (!user || own->isBeforeInBlock(user))
        user = own;
    }
    for (Operation *at = user ? user->getPrevNode() : op; at != op;
         at = at->getPrevNode())
      if (isa<LoopLikeOpInterface>(at)) {
        op->moveAfter(at);
        break;
      }
    op = before;
  }
}

static constexpr StringLiteral ownName = "sanitize.own";

void mlir::triton_ext::sanitizer::markOwn(Operation *op) {
  op->setAttr(ownName, UnitAttr::get(op->getContext()));
}

bool mlir::triton_ext::sanitizer::isOwn(Operation *op) {
  return op->hasAttr(ownName);
}

static StringRef nameOf(const MemoryAccess &access) {
  if (access.kind == MemoryAccess::Kind::Atomic)
    return "atomic";
  return access.kind == MemoryAccess::Kind::Load ? "load" : "store";
}

void Checker::addTo(llvm::json::Object &note, StringRef check,
                    Operation *op) const {
  note["check"] = check;
  if (auto access = analysis::memoryAccessOf(op)) {
    note["access"] = nameOf(*access);
    note["bytes"] = access->laneBytes;
    note["other"] = bool(access->other);
    note["masked"] = bool(access->mask);
  }
  if (auto place = order.find(op); place != order.end())
    note["order"] = place->second;
}

std::string mlir::triton_ext::sanitizer::textOf(llvm::json::Object note) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(note));
  return text;
}

void Checker::report(ImplicitLocOpBuilder &b, Finding finding) {
  Location around = b.getLoc();
  b.setLoc(finding.op->getLoc());
  llvm::json::Object &note = finding.note;
  addTo(note, finding.check, finding.op);
  note["address"] = bool(finding.address);
  // The number that tells the host which launch it is.
  SmallVector<Value> values{serialAt(b)};
  if (finding.address)
    values.push_back(finding.address);
  SmallVector<bool> areUnsigned(values.size());
  llvm::json::Array names;
  for (Shown &shown : finding.values) {
    names.push_back(shown.name);
    values.push_back(shown.value);
    areUnsigned.push_back(shown.isUnsigned);
  }
  note["values"] = std::move(names);
  auto signs = llvm::is_contained(areUnsigned, true)
                   ? b.getDenseBoolArrayAttr(areUnsigned)
                   : DenseBoolArrayAttr();
  Operation *op = probe::CheckOp::create(b, finding.ok, finding.check, values,
                                         finding.mask, signs);
  op->setAttr("probe.rules", b.getStringAttr("sanitize"));
  op->setAttr("probe.note", b.getStringAttr(textOf(std::move(note))));
  b.setLoc(around);
}

FileLineColLoc mlir::triton_ext::sanitizer::positionOf(Location loc) {
  FileLineColLoc found;
  loc->walk([&](Location inner) {
    found = dyn_cast<FileLineColLoc>(inner);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

static StringRef nameOf(Verdict verdict) {
  return verdict == Verdict::Proved    ? "proved"
         : verdict == Verdict::Checked ? "checked"
                                       : "unsupported";
}

void Checker::say(Operation *op, StringRef check, Verdict verdict,
                  StringRef why) {
  if (isTrial)
    return;
  auto at = positionOf(op->getLoc());
  verdicts.push_back(
      llvm::json::Object{{"line", at ? int64_t(at.getLine()) : 0},
                         {"column", at ? int64_t(at.getColumn()) : 0},
                         {"check", check},
                         {"verdict", nameOf(verdict)},
                         {"why", why.str()}});
  auto opts = remark::RemarkOpts::name(check)
                  .category("triton-ext-sanitizer")
                  .function(kernel.getName());
  auto emit = verdict == Verdict::Proved    ? remark::passed
              : verdict == Verdict::Checked ? remark::analysis
                                            : remark::missed;
  std::string text = (check + " " + nameOf(verdict)).str();
  if (!why.empty())
    text += (": " + why).str();
  emit(op->getLoc(), opts) << remark::reason("{0}", text);
}
