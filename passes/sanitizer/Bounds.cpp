// SPDX-License-Identifier: Apache-2.0
//
// Every active lane of every access against the tensor that its pointer came
// from. The extreme addresses of a tile are compared as scalars, and its lanes
// are looked at only if one of them is out.

#include "Bounds.h"
#include "Bits.h"
#include "Recompute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;
using P = arith::CmpIPredicate;

static Value isFalse(Value value, ImplicitLocOpBuilder &b) {
  Value all = arith::ConstantOp::create(b, b.getBoolAttr(true));
  return arith::XOrIOp::create(b, value, inLanes(all, value.getType(), b));
}

Value mlir::triton_ext::sanitizer::addressOf(Value pointer,
                                             ImplicitLocOpBuilder &b) {
  Type type = b.getI64Type();
  if (auto tensor = dyn_cast<RankedTensorType>(pointer.getType()))
    type = tensor.clone(type);
  return tt::PtrToIntOp::create(b, type, pointer);
}

bool BoundsChecker::isRepeated(const MemoryAccess &access) {
  auto key =
      std::tuple(access.op->getBlock(), access.pointer.getAsOpaquePointer(),
                 access.mask.getAsOpaquePointer(), access.laneBytes);
  auto [it, isNew] = seen.try_emplace(key, access.op);
  if (isNew)
    return false;
  auto at = positionOf(it->second->getLoc());
  std::string why = "the same addresses as in line " +
                    (at ? std::to_string(at.getLine()) : "?");
  checker.say(access.op, "bounds", Verdict::Proved, why);
  return true;
}

/// Records what is wrong with `lanes`.
void BoundsChecker::reportLanes(const Lanes &lanes, const MemoryAccess &access,
                                const Extents &extents,
                                ImplicitLocOpBuilder &b) {
  SmallVector<ByteRange> storages = extents_.storagesAt(extents, b);
  Value isStored =
      isInside(storages, lanes.address, lanes.address, access.laneBytes, b);
  auto finding = [&](StringRef check, Value ok) {
    Finding found{check, access.op, ok, lanes.mask, lanes.address, {}, {}};
    if (lanes.number)
      found.values.push_back({"lane", lanes.number});
    if (extents.argument)
      found.note["argument"] = int64_t(*extents.argument);
    else
      found.note["argument"] = nullptr;
    if (extents.arguments.size() > 1)
      found.note["arguments"] = llvm::json::Array(extents.arguments);
    return found;
  };
  checker.report(b, finding("bounds", isStored));
  if (!extents.arguments.empty()) {
    Value isViewed = isInside(extents_.viewsAt(extents, b), lanes.address,
                              lanes.address, access.laneBytes, b);
    Value isFine = arith::OrIOp::create(b, isViewed, isFalse(isStored, b));
    checker.report(b, finding("view", isFine));
  }
  if (checker.action == Action::Trap) {
    Value isWrong = isFalse(isStored, b);
    if (lanes.mask)
      isWrong = arith::AndIOp::create(b, isWrong, lanes.mask);
    trap(anyOf(b, isWrong), b);
  }
}

void BoundsChecker::lookAtLanes(const MemoryAccess &access,
                                const Extents &extents,
                                ImplicitLocOpBuilder &b) {
  forLanes(tracker, access, lanesAtOnce, b, [&](const SomeLanes &lanes) {
    reportLanes({addressOf(lanes.pointer, b), lanes.mask, lanes.number}, access,
                extents, b);
  });
}

/// Returns an i1 that is false only if no active lane of the strided access is
/// out of its view.
Value BoundsChecker::isSuspicious(const Strided &strided, const MaskBox &mask,
                                  ArrayRef<int64_t> shape, int64_t bytes,
                                  const Extents &extents,
                                  ImplicitLocOpBuilder &b) {
  IndexMath math{b, b.getLoc(), /*budget=*/1000, b.getI64Type()};
  Extremes corners = StridedTracker::extremes(strided, shape, &mask.box, math);
  Value isIn =
      areCornersInside(extents_.views(extents), math.toValue(corners.low),
                       math.toValue(corners.high), bytes, b);
  Value isOut = isFalse(isIn, b);
  isOut = both(isOut, hasElements(mask, math), math);
  // Where the scalars do not stand for the tile, only its lanes can tell.
  if (Value valid = both(corners.valid, mask.valid, math))
    isOut = arith::OrIOp::create(b, isOut, isFalse(valid, b));
  return isOut;
}

void BoundsChecker::sayChecked(Operation *op, const Extents &extents,
                               StringRef how) {
  std::string why = how.str();
  if (!extents.found.empty())
    why += ", if its pointer points into a tensor of the launch";
  checker.say(op, "bounds", Verdict::Checked, why);
}

