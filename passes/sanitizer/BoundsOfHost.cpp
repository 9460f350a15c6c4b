// SPDX-License-Identifier: Apache-2.0
//
// Which accesses the host checks instead of the kernel: those whose looks at
// lanes can run in a kernel of their own. The host computes their bytes from
// the numbers of a launch, and runs that kernel if one may be out.

#include "Bounds.h"

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
  if (!checker.ofHost.count(numbers.lookup(access.op)))
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

std::set<int64_t> BoundsChecker::apart() {
  std::map<int64_t, bool> left(looked);
  checker.kernel.walk([&](Operation *op) {
    if (auto all = op->getAttrOfType<ArrayAttr>(accessesName))
      for (auto number : all.getAsRange<IntegerAttr>())
        left.erase(number.getInt());
  });
  std::set<int64_t> found;
  for (auto [number, hasCorners] : left) {
    if (!hasCorners) // the kernel has a flag then, which serves all of them
      return {};
    found.insert(number);
  }
  return found;
}

std::set<int64_t> sanitizer::accessesOfHost(tt::FuncOp kernel, Action action) {
  if (action == Action::Trap)
    return {};
  OpBuilder b(kernel);
  auto copy = cast<tt::FuncOp>(b.clone(*kernel));
  std::set<int64_t> found;
  {
    Checker trial(copy, {"bounds"}, action);
    trial.isTrial = true;
    trial.looks = Looks::Raise;
    BoundsChecker bounds(trial);
    bounds.run();
    found = bounds.apart();
  }
  copy.erase();
  return found;
}
