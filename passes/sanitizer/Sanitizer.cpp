// SPDX-License-Identifier: Apache-2.0
//
// Inserts the checks that the options ask for. Needs a module that a session of
// probes has marked, and leaves others untouched. What the kernel computes
// stays the same, unless an access is out of bounds and the action says
// otherwise.

#include "Checks.h"
#include "Rehearsal.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Pass/Pass.h"
#include "probe/Inlining.h"
#include "probe/Probe.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::triton_ext::sanitizer {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_SANITIZERPASS
#include "Sanitizer.h.inc"
} // namespace mlir::triton_ext::sanitizer

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;

/// The attribute of the module with the verdicts; `tx.sanitize` reads it.
static constexpr StringLiteral verdictsName = "sanitize.verdicts";
/// The attribute with what launches have to check, if there is something.
static constexpr StringLiteral promisesName = "sanitize.promises";
/// The attribute with the accesses that look at shadows, if there are any.
static constexpr StringLiteral shadowsName = "sanitize.shadows";
/// The attribute by which a session says what becomes of looks at lanes: raise,
/// host, first, shadows or only. `first` is `host`, and the kernel keeps only
/// the first lane where it looks lane by lane.
static constexpr StringLiteral looksName = "sanitize.looks";
/// The attribute with the options of the pass if the kernel raises the flag of
/// the launch, or the host compares corners: with the same options, `only`
/// gives the kernel that looks. Behind them, the accesses that the host checks.
static constexpr StringLiteral apartName = "sanitize.apart";
/// The attribute with the options of the pass if looks at shadows are missing,
/// and behind them the checks of these looks. With the same options, `shadows`
/// gives the kernel that has them.
static constexpr StringLiteral missingName = "sanitize.missing";
/// The attribute with the options of the pass if the kernel keeps only first
/// lanes. With the same options, `host` gives the kernel that has them all.
static constexpr StringLiteral firstName = "sanitize.first";
/// The attribute that says whether the options of these have `static=true`;
/// missing if they do.
static constexpr StringLiteral staticName = "sanitize.static";
/// The attribute that the pass `intensity` writes. By it the host decides which
/// shadows a launch needs.
static constexpr StringLiteral descriptionName = "triton_ext.intensity";
static constexpr StringLiteral knownChecks[] = {"bounds", "lanes", "uninit",
                                                "race",   "hints", "arith"};

namespace {
struct SanitizerPass
    : mlir::triton_ext::sanitizer::impl::SanitizerPassBase<SanitizerPass> {
  using SanitizerPassBase::SanitizerPassBase;

  void runOnOperation() override;

private:
  FailureOr<llvm::StringSet<>> wantedChecks();
  FailureOr<Action> wantedAction();
};
} // namespace

FailureOr<llvm::StringSet<>> SanitizerPass::wantedChecks() {
  llvm::StringSet<> wanted;
  SmallVector<StringRef> names;
  StringRef(checks).split(names, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef name : names) {
    name = name.trim();
    if (name == "all")
      wanted.insert_range(knownChecks);
    else if (llvm::is_contained(knownChecks, name))
      wanted.insert(name);
    else
      return getOperation().emitError()
             << "unknown check '" << name << "', expected all or some of "
             << llvm::join(ArrayRef(knownChecks), ", ");
  }
  return wanted;
}

FailureOr<Action> SanitizerPass::wantedAction() {
  if (action == "report")
    return Action::Report;
  if (action == "suppress")
    return Action::Suppress;
  if (action == "trap")
    return Action::Trap;
  return getOperation().emitError() << "unknown action '" << std::string(action)
                                    << "', expected report, suppress or trap";
}

/// Returns whether Triton launches kernels of the module's target, so that they
/// have a slot. The kernels of others, such as linalg, go to another compiler.
static bool isLaunched(ModuleOp module) {
  auto target = module->getAttrOfType<StringAttr>("probe.target");
  if (!target)
    return true;
  StringRef name = target.getValue();
  return name == "x86-64" || name.starts_with("cuda:") ||
         name.starts_with("hip:");
}

static bool isFor(ModuleOp module, StringRef name) {
  auto target = module->getAttrOfType<StringAttr>("probe.target");
  return target && target.getValue().starts_with(name);
}

static void setJson(ModuleOp module, StringRef name, llvm::json::Array list) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(list));
  module->setAttr(name, StringAttr::get(module.getContext(), text));
}

/// Removes what a session says about looks from the module, and returns it.
static Looks takeLooks(ModuleOp module) {
  auto said = module->getAttrOfType<StringAttr>(looksName);
  module->removeAttr(looksName);
  if (!said)
    return Looks::Inline;
  return llvm::StringSwitch<Looks>(said.getValue())
      .Case("only", Looks::Only)
      .Cases({"host", "first"}, Looks::Host)
      .Case("shadows", Looks::Shadows)
      .Default(Looks::Raise);
}

/// Returns the checks whose looks at shadows are in another kernel.
/// `action=suppress` masks lanes off, so what a store writes then depends on
/// the check of bounds, and only the look for `uninit` beside it knows that.
static llvm::StringSet<> checksApart(Looks looks, bool isStatic,
                                     Action action) {
  llvm::StringSet<> apart;
  if (looks != Looks::Host || !isStatic)
    return apart;
  apart.insert("race");
  if (action == Action::Report)
    apart.insert("uninit");
  return apart;
}

