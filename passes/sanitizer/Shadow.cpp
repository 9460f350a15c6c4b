// SPDX-License-Identifier: Apache-2.0
//
// Reads of memory that nothing has written, and races of two programs: which
// accesses look at a shadow, and where the looks are. A look is a branch that
// is taken if the launch says that the argument has a shadow.

#include "Shadow.h"
#include "Bounds.h"
#include "Merge.h"
#include "Recompute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;
using P = arith::CmpIPredicate;
using Kind = MemoryAccess::Kind;

/// How many lanes a look takes at once: so few that it does not need more
/// registers than the kernel has.
static constexpr int64_t lanesAtOnce = 256;

/// Returns the argument that an access points into; says why and returns
/// nullopt if it has no shadow.
std::optional<unsigned> ShadowChecker::argumentOf(const MemoryAccess &access,
                                                  StringRef check) {
  auto refuse = [&](const std::string &why) -> std::optional<unsigned> {
    checker.say(access.op, check, Verdict::Unsupported, why);
    return std::nullopt;
  };
  if (access.descriptor)
    return refuse("accesses by descriptors have no shadow");
  if (hasNoDimension(access))
    return refuse("a tensor without dimensions");
  Roots roots = rootsOf(access.pointer, checker.kernel);
  bool isOne = roots.arguments.size() == 1;
  if (isOne && check == "race")
    if (std::string why = whyRaceUnknown(access, roots.arguments.front());
        !why.empty())
      return refuse(why);
  if (roots.isOpen || !roots.others.empty() || !isOne)
    return refuse("the pointer does not come from one argument");
  if (access.laneBytes > 8 || !llvm::isPowerOf2_64(access.laneBytes))
    return refuse("elements of this size have no shadow");
  return roots.arguments.front();
}

/// Returns why the shadow for races does not know the elements of an access;
/// the empty text if it does.
std::string ShadowChecker::whyRaceUnknown(const MemoryAccess &access,
                                          unsigned argument) {
  Type pointee =
      cast<tt::PointerType>(checker.kernel.getArgument(argument).getType())
          .getPointeeType();
  int64_t bytes = pointee.isIntOrFloat()
                      ? llvm::divideCeil(pointee.getIntOrFloatBitWidth(), 8)
                      : 8;
  if (locks.heldIn(access.op).size() > 1)
    return "the program holds several locks";
  return bytes == access.laneBytes ? ""
                                   : "elements of another size than those of "
                                     "the kernel's argument";
}

/// Whether an access may race with one of the kernel that has a shadow and that
/// it `isCompared` with, if their arguments are in one storage.
bool ShadowChecker::canRace(
    const ShadowAccess &one,
    llvm::function_ref<bool(const ShadowAccess &)> isCompared) const {
  return llvm::any_of(shadowed, [&](const ShadowAccess &other) {
    return other.isRace() && (one.writes() || other.writes()) &&
           !(one.access.isAtomic && other.access.isAtomic) && isCompared(other);
  });
}

/// Says what becomes of an access, and returns whether it looks at its shadow.
bool ShadowChecker::keepsLook(const ShadowAccess &one) {
  auto say = [&](Verdict verdict, const std::string &why) {
    checker.say(one.access.op, one.check(), verdict, why);
    return verdict == Verdict::Checked;
  };
  if (!one.isRace())
    return say(Verdict::Checked, "by a shadow of the memory");
  auto isAny = [](const ShadowAccess &) { return true; };
  auto isUnordered = [&](const ShadowAccess &other) {
    return !mayBeOrdered(one.signals, other.signals);
  };
  auto isInWord = [&](const ShadowAccess &other) {
    return isUnordered(other) && one.access.laneBytes == other.access.laneBytes;
  };
  bool canRaceUnordered = canRace(one, isUnordered);
  if (!canRaceUnordered && canRace(one, isAny))
    return say(Verdict::Unsupported, "programs wait for each other, which may "
                                     "order this access and others");
  if (!canRaceUnordered && (checker.isStatic || hasSignals()))
    return say(Verdict::Proved, "no access of the kernel can race with it");
  // The words of a kernel with signals have only the sets of its accesses, and
  // a look needs one to compare with.
  if (hasSignals() && !canRace(one, isInWord))
    return say(Verdict::Unsupported,
               "it could race only with elements of another size");
  if (!raceWord(one.access.laneBytes).hasRoom())
    return say(Verdict::Unsupported,
               "the kernel has more kinds of accesses than a word has sets");
  return say(Verdict::Checked, "by a shadow of the memory");
}

