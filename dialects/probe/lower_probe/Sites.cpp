// SPDX-License-Identifier: Apache-2.0
//
// Gives each site of a kernel its number and its place, and describes the sites
// to the host.

#include "Sites.h"
#include "Clock.h"
#include "Layout.h"
#include "Regions.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
using namespace mlir::triton_ext::probe;

int64_t mlir::triton_ext::lower_probe::numLanesOf(Operation *op) {
  for (Type type : op->getOperandTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      return tensor.getNumElements();
  return 0;
}

static ArrayRef<int64_t> shapeOf(Operation *op) {
  for (Type type : op->getOperandTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      return tensor.getShape();
  return {};
}

static ValueRange valuesOf(Operation *op) {
  if (auto record = dyn_cast<RecordOp>(op))
    return record.getValues();
  if (auto check = dyn_cast<CheckOp>(op))
    return check.getValues();
  if (auto failures = dyn_cast<FailuresOp>(op))
    return failures.getValues();
  if (isa<MinMaxOp, StatsOp, HistogramOp>(op))
    return op->getOperands().take_front();
  return {};
}

static StringRef nameOf(Operation *op) {
  if (auto count = dyn_cast<CountOp>(op))
    return count.getName();
  if (auto record = dyn_cast<RecordOp>(op))
    return record.getName();
  if (auto minmax = dyn_cast<MinMaxOp>(op))
    return minmax.getName();
  if (auto stats = dyn_cast<StatsOp>(op))
    return stats.getName();
  if (auto histogram = dyn_cast<HistogramOp>(op))
    return histogram.getName();
  if (auto region = dyn_cast<RegionBeginOp>(op))
    return region.getName();
  if (auto outside = dyn_cast<OutsideOp>(op))
    return outside.getMessage();
  if (auto shadow = dyn_cast<ShadowOp>(op))
    return shadow.getMessage();
  return cast<CheckOp>(op).getMessage();
}

/// Adds the first position in `loc`.
static void describePlace(llvm::json::Object &site, Location loc,
                          bool hasColumn) {
  loc->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    site["file"] = file.getFilename().strref();
    site["line"] = file.getLine();
    if (hasColumn)
      site["column"] = file.getColumn();
    return WalkResult::interrupt();
  });
}

/// Describes one of the checks that an operation stands for.
static void describeFailures(llvm::json::Object &site, FailuresOp op,
                             unsigned number) {
  site["kind"] = "check";
  site["name"] = cast<StringAttr>(op.getMessages()[number]).getValue();
  site["note"] = cast<StringAttr>(op.getNotes()[number]).getValue();
  describePlace(site, cast<LocationAttr>(op.getPlaces()[number]), true);
}

/// Returns what the host needs to know of `op`.
static llvm::json::Object describe(Operation *op, unsigned number) {
  llvm::json::Array types, shape;
  auto each = op->getAttrOfType<DenseBoolArrayAttr>("are_unsigned");
  for (auto [i, value] : llvm::enumerate(valuesOf(op))) {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << (op->hasAttr("is_unsigned") || (each && each[i]) ? "u" : "")
       << getElementTypeOrSelf(value.getType());
    types.push_back(text);
  }
  auto shadow = dyn_cast<ShadowOp>(op);
  if (shadow) { // the launch, the address, and the word of a race
    for (size_t i = 0, n = shadow.getNumbers().empty() ? 2 : 3; i < n; ++i)
      types.push_back("i64");
  } else {
    for (int64_t size : shapeOf(op))
      shape.push_back(size);
  }
  StringRef kind = isa<RegionBeginOp>(op) ? "region"
                   : shadow               ? "check"
                                          : op->getName().stripDialect();
  auto failures = dyn_cast<FailuresOp>(op);
  llvm::json::Object site{{"kind", kind},
                          {"name", failures ? "" : nameOf(op)},
                          {"types", std::move(types)},
                          {"shape", std::move(shape)}};
  // Attributes that a pass sets on a probe that it inserts.
  for (StringRef name : {"rules", "note"})
    if (auto text = op->getAttrOfType<StringAttr>(("probe." + name).str()))
      site[name] = text.getValue();
  if (hasNote(op))
    site["in_loop"] = bool(op->getParentOfType<LoopLikeOpInterface>());
  for (StringRef name : {"weight", "lanes", "argument"})
    if (auto number = op->getAttrOfType<IntegerAttr>(("probe." + name).str()))
      site[name] = number.getInt();
  if (failures)
    describeFailures(site, failures, number);
  else
    describePlace(site, op->getLoc(), hasNote(op));
  return site;
}

/// Returns a key of `text` whose low bits are free, FNV-1a. The host refuses
/// two tables with one key.
static int64_t keyOf(StringRef text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : text)
    hash = (hash ^ c) * 0x100000001b3;
  hash &= ~((uint64_t(1) << kLocalBits) - 1);
  return int64_t(hash ? hash : uint64_t(1) << kLocalBits);
}

