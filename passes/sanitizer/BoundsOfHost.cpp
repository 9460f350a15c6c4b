// SPDX-License-Identifier: Apache-2.0
//
// Which accesses the host checks instead of the kernel: those whose looks at
// lanes can run in a kernel of their own. The host computes their bytes from
// the numbers of a launch, and runs that kernel if one may be out.

#include "Bounds.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "probe/Probe.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;

/// The attribute of what reports lanes, in a trial: the numbers of the
/// accesses.
static constexpr StringLiteral accessesName = "sanitize.accesses";

/// Returns whether the host checks an access, and adds it to those that it
/// does.
bool BoundsChecker::leaveToHost(const MemoryAccess &access,
                                std::optional<unsigned> argument) {
  if (!checker.places.host.count(numbers.lookup(access.op)))
    return false;
  FileLineColLoc at = positionOf(access.op->getLoc());
  StringRef kind = access.isAtomic                            ? "atomic"
                   : access.kind == MemoryAccess::Kind::Store ? "write"
                                                              : "read";
  llvm::json::Object said{{"kind", kind},
                          {"argument", nullptr},
                          {"bytes", access.laneBytes},
                          {"line", at ? int64_t(at.getLine()) : 0},
                          {"column", at ? int64_t(at.getColumn()) : 0}};
  if (argument)
    said["argument"] = int64_t(*argument);
  ofHost.push_back(std::move(said));
  return true;
}

/// Marks what reports lanes in a look, wherever it is moved.
void BoundsChecker::mark(scf::IfOp look, ArrayRef<Operation *> accesses) {
  if (!checker.isTrial)
    return;
  Builder b(look.getContext());
  ArrayAttr all = b.getI64ArrayAttr(llvm::map_to_vector(
      accesses, [&](Operation *op) { return numbers.lookup(op); }));
  look->walk([&](Operation *op) {
    if (isa<probe::CheckOp, probe::FailuresOp>(op))
      op->setAttr(accessesName, all);
  });
}

CheckPlaces BoundsChecker::placesOfChecks() {
  CheckPlaces found;
  checker.kernel.walk([&](Operation *op) {
    if (auto all = op->getAttrOfType<ArrayAttr>(accessesName))
      for (auto number : all.getAsRange<IntegerAttr>())
        found.kernel.insert(number.getInt());
  });
  for (auto [number, hasCorners] : looked) {
    if (found.kernel.count(number))
      continue;
    if (!hasCorners) { // the kernel has a flag then, which serves all of them
      found.host.clear();
      break;
    }
    found.host.insert(number);
  }
  return found;
}

/// Returns whether the kernel has a look at the lanes of an access behind it,
/// in no loop, and of the tensor of one argument.
bool BoundsChecker::isOfOneArgument(const MemoryAccess &access,
                                    const Extents &extents) {
  auto type = dyn_cast<RankedTensorType>(access.type);
  return checker.action == Action::Report && type && type.getRank() != 0 &&
         extents.argument && extents.arguments.size() == 1 &&
         extents.found.empty() &&
         checker.places.kernel.count(numbers.lookup(access.op)) &&
         !access.op->getParentOfType<LoopLikeOpInterface>();
}

/// Checks an access by a function that is called, if it may.
bool BoundsChecker::callLook(const MemoryAccess &access,
                             const Extents &extents) {
  if (!checker.canCall || !isOfOneArgument(access, extents))
    return false;
  ImplicitLocOpBuilder b = checker.after(access.op);
  Value mask = access.mask;
  if (mask)
    mask = inLanes(mask, access.type, b);
  reportLanes({addressOf(access.pointer, b), mask, {}}, access, extents, b);
  // The first check is that of the memory, the second one that of the view.
  Operation *check = access.op->getNextNode();
  while (!isa<probe::CheckOp>(check))
    check = check->getNextNode();
  check->setAttr("probe.outside",
                 b.getDenseI64ArrayAttr(
                     {int64_t(*extents.argument), int64_t(access.laneBytes)}));
  checker.say(access.op, "bounds", Verdict::Checked, "lane by lane");
  return true;
}

/// Checks an access by `probe.outside`, if it may.
bool BoundsChecker::keepFirst(const MemoryAccess &access,
                              const Extents &extents) {
  Operation *op = access.op;
  if (!checker.keepsFirst || !isOfOneArgument(access, extents))
    return false;
  auto type = cast<RankedTensorType>(access.type);
  ImplicitLocOpBuilder b = checker.after(op);
  Value mask = access.mask;
  if (mask)
    mask = inLanes(mask, type, b);
  auto number = int64_t(*extents.argument);
  auto outside =
      probe::OutsideOp::create(b, addressOf(access.pointer, b), "view", mask,
                               int32_t(number), int32_t(access.laneBytes));
  llvm::json::Object note{
      {"address", true}, {"argument", number}, {"values", llvm::json::Array()}};
  checker.addTo(note, "view", op);
  outside->setAttr("probe.note", b.getStringAttr(textOf(std::move(note))));
  outside->setAttr("probe.rules", b.getStringAttr("sanitize"));
  checker.say(op, "bounds", Verdict::Checked, "lane by lane");
  return true;
}

CheckPlaces sanitizer::placesOfChecks(const Checker &checker) {
  if (checker.action == Action::Trap)
    return {};
  OpBuilder b(checker.kernel);
  auto copy = cast<tt::FuncOp>(b.clone(*checker.kernel));
  CheckPlaces found;
  {
    Checker trial(copy, {"bounds"}, checker.action);
    trial.isTrial = true;
    trial.isStatic = checker.isStatic;
    trial.looks = Looks::Raise;
    BoundsChecker bounds(trial);
    bounds.run();
    found = bounds.placesOfChecks();
  }
  copy.erase();
  if (!checker.isStatic)
    found.host.clear();
  return found;
}