/// Reports pointers from memory that point into no tensor of the launch. This
/// is not an error: a kernel may get its tensors in a table of pointers. The
/// host then counts the access as unsupported.
///
/// A scalar is looked at where it comes from, which is mostly before the loop
/// with the access, and so whatever the access's mask is.
void BoundsChecker::noteUnknownPointers(const MemoryAccess &access,
                                        const Extents &extents) {
  for (const ByteRange &range : extents.found) {
    bool isTile = isa<RankedTensorType>(range.start.getType());
    ImplicitLocOpBuilder b =
        checker.after(isTile ? access.op : range.start.getDefiningOp());
    b.setLoc(access.op->getLoc());
    Value none = arith::ConstantOp::create(b, b.getI64IntegerAttr(INT64_MIN));
    Value isKnown = arith::CmpIOp::create(
        b, P::ne, range.start, inLanes(none, range.start.getType(), b));
    Value isUnknown = isFalse(isKnown, b),
          mask = isTile ? access.mask : Value();
    if (mask)
      isUnknown = arith::AndIOp::create(b, isUnknown, mask);
    auto branch =
        scf::IfOp::create(b, anyOf(b, isUnknown), /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    Finding found{"nowhere", access.op, isKnown, mask, {}, {}, {}};
    found.note["argument"] = nullptr;
    checker.report(b, std::move(found));
  }
}

static ArrayRef<int64_t> shapeOf(const MemoryAccess &access) {
  auto tensor = dyn_cast<RankedTensorType>(access.type);
  return tensor ? tensor.getShape() : ArrayRef<int64_t>();
}

void BoundsChecker::checkTile(const MemoryAccess &access) {
  Operation *op = access.op;
  StringRef why;
  if (hasNoDimension(access))
    return checker.say(op, "bounds", Verdict::Unsupported,
                       "a tensor without dimensions");
  std::optional<Extents> extents = extents_.find(access.pointer, op, why);
  if (!extents)
    return checker.say(op, "bounds", Verdict::Unsupported, why);
  if (checker.isStatic && checker.action != Action::Suppress &&
      isRepeated(access))
    return;
  noteUnknownPointers(access, *extents);
  if (leaveToHost(access, extents->argument)) {
    sayChecked(op, *extents, "by the corners of the tile");
    if (checker.action == Action::Suppress && canSuppress(op))
      suppress(access, *extents);
    return;
  }
  std::optional<Strided> strided;
  if (checker.hasCorners)
    strided = tracker.track(access.pointer);
  if (!strided && (keepFirst(access, *extents) || callLook(access, *extents)))
    return;
  ArrayRef<int64_t> shape = shapeOf(access);
  bool isAfter = checker.action != Action::Trap;
  ImplicitLocOpBuilder b = isAfter ? checker.after(op) : checker.before(op);
  Value isOut;
  if (strided) {
    MaskBox mask = maskBox(access.mask, shape, tracker);
    if (isAfter)
      b.setInsertionPoint(op->getBlock()->getTerminator());
    isOut = isSuspicious(*strided, mask, shape, access.laneBytes, *extents, b);
    if (checker.isStatic && matchPattern(isOut, m_Zero()))
      return checker.say(op, "bounds", Verdict::Proved, "its mask is false");
    sayChecked(op, *extents, "by the corners of the tile");
  } else {
    Value address = addressOf(access.pointer, b);
    SmallVector<ByteRange> views = extents_.views(*extents);
    Value isIn = isInside(views, address, address, access.laneBytes, b);
    Value lanesOut = isFalse(isIn, b);
    if (access.mask)
      lanesOut = arith::AndIOp::create(b, lanesOut, access.mask);
    isOut = anyOf(b, lanesOut);
    sayChecked(op, *extents, "lane by lane");
  }
  if (std::optional<Tile> tile = tileOf(access, *extents)) {
    tile->isOut = isOut;
    tiles[op->getBlock()].push_back(std::move(*tile));
  } else {
    auto look = scf::IfOp::create(b, isOut, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(look.thenBlock());
    lookAtLanes(access, *extents, b);
    looks.push_back({op, look});
    mark(look, op);
  }
  looked[numbers.lookup(op)] = strided.has_value();
  if (checker.action == Action::Suppress && canSuppress(op))
    suppress(access, *extents);
}

static bool hasLoops(tt::FuncOp kernel) {
  return kernel
      .walk([](LoopLikeOpInterface) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

void BoundsChecker::run() {
  SmallVector<MemoryAccess> accesses;
  bool hadLoops = hasLoops(checker.kernel);
  checker.kernel.walk([&](Operation *op) {
    auto access = analysis::memoryAccessOf(op);
    if (access && !isOwn(op))
      accesses.push_back(*access);
  });
  for (auto [number, access] : llvm::enumerate(accesses))
    numbers[access.op] = int64_t(number);
  for (const MemoryAccess &access : accesses) {
    if (access.descriptor)
      checkBox(access);
    else
      checkTile(access);
  }
  llvm::append_range(looks, checker.looksOfLanes);
  lookAtAll();
  tracker.finish();
  if (checker.action == Action::Trap) // ends the kernel before the access
    return;
  SmallVector<scf::IfOp> rare =
      setApart(deferLooks(looks), checker.looks, checker.kernel, "bounds");
  if (hadLoops)
    for (scf::IfOp branch : rare)
      recomputeScalars(branch, checker.kernel);
}

llvm::json::Array sanitizer::checkBounds(Checker &checker) {
  if (!checker.wants("bounds")) {
    if (!checker.looksOfLanes.empty())
      setApart(deferLooks(checker.looksOfLanes), checker.looks, checker.kernel,
               "lanes");
    return {};
  }
  BoundsChecker bounds(checker);
  bounds.run();
  return bounds.takeHostAccesses();
}
