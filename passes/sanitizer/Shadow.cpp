// SPDX-License-Identifier: Apache-2.0
//
// Reads of memory that nothing has written, and races of two programs.
// RATIONALE.md describes the shadows.

#include "Shadow.h"
#include "Bounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;
using P = arith::CmpIPredicate;
using Kind = MemoryAccess::Kind;

/// Returns a constant of the type of `like`, an integer or a tensor of them.
static Value numberLike(int64_t value, Type like, ImplicitLocOpBuilder &b) {
  Type element = getElementTypeOrSelf(like);
  auto attribute = b.getIntegerAttr(
      element, APInt(element.getIntOrFloatBitWidth(), value, /*isSigned=*/true,
                     /*implicitTrunc=*/true));
  if (auto tensor = dyn_cast<RankedTensorType>(like))
    return arith::ConstantOp::create(b,
                                     DenseElementsAttr::get(tensor, attribute));
  return arith::ConstantOp::create(b, attribute);
}

static Type withElement(Type type, Type element) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? Type(tensor.clone(element)) : element;
}

static Value isNotZero(Value value, ImplicitLocOpBuilder &b) {
  return arith::CmpIOp::create(b, P::ne, value,
                               numberLike(0, value.getType(), b));
}

/// Describes the lanes of an access; says why and returns false if the check
/// does not know how to. The offset of a lane has to be a multiple of `unit`.
bool ShadowChecker::find(const MemoryAccess &access, StringRef check,
                         int64_t unit, ArgumentWord shadow,
                         ImplicitLocOpBuilder &b, Shadowed &found) {
  auto refuse = [&](StringRef why) {
    checker.say(access.op, check, Verdict::Unsupported, why);
    return false;
  };
  if (access.descriptor)
    return refuse("accesses by descriptors have no shadow");
  if (hasNoDimension(access))
    return refuse("a tensor without dimensions");
  Roots roots = rootsOf(access.pointer, checker.kernel);
  if (roots.isOpen || !roots.others.empty() || roots.arguments.size() != 1)
    return refuse("the pointer does not come from one argument");
  if (unit > 8 || !llvm::isPowerOf2_64(unit))
    return refuse("elements of this size have no shadow");
  found.access = access;
  found.argument = roots.arguments.front();
  Value address = addressOf(access.pointer, b);
  Type type = address.getType();
  auto word = [&](ArgumentWord which) {
    return inLanes(checker.word(found.argument, which), type, b);
  };
  Value start = word(ArgumentWord::StorageStart);
  found.offset = arith::SubIOp::create(b, address, start);
  Value isBehind = arith::CmpIOp::create(b, P::sge, address, start);
  Value isBefore = arith::CmpIOp::create(
      b, P::sle, address,
      lastStart(word(ArgumentWord::StorageEnd), access.laneBytes, b));
  Value rest =
      arith::AndIOp::create(b, found.offset, numberLike(unit - 1, type, b));
  Value isAligned =
      arith::CmpIOp::create(b, P::eq, rest, numberLike(0, type, b));
  found.isOn = isNotZero(word(shadow), b);
  for (Value condition : {isBehind, isBefore, isAligned, access.mask})
    if (condition)
      found.isOn = arith::AndIOp::create(b, found.isOn, condition);
  checker.say(access.op, check, Verdict::Checked, "by a shadow of the memory");
  return true;
}

/// Returns pointers to the words of the shadow at these bytes of it.
Value ShadowChecker::shadowAt(const Shadowed &lanes, ArgumentWord shadow,
                              Value byte, Type word, ImplicitLocOpBuilder &b) {
  Value base = inLanes(checker.word(lanes.argument, shadow), byte.getType(), b);
  Value address = arith::AddIOp::create(b, base, byte);
  return tt::IntToPtrOp::create(
      b, withElement(byte.getType(), tt::PointerType::get(word)), address);
}