/// Whether any access has a place among signals.
bool ShadowChecker::hasSignals() const {
  return llvm::any_of(shadowed, [](const ShadowAccess &one) {
    return !(one.signals == SignalPlace());
  });
}

/// Returns the first operation behind `op` in its block that may wait for
/// another program, or tell it something; or the end of the block.
static Operation *nextStopBehind(Operation *op, bool isAtStores) {
  for (op = op->getNextNode(); !op->hasTrait<OpTrait::IsTerminator>();
       op = op->getNextNode()) {
    auto access = analysis::memoryAccessOf(op);
    bool isPlain = access && !access->isAtomic &&
                   (access->kind == Kind::Load ||
                    (access->kind == Kind::Store && !isAtStores));
    if (!isPlain && !isMemoryEffectFree(op))
      return op;
  }
  return op;
}

/// Returns the operation before which the look at an access belongs. For races
/// any order is right, so it is where the kernel's values are dead. For
/// `uninit`, looks are in the order of the accesses, and bytes are marked
/// before another program can hear of them: by an atomic operation, or by a
/// store if loads are volatile.
Operation *ShadowChecker::placeOf(const ShadowAccess &one) {
  Operation *op = one.access.op;
  ImplicitLocOpBuilder b = checker.before(op);
  if (one.isRace())
    return one.access.lanes == 1 || canBuildLanes(tracker, one.access, b)
               ? op->getBlock()->getTerminator()
               : op;
  bool isMark = one.writes() && (isOrdered || one.access.isAtomic);
  // A loaded index that only a later call needs would be kept in memory.
  bool isEarly = checker.callsShadows && !one.writes() &&
                 !canBuildLanes(tracker, one.access, b) &&
                 llvm::none_of(shadowed, [&](const ShadowAccess &other) {
                   return other.place && !other.isRace() && other.writes() &&
                          other.place->getBlock() == op->getBlock() &&
                          !other.place->isBeforeInBlock(op);
                 });
  return isMark || isEarly ? op : nextStopBehind(op, isOrdered);
}

/// Returns whether the argument has a shadow, as an i1 at the kernel's start.
Value ShadowChecker::hasShadow(const ShadowAccess &one) {
  Value &known = conditions[{one.argument, one.shadow}];
  if (!known) {
    ImplicitLocOpBuilder b(checker.kernel.getLoc(), checker.start);
    Value word = checker.word(one.argument, one.shadow);
    Value none = arith::ConstantOp::create(b, b.getI64IntegerAttr(0));
    known = arith::CmpIOp::create(b, P::ne, word, none);
    known.getDefiningOp()->setAttr("probe.has_shadow", b.getUnitAttr());
  }
  return known;
}

bool ShadowChecker::isMixed(const ShadowAccess &one) {
  auto isBuilt = [&](const MemoryAccess &access) {
    ImplicitLocOpBuilder b = checker.before(access.op);
    return canBuildLanes(tracker, access, b);
  };
  return llvm::any_of(shadowed, [&](const ShadowAccess &other) {
    const MemoryAccess &access = other.access;
    return other.shadow == one.shadow &&
           access.op->getBlock() == one.access.op->getBlock() &&
           access.pointer.getType() == one.access.pointer.getType() &&
           (access.kind != one.access.kind ||
            access.isAtomic != one.access.isAtomic) &&
           isBuilt(access) && isBuilt(one.access);
  });
}