/// Returns which of the checks `apart` the accesses of a kernel have.
static llvm::json::Array missingOf(const llvm::json::Array &accesses,
                                   const llvm::StringSet<> &apart) {
  llvm::json::Array missing;
  for (StringRef check : {"uninit", "race"})
    if (apart.contains(check) &&
        llvm::any_of(accesses, [&](const llvm::json::Value &one) {
          return one.getAsObject()->getString("check") == check;
        }))
      missing.push_back(check);
  return missing;
}

/// Removes what checks have computed and do not need, such as launch words: by
/// them, a kernel would have a slot.
static void removeUnused(tt::FuncOp kernel) {
  kernel.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

void SanitizerPass::runOnOperation() {
  ModuleOp module = getOperation();
  if (!isLaunched(module)) {
    module->removeAttr(descriptionName);
    return;
  }
  auto wanted = wantedChecks();
  auto chosen = wantedAction();
  if (failed(wanted) || failed(chosen))
    return signalPassFailure();
  Rehearsal rehearsal(module, looksName);
  FailureOr<bool> isPrepared =
      probe::prepareForProbes(module, [&](OpPassManager &manager) {
        return runPipeline(manager, module);
      });
  if (failed(isPrepared))
    return signalPassFailure();
  if (!*isPrepared)
    return;
  auto said = module->getAttrOfType<StringAttr>(looksName);
  bool keepsFirst = said && said.getValue() == "first" && hasCorners;
  bool proves = isStatic && hasCorners;
  Looks looks = takeLooks(module);
  llvm::StringSet<> apart = checksApart(looks, proves, *chosen);
  if (looks == Looks::Shadows)
    looks = Looks::Host;
  if (!hasCorners)
    looks = Looks::Inline;
  bool isLookedAtApart = looks == Looks::Host;
  // The kernel says of which launches the host looks at the lanes.
  if (isLookedAtApart && !proves)
    looks = Looks::Raise;
  llvm::json::Array verdicts, promises, shadows, ofHost;
  for (auto kernel : module.getOps<tt::FuncOp>()) {
    if (!kernel.isPublic() || kernel.isExternal())
      continue;
    Checker checker(kernel, *wanted, *chosen);
    checker.isStatic = proves;
    checker.hasCorners = hasCorners;
    checker.looks = looks;
    checker.apart = apart;
    checker.keepsFirst = keepsFirst;
    checker.tellsLoadedAddresses =
        proves || !(isFor(module, "cuda:") || isFor(module, "hip:"));
    checker.callsShadows = calls && isFor(module, "x86-64");
    checker.canCall = isLookedAtApart && isFor(module, "x86-64");
    if (auto promised = promisesOf(checker))
      promises.push_back(std::move(*promised));
    // These look at the kernel's own operations.
    checkLanes(checker);
    checkHints(checker);
    checkArith(checker);
    llvm::json::Array shadowed = checkShadow(checker);
    llvm::json::Array missing = missingOf(shadowed, apart);
    for (const llvm::json::Value &check : missing) {
      auto b = OpBuilder::atBlockTerminator(&kernel.front());
      probe::FollowOp::create(b, kernel.getLoc(), *check.getAsString());
    }
    bool isWhole = missing.empty();
    if (!isWhole)
      setJson(module, missingName,
              llvm::json::Array{StringRef(checks), StringRef(action),
                                std::move(missing)});
    if (!shadowed.empty())
      shadows.push_back(llvm::json::Object{{"kernel", kernel.getName()},
                                           {"accesses", std::move(shadowed)},
                                           {"calls", checker.callsShadows}});
    if (isLookedAtApart && checker.wants("bounds"))
      checker.places = placesOfChecks(checker);
    // The action may change the masks of accesses.
    llvm::json::Array left = checkBounds(checker);
    if (looks == Looks::Only)
      continue;
    checker.sinkWords();
    if (!left.empty()) {
      auto b = OpBuilder::atBlockTerminator(&kernel.front());
      probe::FollowOp::create(b, kernel.getLoc(), "bounds");
    }
    if (!left.empty() || !isWhole)
      removeUnused(kernel);
    for (llvm::json::Value &access : left)
      ofHost.push_back(std::move(access));
    for (llvm::json::Value &verdict : checker.takeVerdicts())
      verdicts.push_back(std::move(verdict));
  }
  if (looks == Looks::Only) // the host knows the rest from the other kernel
    return;
  setJson(module, verdictsName, std::move(verdicts));
  if (!promises.empty())
    setJson(module, promisesName, std::move(promises));
  if (!shadows.empty())
    setJson(module, shadowsName, std::move(shadows));
  llvm::json::Array options{StringRef(checks), StringRef(action)};
  if (!proves)
    module->setAttr(staticName, StringAttr::get(module.getContext(), "false"));
  auto isFirst = [](probe::OutsideOp) { return WalkResult::interrupt(); };
  if (module.walk(isFirst).wasInterrupted())
    setJson(module, firstName, options);
  auto isFollowed = [](Operation *op) {
    return isa<probe::RaiseOp, probe::FollowOp>(op) ? WalkResult::interrupt()
                                                    : WalkResult::advance();
  };
  if (!module.walk(isFollowed).wasInterrupted())
    return;
  if (!ofHost.empty())
    options.push_back(std::move(ofHost));
  setJson(module, apartName, std::move(options));
}