/// Records the lanes in which `ok` is false.
void ShadowChecker::reportIf(StringRef check, const Shadowed &lanes, Value ok,
                             ImplicitLocOpBuilder &b,
                             llvm::json::Array others) {
  Value isWrong = arith::XOrIOp::create(b, ok, numberLike(1, ok.getType(), b));
  isWrong = arith::AndIOp::create(b, isWrong, lanes.isOn);
  auto look = scf::IfOp::create(b, anyOf(isWrong, b), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(look.thenBlock());
  Finding finding{check,
                  lanes.access.op,
                  ok,
                  lanes.isOn,
                  addressOf(lanes.access.pointer, b),
                  {},
                  {}};
  finding.note["argument"] = int64_t(lanes.argument);
  if (!others.empty())
    finding.note["others"] = std::move(others);
  checker.report(b, std::move(finding));
}

/// Gives an operation on the shadow its mark and returns its result.
static Value own(Operation *op) {
  markOwn(op);
  return op->getResult(0);
}

static Value atomicOr(Value pointer, Value bits, Value mask,
                      ImplicitLocOpBuilder &b) {
  return own(tt::AtomicRMWOp::create(b, bits.getType(), tt::RMWOp::OR, pointer,
                                     bits, mask, tt::MemSemantic::RELAXED,
                                     tt::MemSyncScope::GPU));
}

/// A bit of the shadow says that a byte of the storage was written. What an
/// access reads must be, and what it writes will be.
void ShadowChecker::checkInit(const MemoryAccess &access) {
  ImplicitLocOpBuilder b = checker.before(access.op);
  Shadowed lanes;
  if (!find(access, "uninit", access.laneBytes, ArgumentWord::InitShadow, b,
            lanes))
    return;
  // An aligned element of 8 bytes or less has all of its bits in one word.
  Type i32 = b.getI32Type(), wide = lanes.offset.getType(),
       narrow = withElement(wide, i32);
  Value byte = arith::ShRUIOp::create(b, lanes.offset, numberLike(5, wide, b));
  byte = arith::ShLIOp::create(b, byte, numberLike(2, wide, b));
  Value bit = arith::AndIOp::create(b, lanes.offset, numberLike(31, wide, b));
  Value bits = arith::ShLIOp::create(
      b, numberLike((int64_t(1) << access.laneBytes) - 1, narrow, b),
      arith::TruncIOp::create(b, narrow, bit));
  Value pointer = shadowAt(lanes, ArgumentWord::InitShadow, byte, i32, b);
  // Volatile: another thread of the program may have written the word since
  // this one has read it.
  auto load = tt::LoadOp::create(b, pointer, lanes.isOn,
                                 numberLike(0, narrow, b), /*isVolatile=*/true);
  Value written = arith::AndIOp::create(b, own(load), bits);
  Value ok = arith::CmpIOp::create(b, P::eq, written, bits);
  if (access.kind != Kind::Store)
    reportIf("uninit", lanes, ok, b);
  if (access.kind == Kind::Load)
    return;
  Value isNew = arith::XOrIOp::create(b, ok, numberLike(1, ok.getType(), b));
  atomicOr(pointer, bits, arith::AndIOp::create(b, isNew, lanes.isOn), b);
}

/// Returns the number of the program modulo 2^bits, as i64.
Value ShadowChecker::programIn(unsigned bits, ImplicitLocOpBuilder &b) {
  Value linear;
  for (int axis = 2; axis >= 0; --axis) {
    Value id = arith::ExtUIOp::create(b, b.getI64Type(),
                                      tt::GetProgramIdOp::create(b, axis));
    if (linear) {
      Value size = arith::ExtUIOp::create(
          b, b.getI64Type(), tt::GetNumProgramsOp::create(b, axis));
      id = arith::AddIOp::create(b, arith::MulIOp::create(b, linear, size), id);
    }
    linear = id;
  }
  return arith::AndIOp::create(
      b, linear, numberLike((int64_t(1) << bits) - 1, linear.getType(), b));
}

/// Returns the lines of the accesses with which `access` may race, through the
/// same argument. The shadow does not say which of them it was.
llvm::json::Array ShadowChecker::othersOf(const MemoryAccess &access,
                                          unsigned argument) {
  llvm::json::Array others;
  DenseSet<std::pair<StringRef, unsigned>> seen;
  FileLineColLoc own = positionOf(access.op->getLoc());
  if (own)
    seen.insert({own.getFilename(), own.getLine()});
  for (auto [other, from] : llvm::zip(checker.accesses, roots)) {
    bool isHarmless = (access.isAtomic && other.isAtomic) ||
                      (access.kind == Kind::Load && other.kind == Kind::Load);
    FileLineColLoc at = positionOf(other.op->getLoc());
    if (isHarmless || !at || !from.arguments.contains(argument) ||
        !seen.insert({at.getFilename(), at.getLine()}).second)
      continue;
    others.push_back(
        llvm::json::Object{{"file", at.getFilename().strref()},
                           {"line", int64_t(at.getLine())},
                           {"access", other.kind == Kind::Load    ? "load"
                                      : other.kind == Kind::Store ? "store"
                                                                  : "atomic"}});
  }
  return others;
}

/// A word of the shadow has, for each element, the programs that have read it,
/// written it, and accessed it atomically. Of each set it has the disjunction
/// of the programs' numbers, and of the numbers with all bits inverted: if and
/// only if the set has two programs, a bit is in both.
void ShadowChecker::checkRace(const MemoryAccess &access) {
  ImplicitLocOpBuilder b = checker.before(access.op);
  Shadowed lanes;
  int64_t unit = access.laneBytes;
  Roots roots;
  if (access.pointer)
    roots = rootsOf(access.pointer, checker.kernel);
  if (roots.arguments.size() == 1) {
    auto type = cast<tt::PointerType>(
        checker.kernel.getArgument(roots.arguments.front()).getType());
    Type pointee = type.getPointeeType();
    int64_t bytes = pointee.isIntOrFloat()
                        ? llvm::divideCeil(pointee.getIntOrFloatBitWidth(), 8)
                        : 8;
    if (bytes != unit || unit == 1)
      return checker.say(access.op, "race", Verdict::Unsupported,
                         unit == 1 ? "elements of one byte have no shadow"
                                   : "elements of another size than those of "
                                     "the kernel's argument");
  }
  if (!find(access, "race", unit, ArgumentWord::RaceShadow, b, lanes))
    return;
  // Two bytes of shadow for a byte of memory: 32 bits for an element of 2
  // bytes, else 64. A set takes 2 * bits.
  unsigned bits = unit == 2 ? 5 : 10;
  Type word = b.getIntegerType(unit == 2 ? 32 : 64);
  Type wide = lanes.offset.getType(), type = withElement(wide, word);
  Value program = programIn(bits, b);
  Value inverted = arith::XOrIOp::create(
      b, program, numberLike((int64_t(1) << bits) - 1, program.getType(), b));
  Value both = arith::OrIOp::create(
      b, program,
      arith::ShLIOp::create(b, inverted,
                            numberLike(bits, inverted.getType(), b)));
  if (word != both.getType())
    both = arith::TruncIOp::create(b, word, both);
  both = inLanes(both, wide, b);
  enum Set { Read, Written, Atomic };
  Set set = access.isAtomic             ? Atomic
            : access.kind == Kind::Load ? Read
                                        : Written;
  auto shift = [&](int which) { return numberLike(which * 2 * bits, type, b); };
  Value byte = arith::ShLIOp::create(b, lanes.offset, numberLike(1, wide, b));
  Value pointer = shadowAt(lanes, ArgumentWord::RaceShadow, byte, word, b);
  Value old = atomicOr(pointer, arith::ShLIOp::create(b, both, shift(set)),
                       lanes.isOn, b);
  Value ok;
  for (int other : {Read, Written, Atomic}) {
    if (other == set && set != Written)
      continue; // two reads, or two atomic accesses
    Value found = arith::AndIOp::create(
        b, arith::ShRUIOp::create(b, old, shift(other)),
        numberLike((int64_t(1) << 2 * bits) - 1, type, b));
    Value isNone =
        arith::CmpIOp::create(b, P::eq, found, numberLike(0, type, b));
    Value isOwn = arith::CmpIOp::create(b, P::eq, found, both);
    Value fine = arith::OrIOp::create(b, isNone, isOwn);
    ok = ok ? Value(arith::AndIOp::create(b, ok, fine)) : fine;
  }
  reportIf("race", lanes, ok, b, othersOf(access, lanes.argument));
}

void ShadowChecker::run() {
  if (checker.wants("race"))
    for (const MemoryAccess &access : checker.accesses)
      roots.push_back(access.pointer ? rootsOf(access.pointer, checker.kernel)
                                     : Roots());
  for (const MemoryAccess &access : checker.accesses) {
    if (checker.wants("uninit"))
      checkInit(access);
    if (checker.wants("race"))
      checkRace(access);
  }
}

void sanitizer::checkShadow(Checker &checker) {
  if (checker.wants("uninit") || checker.wants("race"))
    ShadowChecker(checker).run();
}