/// Returns the name of each argument, by which the host finds its value: "x",
/// "pair.1" for an element of a tuple, "desc.shape.0" for a part of a tensor
/// descriptor; empty if the argument has no name.
static llvm::json::Array namesOfArguments(triton::FuncOp kernel) {
  llvm::json::Array names;
  for (BlockArgument argument : kernel.getArguments()) {
    StringRef name;
    argument.getLoc()->walk([&](Location inner) {
      auto named = dyn_cast<NameLoc>(inner);
      if (!named)
        return WalkResult::advance();
      name = named.getName().strref();
      return WalkResult::interrupt();
    });
    names.push_back(name);
  }
  return names;
}

Sites::Sites(triton::FuncOp kernel, ArrayRef<Operation *> probes,
             const Clock &clock) {
  for (Operation *op : probes) {
    if (auto clock = dyn_cast<ClockOp>(op))
      clocks.push_back(clock);
    else if (auto word = dyn_cast<LaunchWordOp>(op))
      launchWords.push_back(word);
    else if (auto raise = dyn_cast<RaiseOp>(op))
      raises.push_back(raise);
    else if (auto follow = dyn_cast<FollowOp>(op))
      follows.push_back(follow);
    else if (auto failures = dyn_cast<FailuresOp>(op))
      ops.append(failures.getMessages().size(), op);
    else if (!isa<RegionEndOp>(op))
      ops.push_back(op);
    if (auto region = dyn_cast<RegionBeginOp>(op))
      regions.push_back(region);
    hasSlot |= isa<LaunchWordOp, OutsideOp, ShadowOp, RaiseOp>(op);
  }
  loops = regionLoopsOf(regions, clock);
  SmallVector<RegionBeginOp> others(regions);
  DenseMap<Operation *, std::pair<int64_t, int64_t>> places;
  for (auto [number, loop] : llvm::enumerate(loops))
    for (auto [index, offset] : llvm::enumerate(loop.offsets)) {
      RegionEndOp end = loop.ends[index];
      auto begin = end.getHandle().getDefiningOp<RegionBeginOp>();
      places[begin] = {number, offset};
      llvm::erase(others, begin);
    }
  recordsOfBlock = Regions::recordsOfBlock(others, clock);
  placeLines();
  llvm::json::Array list;
  for (auto [i, op] : llvm::enumerate(ops)) {
    llvm::json::Object site = describe(op, i - numberOf(op));
    site["line_of_chunks"] = lines[i];
    if (auto histogram = dyn_cast<HistogramOp>(op)) {
      site["bins"] = int64_t(histogram.getBins());
      site["bins_line"] = binLines[i];
      site["lo"] = histogram.getLo().convertToDouble();
      site["hi"] = histogram.getHi().convertToDouble();
    }
    if (auto region = dyn_cast<RegionBeginOp>(op)) {
      site["per_warp"] = region.getPerWarp();
      site["warps"] = recordsOf(region, clock);
      site["records_of_block"] = recordsOfBlock;
      if (auto place = places.find(region); place != places.end()) {
        site["loop"] = place->second.first;
        site["place"] = place->second.second;
      }
    }
    list.push_back(std::move(site));
  }
  llvm::json::Object described{{"kernel", kernel.getName()},
                               {"sites", std::move(list)}};
  bool hasArgument = llvm::any_of(
      ops, [](Operation *op) { return op->hasAttr("probe.argument"); });
  if (hasSlot || !follows.empty() || hasArgument)
    described["arguments"] = namesOfArguments(kernel);
  llvm::SetVector<StringRef> raised;
  for (RaiseOp op : raises)
    raised.insert(op.getCheck());
  if (!raised.empty())
    described["raises"] = llvm::json::Array(raised.takeVector());
  llvm::SetVector<StringRef> followed;
  for (FollowOp op : follows)
    followed.insert(op.getCheck());
  if (!followed.empty())
    described["follows"] = llvm::json::Array(followed.takeVector());
  llvm::raw_string_ostream os(table);
  os << llvm::json::Value(std::move(described));
  key = keyOf(table);
}

/// Gives each site a line. The bins of a histogram lie in one chunk, or in
/// several whole ones.
void Sites::placeLines() {
  for (Operation *op : ops) {
    lines.push_back(numLines++);
    binLines.push_back(0);
    auto histogram = dyn_cast<HistogramOp>(op);
    if (!histogram)
      continue;
    int64_t size = llvm::divideCeil(llvm::PowerOf2Ceil(histogram.getBins()),
                                    uint64_t(kSiteWords));
    if (numLines % kSitesOfChunk + size > kSitesOfChunk)
      numLines = llvm::alignTo(numLines, kSitesOfChunk);
    binLines.back() = numLines;
    numLines += size;
  }
}

unsigned Sites::numberOf(Operation *op) const {
  return llvm::find(ops, op) - ops.begin();
}