void ShadowChecker::insertLook(ShadowAccess &one) {
  ImplicitLocOpBuilder b(one.access.op->getLoc(), one.place);
  one.look = scf::IfOp::create(b, hasShadow(one), /*withElseRegion=*/false);
  markLook(one.look, one.check(), /*isOrdered=*/!one.isRace());
  b.setInsertionPointToStart(one.look.thenBlock());
  auto word = [&](ArgumentWord which) {
    return Checker::wordAt(b, Checker::numberOf(one.argument, which));
  };
  ShadowWords words{word(ArgumentWord::StorageStart),
                    word(ArgumentWord::StorageEnd), word(one.shadow)};
  RaceCodes codes = one.isRace() ? raceCodes(one, words, b) : RaceCodes();
  if (checker.callsShadows)
    return forLanes(
        tracker, one.access, one.access.lanes, b,
        [&](const SomeLanes &lanes) { callLook(one, lanes, codes, b); });
  if (int64_t group = lanesOfWord(one)) {
    auto left = scf::IfOp::create(b, lookAtWords(one, words, group, b),
                                  /*withElseRegion=*/false);
    b.setInsertionPointToStart(left.thenBlock());
  }
  forLanes(tracker, one.access, lanesAtOnce, b, [&](const SomeLanes &lanes) {
    one.isRace() ? checkRace(one, words, lanes, codes, b)
                 : checkInit(one, words, lanes, b);
  });
}

void ShadowChecker::collect() {
  checker.kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<tt::LoadOp>(op))
      isOrdered |= load.getIsVolatile() && !isOwn(op);
    auto access = analysis::memoryAccessOf(op);
    if (access && !isOwn(op))
      accesses.push_back(
          {*access, access->pointer ? rootsOf(access->pointer, checker.kernel)
                                    : Roots()});
  });
  for (const auto &[access, roots] : accesses)
    for (ArgumentWord shadow :
         {ArgumentWord::InitShadow, ArgumentWord::RaceShadow}) {
      ShadowAccess one{access, shadow, 0};
      if (!checker.wants(one.check()))
        continue;
      if (std::optional<unsigned> argument = argumentOf(access, one.check())) {
        one.argument = *argument;
        if (one.isRace()) {
          one.signals = signals.placeOf(access.op);
          if (!locks.heldIn(access.op).empty())
            one.lock = locks.heldIn(access.op).front();
        }
        shadowed.push_back(one);
      }
    }
}

llvm::json::Array ShadowChecker::run() {
  collect();
  SmallVector<ShadowAccess> left;
  llvm::copy_if(shadowed, std::back_inserter(left),
                [&](const ShadowAccess &one) { return keepsLook(one); });
  shadowed = std::move(left);
  llvm::json::Array said = describe();
  llvm::erase_if(shadowed, [&](const ShadowAccess &one) {
    return checker.apart.contains(one.check());
  });
  for (ShadowAccess &one : shadowed)
    one.place = placeOf(one);
  bool hasLoops =
      checker.kernel
          .walk([](LoopLikeOpInterface) { return WalkResult::interrupt(); })
          .wasInterrupted();
  for (ShadowAccess &one : shadowed)
    insertLook(one);
  tracker.finish();
  moveLooks();
  llvm::SmallSetVector<Operation *, 8> rare;
  for (const ShadowAccess &one : shadowed)
    rare.insert(one.look);
  if (hasLoops)
    for (Operation *branch : rare)
      if (!branch->getParentOfType<LoopLikeOpInterface>())
        recomputeScalars(cast<scf::IfOp>(branch), checker.kernel);
  mergeLooks(checker.kernel);
  return said;
}

/// Returns what the host has to know of each access to decide which shadows a
/// launch needs.
llvm::json::Array ShadowChecker::describe() const {
  llvm::json::Array said;
  for (const ShadowAccess &one : shadowed) {
    FileLineColLoc at = positionOf(one.access.op->getLoc());
    StringRef kind = one.access.isAtomic ? "atomic"
                     : one.writes()      ? "write"
                                         : "read";
    llvm::json::Object access{{"check", one.check()},
                              {"kind", kind},
                              {"argument", int64_t(one.argument)},
                              {"bytes", one.access.laneBytes},
                              {"line", at ? int64_t(at.getLine()) : 0},
                              {"column", at ? int64_t(at.getColumn()) : 0}};
    if (one.isRace()) {
      access["set"] = nameOf(raceSetOf(one));
      access["word"] = int64_t(raceWord(one.access.laneBytes).size / 8);
      access["file"] = at ? at.getFilename().strref() : "";
    }
    said.push_back(std::move(access));
  }
  return said;
}

llvm::json::Array sanitizer::checkShadow(Checker &checker) {
  if (!checker.wants("uninit") && !checker.wants("race"))
    return {};
  return ShadowChecker(checker).run();
}
