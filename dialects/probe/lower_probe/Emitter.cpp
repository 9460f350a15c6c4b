// SPDX-License-Identifier: Apache-2.0
//
// Lowers the probes of one kernel to tt. Layout.h describes the buffer that
// they write to.

#include "Emitter.h"
#include "Layout.h"
#include "Regions.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
using namespace mlir::triton_ext::probe;
namespace tt = mlir::triton;

/// Returns the number of elements of the tensors among the operands of `op`; 0
/// if all are scalars.
static int64_t numLanesOf(Operation *op) {
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
  return cast<CheckOp>(op).getMessage();
}

/// Returns what the host needs to know of `op`.
static llvm::json::Object describe(Operation *op) {
  llvm::json::Array types, shape;
  for (Value value : valuesOf(op)) {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << getElementTypeOrSelf(value.getType());
    types.push_back(text);
  }
  for (int64_t size : shapeOf(op))
    shape.push_back(size);
  StringRef kind =
      isa<RegionBeginOp>(op) ? "region" : op->getName().stripDialect();
  llvm::json::Object site{{"kind", kind},
                          {"name", nameOf(op)},
                          {"types", std::move(types)},
                          {"shape", std::move(shape)}};
  // What a pass says of a probe that it has inserted.
  if (auto rules = op->getAttrOfType<StringAttr>("probe.rules"))
    site["rules"] = rules.getValue();
  for (StringRef name : {"weight", "lanes"})
    if (auto number = op->getAttrOfType<IntegerAttr>(("probe." + name).str()))
      site[name] = number.getInt();
  op->getLoc()->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    site["file"] = file.getFilename().strref();
    site["line"] = file.getLine();
    return WalkResult::interrupt();
  });
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

Emitter::Emitter(tt::FuncOp kernel, ArrayRef<Operation *> probes, Clock &clock)
    : kernel(kernel), clock(clock), b(kernel.getLoc(), kernel.getContext()) {
  for (Operation *op : probes) {
    if (auto clock = dyn_cast<ClockOp>(op))
      clocks.push_back(clock);
    else if (!isa<RegionEndOp>(op))
      sitesOfKernel.push_back(op);
    if (auto region = dyn_cast<RegionBeginOp>(op))
      regions.push_back(region);
  }
  placeLines();
  llvm::json::Array list;
  for (auto [i, op] : llvm::enumerate(sitesOfKernel)) {
    llvm::json::Object site = describe(op);
    site["line_of_chunks"] = lines[i];
    if (auto histogram = dyn_cast<HistogramOp>(op)) {
      site["bins"] = int64_t(histogram.getBins());
      site["bins_line"] = binLines[i];
      site["lo"] = histogram.getLo().convertToDouble();
      site["hi"] = histogram.getHi().convertToDouble();
    }
    if (auto region = dyn_cast<RegionBeginOp>(op)) {
      site["per_warp"] = region.getPerWarp();
      site["warps"] = region.getPerWarp() ? clock.warps() : 1;
      site["records_of_block"] = Regions::recordsOfBlock(regions, clock);
    }
    list.push_back(std::move(site));
  }
  llvm::json::Object table{{"kernel", kernel.getName()},
                           {"sites", std::move(list)}};
  llvm::raw_string_ostream os(sites);
  os << llvm::json::Value(std::move(table));
  key = keyOf(sites);
}

/// Gives each site a line. The bins of a histogram lie in one chunk, or in
/// several whole ones.
void Emitter::placeLines() {
  for (Operation *op : sitesOfKernel) {
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

LogicalResult Emitter::run() {
  if (clock.isKnown())
    numThreads = clock.numThreads();
  if ((!clocks.empty() || !regions.empty()) && !clock.isKnown()) {
    Operation *op = clocks.empty() ? regions.front() : clocks.front();
    return op->emitOpError() << "expected a module with the attribute '"
                             << kTarget << "' that names a known target";
  }
  for (ClockOp op : clocks) {
    b.setInsertionPoint(op);
    b.setLoc(op.getLoc());
    op.replaceAllUsesWith(clock.read(b, Counter::Cycles, /*isTensor=*/false));
  }
  if (sitesOfKernel.empty())
    return success();
  b.setInsertionPointToStart(&kernel.getBody().front());
  b.setLoc(kernel.getLoc());
  emitPrologue();
  if (!regions.empty() && failed(Regions(*this, clock).run()))
    return failure();
  for (auto [site, op] : llvm::enumerate(sitesOfKernel)) {
    if (isa<RegionBeginOp>(op))
      continue;
    b.setInsertionPoint(op);
    b.setLoc(op->getLoc());
    emit(site, op);
  }
  return success();
}

unsigned Emitter::siteOf(Operation *op) const {
  return llvm::find(sitesOfKernel, op) - sitesOfKernel.begin();
}

Value Emitter::constant(int64_t value) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
}

Value Emitter::truth(bool value) {
  return arith::ConstantOp::create(b, b.getBoolAttr(value));
}

/// Returns the address of a word of the buffer.
Value Emitter::at(Value words) {
  return tt::AddPtrOp::create(b, base.getType(), base, words);
}

Value Emitter::loadHeader(int64_t word) {
  return tt::LoadOp::create(b, at(constant(word)), isThere, constant(0));
}

/// Adds atomically where the mask is on, and returns the old value, which is
/// undefined where it is off.
Value Emitter::addTo(Value pointer, Value amount, Value mask) {
  return update(tt::RMWOp::ADD, pointer, amount, mask);
}

/// As addTo, for any atomic operation.
Value Emitter::update(tt::RMWOp kind, Value pointer, Value value, Value mask) {
  return tt::AtomicRMWOp::create(b, value.getType(), kind, pointer, value, mask,
                                 tt::MemSemantic::RELAXED,
                                 tt::MemSyncScope::GPU);
}

/// Finds the buffer, and the chunks of the kernel in it.
void Emitter::emitPrologue() {
  auto bytes = tt::PointerType::get(b.getI8Type());
  auto words = tt::PointerType::get(b.getI64Type());
  Value own = tt::gpu::GlobalScratchAllocOp::create(
      b, b.getLoc(), bytes, kStride, kStride, b.getUnitAttr());
  // Take back what the operation has added for this program.
  Value id[3], size[2];
  for (int axis = 0; axis < 3; ++axis) {
    Value narrow = tt::GetProgramIdOp::create(b, axis);
    id[axis] = arith::ExtUIOp::create(b, b.getI64Type(), narrow);
    if (axis == 2)
      break;
    narrow = tt::GetNumProgramsOp::create(b, axis);
    size[axis] = arith::ExtUIOp::create(b, b.getI64Type(), narrow);
  }
  Value linear =
      arith::AddIOp::create(b, arith::MulIOp::create(b, id[2], size[1]), id[1]);
  linear = arith::AddIOp::create(b, arith::MulIOp::create(b, linear, size[0]),
                                 id[0]);
  own = tt::AddPtrOp::create(
      b, bytes, own, arith::MulIOp::create(b, linear, constant(-kStride)));
  base = tt::BitcastOp::create(b, words, own);
  Value shift = constant(32);
  programXY =
      arith::OrIOp::create(b, id[0], arith::ShLIOp::create(b, id[1], shift));
  programZ = id[2];

  isThere =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                            tt::LoadOp::create(b, base), constant(kMagic));
  bool hasRecords = llvm::any_of(sitesOfKernel, [](Operation *op) {
    return !isa<CountOp, MinMaxOp, StatsOp>(op);
  });
  if (hasRecords) {
    capacity = loadHeader(kCapacity);
    records = loadHeader(kRecords);
  }
  copy = arith::MulIOp::create(
      b, arith::AndIOp::create(b, linear, constant(kCopies - 1)),
      constant(kCopyWords));
  for (int64_t i = 0, n = llvm::divideCeil(numLines, kSitesOfChunk); i < n; ++i)
    chunks.push_back(findChunk(key | (kChunkKey + i)));
}

/// Returns whether an entry of the directory is `wanted`. Each thread loads for
/// itself, and while another program takes the entry they may see different
/// values, so they agree on one.
Value Emitter::isEntry(Value entry, Value wanted) {
  if (*numThreads == 0) {
    Value found = tt::LoadOp::create(b, entry, isThere, constant(0));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, found, wanted);
  }
  int64_t n = *numThreads;
  Value found = tt::LoadOp::create(b, splat(entry, n), splat(isThere, n),
                                   splat(constant(0), n));
  found = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, found,
                                splat(wanted, n));
  auto type = RankedTensorType::get({n}, b.getI32Type());
  Value most = reduce(arith::ExtUIOp::create(b, type, found), tt::RMWOp::UMAX);
  return arith::TruncIOp::create(b, b.getI1Type(), most);
}

/// Returns the offset of the chunk with `key`: searches the directory from a
/// place that the key gives, and takes the first free entry if no entry has the
/// key. If the directory is full, returns the chunk behind the last one, which
/// tells the host that counters are lost.
Value Emitter::findChunk(int64_t key) {
  Type i64 = b.getI64Type();
  Value mask = loadHeader(kChunkMask);
  Value one = constant(1), zero = constant(0), wanted = constant(key);
  Value start = arith::AndIOp::create(
      b,
      constant(int64_t(uint64_t(key) >> kLocalBits) + (key & (kChunkKey - 1))),
      mask);
  // Without a buffer there is nothing to swap. Mostly another program has taken
  // the first entry, and a load of it, from a cache, is cheaper than a swap.
  Value isNeeded = isThere;
  if (numThreads) {
    Value first = at(arith::AddIOp::create(b, start, constant(kDirectory)));
    Value isMissing =
        arith::XOrIOp::create(b, isEntry(first, wanted), truth(true));
    isNeeded = arith::AndIOp::create(b, isThere, isMissing);
  }
  auto search = scf::IfOp::create(b, TypeRange{i64}, isNeeded,
                                  /*withElseRegion=*/true);
  b.setInsertionPointToStart(search.elseBlock());
  scf::YieldOp::create(b, start);
  b.setInsertionPointToStart(search.thenBlock());
  auto loop = scf::WhileOp::create(b, TypeRange{i64, i64, i64},
                                   ValueRange{start, zero});
  {
    OpBuilder::InsertionGuard guard(b);
    Location loc = b.getLoc();
    Block *before =
        b.createBlock(&loop.getBefore(), {}, {i64, i64}, {loc, loc});
    Value index = before->getArgument(0), tries = before->getArgument(1);
    Value entry = at(arith::AddIOp::create(b, index, constant(kDirectory)));
    // One thread swaps, and all threads get what it found.
    Value old = tt::AtomicCASOp::create(b, i64, entry, zero, wanted,
                                        tt::MemSemantic::RELAXED,
                                        tt::MemSyncScope::GPU);
    Value isOurs = arith::OrIOp::create(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, old, zero),
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, old, wanted));
    Value isFull =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sge, tries, mask);
    Value spare = arith::AddIOp::create(b, mask, one);
    Value chunk = arith::SelectOp::create(b, isOurs, index, spare);
    Value isDone = arith::OrIOp::create(b, isOurs, isFull);
    Value goesOn = arith::XOrIOp::create(b, isDone, truth(true));
    scf::ConditionOp::create(b, goesOn, ValueRange{chunk, index, tries});
    Block *after =
        b.createBlock(&loop.getAfter(), {}, {i64, i64, i64}, {loc, loc, loc});
    Value next = arith::AndIOp::create(
        b, arith::AddIOp::create(b, after->getArgument(1), one), mask);
    Value more = arith::AddIOp::create(b, after->getArgument(2), one);
    scf::YieldOp::create(b, ValueRange{next, more});
  }
  b.setInsertionPointAfter(loop);
  scf::YieldOp::create(b, loop.getResult(0));
  b.setInsertionPointAfter(search);
  Value offset = arith::MulIOp::create(b, search.getResult(0),
                                       constant(kCopies * kCopyWords));
  return arith::AddIOp::create(b, offset, loadHeader(kChunks));
}

/// Returns the pointer to a word of a site in the first copy of its chunk: to
/// one number for all programs.
Value Emitter::sharedWord(unsigned site, int64_t word) {
  Value chunk = chunks[lines[site] / kSitesOfChunk];
  int64_t place = lines[site] % kSitesOfChunk * kSiteWords + word;
  return at(arith::AddIOp::create(b, chunk, constant(place)));
}

/// Returns the pointer to a word of a site in the program's copy of its chunk.
Value Emitter::siteWord(unsigned site, int64_t word) {
  Value first = sharedWord(site, word);
  return tt::AddPtrOp::create(b, first.getType(), first, copy);
}

/// Repeats a scalar for each lane; leaves it a scalar if there are no lanes.
Value Emitter::splat(Value value, int64_t numLanes) {
  if (!numLanes)
    return value;
  return tt::SplatOp::create(
      b, RankedTensorType::get({numLanes}, value.getType()), value);
}

/// Returns `value` with one axis, in row-major order; repeats a scalar.
Value Emitter::flat(Value value, int64_t numLanes) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor)
    return splat(value, numLanes);
  if (tensor.getRank() == 1)
    return value;
  auto type = RankedTensorType::get({numLanes}, tensor.getElementType());
  return tt::ReshapeOp::create(b, type, value, /*allow_reorder=*/false);
}

/// Returns the bits of a number or pointer in i64, with one axis.
Value Emitter::bits(Value value, int64_t numLanes) {
  auto like = [&](Type from, Type element) -> Type {
    auto tensor = dyn_cast<RankedTensorType>(from);
    return tensor ? Type(tensor.clone(element)) : element;
  };
  Type type = value.getType(), element = getElementTypeOrSelf(type);
  Type i64 = b.getI64Type();
  if (isa<tt::PointerType>(element)) {
    value = tt::PtrToIntOp::create(b, like(type, i64), value);
  } else {
    unsigned width = element.getIntOrFloatBitWidth();
    if (isa<FloatType>(element))
      value =
          tt::BitcastOp::create(b, like(type, b.getIntegerType(width)), value);
    if (width < 64)
      value = arith::ExtUIOp::create(b, like(type, i64), value);
  }
  return flat(value, numLanes);
}

/// Returns the lanes whose `mask` is on, or off if `isNegated`, and where
/// `also` is on; either may be null.
Emitter::Lanes Emitter::lanesOf(Operation *op, Value mask, bool isNegated,
                                Value also) {
  Lanes lanes;
  int64_t n = lanes.numLanes = numLanesOf(op);
  Type i64 = b.getI64Type();
  if (!mask && !also) {
    lanes.mask = splat(truth(true), n);
    lanes.count = constant(n ? n : 1);
  } else {
    if (mask)
      lanes.mask = flat(mask, n);
    if (isNegated)
      lanes.mask = arith::XOrIOp::create(b, lanes.mask, splat(truth(true), n));
    if (also && mask)
      lanes.mask = arith::AndIOp::create(b, lanes.mask, flat(also, n));
    else if (also)
      lanes.mask = flat(also, n);
  }
  if (!n) {
    if (!lanes.count)
      lanes.count = arith::ExtUIOp::create(b, i64, lanes.mask);
    return lanes;
  }
  auto wide = RankedTensorType::get({n}, i64);
  auto narrow = RankedTensorType::get({n}, b.getI32Type());
  if (lanes.count) {
    lanes.rank = arith::ExtUIOp::create(
        b, wide, tt::MakeRangeOp::create(b, narrow, 0, n));
    return lanes;
  }
  Value ones = arith::ExtUIOp::create(b, narrow, lanes.mask);
  lanes.count = arith::ExtUIOp::create(b, i64, reduce(ones, tt::RMWOp::ADD));
  if (isa<CountOp>(op))
    return lanes;
  auto scan = tt::ScanOp::create(b, ValueRange{ones}, /*axis=*/0,
                                 /*reverse=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    Location loc = b.getLoc();
    Type i32 = b.getI32Type();
    Block *body =
        b.createBlock(&scan.getCombineOp(), {}, {i32, i32}, {loc, loc});
    Value sum =
        arith::AddIOp::create(b, body->getArgument(0), body->getArgument(1));
    tt::ScanReturnOp::create(b, sum);
  }
  Value before = arith::SubIOp::create(b, scan->getResult(0), ones);
  lanes.rank = arith::ExtUIOp::create(b, wide, before);
  return lanes;
}

/// Combines the lanes of a tensor with one axis; returns a scalar as it is.
Value Emitter::reduce(Value values, tt::RMWOp kind) {
  auto tensor = dyn_cast<RankedTensorType>(values.getType());
  if (!tensor)
    return values;
  auto op = tt::ReduceOp::create(b, ValueRange{values}, /*axis=*/0);
  OpBuilder::InsertionGuard guard(b);
  Location loc = b.getLoc();
  Type type = tensor.getElementType();
  Block *body = b.createBlock(&op.getCombineOp(), {}, {type, type}, {loc, loc});
  Value left = body->getArgument(0), right = body->getArgument(1), both;
  if (kind == tt::RMWOp::UMAX)
    both = arith::MaxUIOp::create(b, left, right);
  else if (kind == tt::RMWOp::FADD)
    both = arith::AddFOp::create(b, left, right);
  else
    both = arith::AddIOp::create(b, left, right);
  tt::ReduceReturnOp::create(b, both);
  return op->getResult(0);
}

/// Returns how many lanes of the mask are on, in i64.
Value Emitter::numberOf(Value mask) {
  Type type = b.getI32Type();
  if (auto tensor = dyn_cast<RankedTensorType>(mask.getType()))
    type = tensor.clone(type);
  Value ones = arith::ExtUIOp::create(b, type, mask);
  return arith::ExtUIOp::create(b, b.getI64Type(),
                                reduce(ones, tt::RMWOp::ADD));
}

/// Returns numbers in f64; i1 is 0 or 1, other integers are signed.
Value Emitter::inF64(Value value) {
  Type element = getElementTypeOrSelf(value.getType()), f64 = b.getF64Type();
  if (auto tensor = dyn_cast<RankedTensorType>(value.getType()))
    f64 = tensor.clone(f64);
  if (element.isF64())
    return value;
  if (isa<FloatType>(element))
    return arith::ExtFOp::create(b, f64, value);
  if (element.isInteger(1))
    return arith::UIToFPOp::create(b, f64, value);
  return arith::SIToFPOp::create(b, f64, value);
}

void Emitter::emitMinMax(unsigned site, MinMaxOp op) {
  int64_t n = numLanesOf(op);
  Value value = flat(op.getValue(), n);
  Value isOn = op.getMask() ? flat(op.getMask(), n) : splat(truth(true), n);
  Type element = getElementTypeOrSelf(value.getType());
  auto like = [&](Type type) -> Type {
    return n ? Type(RankedTensorType::get({n}, type)) : type;
  };
  Type i64 = like(b.getI64Type());
  Value sign = splat(constant(INT64_MIN), n), key;
  if (isa<FloatType>(element)) {
    value = inF64(value);
    Value isNaN =
        arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
    Value isNumber = arith::XOrIOp::create(b, isNaN, splat(truth(true), n));
    Value number = numberOf(arith::AndIOp::create(b, isOn, isNaN));
    addTo(siteWord(site, kNaN), number, isThere);
    isOn = arith::AndIOp::create(b, isOn, isNumber);
    // Negative numbers are in reverse order: all of their bits are inverted. Of
    // the others only the sign is.
    Value bits = tt::BitcastOp::create(b, i64, value);
    Value all = arith::ShRSIOp::create(b, bits, splat(constant(63), n));
    key = arith::XOrIOp::create(b, bits, arith::OrIOp::create(b, all, sign));
  } else {
    if (element.isInteger(1))
      value = arith::ExtUIOp::create(b, i64, value);
    else if (!element.isInteger(64))
      value = arith::ExtSIOp::create(b, i64, value);
    key = arith::XOrIOp::create(b, value, sign);
  }
  Value zero = splat(constant(0), n);
  Value inverted = arith::XOrIOp::create(b, key, splat(constant(-1), n));
  addTo(siteWord(site, kCount), numberOf(isOn), isThere);
  for (auto [word, keys] : {std::pair(kMax, key), {kInvertedMin, inverted}}) {
    Value chosen = arith::SelectOp::create(b, isOn, keys, zero);
    update(tt::RMWOp::UMAX, siteWord(site, word),
           reduce(chosen, tt::RMWOp::UMAX), isThere);
  }
}

void Emitter::emitStats(unsigned site, StatsOp op) {
  int64_t n = numLanesOf(op);
  Value value = flat(op.getValue(), n);
  Value isOn = op.getMask() ? flat(op.getMask(), n) : splat(truth(true), n);
  Type element = getElementTypeOrSelf(value.getType());
  value = inF64(value);
  Value zero =
      splat(arith::ConstantOp::create(b, b.getF64FloatAttr(0)).getResult(), n);
  if (isa<FloatType>(element)) {
    // The difference is a NaN for infinities and NaNs.
    Value isFinite =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ,
                              arith::SubFOp::create(b, value, value), zero);
    Value isNumber =
        arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, value, value);
    Value on = splat(truth(true), n);
    Value isNaN =
        arith::AndIOp::create(b, isOn, arith::XOrIOp::create(b, isNumber, on));
    Value isInf = arith::AndIOp::create(b, isNumber,
                                        arith::XOrIOp::create(b, isFinite, on));
    isInf = arith::AndIOp::create(b, isOn, isInf);
    addTo(siteWord(site, kNaN), numberOf(isNaN), isThere);
    addTo(siteWord(site, kInf), numberOf(isInf), isThere);
    isOn = arith::AndIOp::create(b, isOn, isFinite);
  }
  addTo(siteWord(site, kCount), numberOf(isOn), isThere);
  value = arith::SelectOp::create(b, isOn, value, zero);
  Value square = arith::MulFOp::create(b, value, value);
  auto type = tt::PointerType::get(b.getF64Type());
  for (auto [word, terms] : {std::pair(kSum, value), {kSquares, square}})
    update(tt::RMWOp::FADD,
           tt::BitcastOp::create(b, type, siteWord(site, word)),
           reduce(terms, tt::RMWOp::FADD), isThere);
}

/// Returns the addresses of the bins of a histogram.
Value Emitter::binWords(unsigned site, int64_t numBins) {
  auto wide = RankedTensorType::get({numBins}, b.getI64Type());
  Value bin = arith::ExtUIOp::create(
      b, wide,
      tt::MakeRangeOp::create(b, wide.clone(b.getI32Type()), 0, numBins));
  constexpr int64_t size = kCopyWords;
  int64_t first = binLines[site] / kSitesOfChunk;
  Value offset = splat(chunks[first], numBins);
  for (int64_t i = 1; i * size < numBins; ++i) {
    // The bins from here on lie in this chunk.
    Value isBehind = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, bin,
                                           splat(constant(i * size), numBins));
    Value chunk =
        arith::SubIOp::create(b, chunks[first + i], constant(i * size));
    offset =
        arith::SelectOp::create(b, isBehind, splat(chunk, numBins), offset);
  }
  Value start = arith::AddIOp::create(
      b, copy, constant(binLines[site] % kSitesOfChunk * kSiteWords));
  offset = arith::AddIOp::create(b, offset, splat(start, numBins));
  Value pointer = splat(base, numBins);
  return tt::AddPtrOp::create(b, pointer.getType(), pointer,
                              arith::AddIOp::create(b, offset, bin));
}

void Emitter::emitHistogram(unsigned site, HistogramOp op) {
  // A scalar is a tensor with one lane.
  int64_t n = std::max<int64_t>(numLanesOf(op), 1), bins = op.getBins();
  Value value = flat(op.getValue(), n);
  Value isOn = op.getMask() ? flat(op.getMask(), n) : splat(truth(true), n);
  auto f64 = RankedTensorType::get({n}, b.getF64Type());
  auto i32 = RankedTensorType::get({n}, b.getI32Type());
  auto number = [&](double x) {
    return splat(arith::ConstantOp::create(b, b.getF64FloatAttr(x)), n);
  };
  auto integer = [&](int32_t x) {
    return splat(arith::ConstantOp::create(b, b.getI32IntegerAttr(x)), n);
  };
  auto is = [&](arith::CmpFPredicate predicate, Value left, Value right) {
    Value found = arith::CmpFOp::create(b, predicate, left, right);
    return Value(arith::AndIOp::create(b, isOn, found));
  };
  value = inF64(value);
  double lo = op.getLo().convertToDouble(), hi = op.getHi().convertToDouble();
  using Predicate = arith::CmpFPredicate;
  addTo(siteWord(site, kBelow), numberOf(is(Predicate::OLT, value, number(lo))),
        isThere);
  addTo(siteWord(site, kAbove), numberOf(is(Predicate::OGT, value, number(hi))),
        isThere);
  addTo(siteWord(site, kNaN), numberOf(is(Predicate::UNO, value, value)),
        isThere);
  isOn = is(Predicate::OGE, value, number(lo));
  isOn = is(Predicate::OLE, value, number(hi));
  addTo(siteWord(site, kCount), numberOf(isOn), isThere);

  // An estimate, which is off by one at most, and then the edges decide.
  value = arith::SelectOp::create(b, isOn, value, number(lo));
  double step = (hi - lo) / bins;
  Value scaled = arith::MulFOp::create(
      b, arith::SubFOp::create(b, value, number(lo)), number(bins / (hi - lo)));
  Value bin = arith::FPToSIOp::create(b, i32, scaled);
  bin = arith::MinSIOp::create(b, bin, integer(bins - 1));
  auto edge = [&](Value index) {
    // The product is rounded before the sum, as NumPy does: a target may fuse a
    // product and a sum, but not this operation and a sum.
    Value product = math::FmaOp::create(
        b, arith::SIToFPOp::create(b, f64, index), number(step), number(0));
    return Value(arith::AddFOp::create(b, product, number(lo)));
  };
  Value isBelow = arith::CmpFOp::create(b, Predicate::OLT, value, edge(bin));
  Value next = arith::AddIOp::create(b, bin, integer(1));
  Value isAbove = arith::CmpFOp::create(b, Predicate::OGE, value, edge(next));
  isAbove = arith::AndIOp::create(
      b, isAbove,
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, next, integer(bins)));
  bin = arith::SubIOp::create(b, bin, arith::ExtUIOp::create(b, i32, isBelow));
  bin = arith::AddIOp::create(b, bin, arith::ExtUIOp::create(b, i32, isAbove));

  int64_t size = llvm::PowerOf2Ceil(bins);
  auto counts = RankedTensorType::get({size}, b.getI32Type());
  Value found = tt::HistogramOp::create(b, counts, bin, isOn);
  found = arith::ExtUIOp::create(b, counts.clone(b.getI64Type()), found);
  addTo(binWords(site, size), found, splat(isThere, size));
}

void Emitter::emit(unsigned site, Operation *op) {
  if (auto histogram = dyn_cast<HistogramOp>(op))
    return emitHistogram(site, histogram);
  if (auto minmax = dyn_cast<MinMaxOp>(op))
    return emitMinMax(site, minmax);
  if (auto stats = dyn_cast<StatsOp>(op))
    return emitStats(site, stats);
  if (auto count = dyn_cast<CountOp>(op)) {
    Lanes lanes = lanesOf(op, count.getMask(), false, {});
    addTo(siteWord(site, kCount), lanes.count, isThere);
    return;
  }
  if (auto record = dyn_cast<RecordOp>(op)) {
    emitRecords(site, lanesOf(op, record.getMask(), false, {}),
                record.getValues());
    return;
  }
  auto check = cast<CheckOp>(op);
  Lanes lanes = lanesOf(op, check.getCondition(), true, check.getMask());
  Value zero = constant(0);
  Value hasFailed =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, lanes.count, zero);
  hasFailed = arith::AndIOp::create(b, hasFailed, isThere);
  Value old = addTo(sharedWord(site, kCount), lanes.count, hasFailed);
  old = arith::SelectOp::create(b, hasFailed, old, zero);
  Value room = arith::SubIOp::create(b, constant(kMostFailures), old);
  room = arith::MaxSIOp::create(b, room, zero);
  Value isFirst;
  if (lanes.numLanes)
    isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, lanes.rank,
                                    splat(room, lanes.numLanes));
  else
    isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, room, zero);
  lanes.mask = arith::AndIOp::create(b, lanes.mask, isFirst);
  lanes.count = arith::MinSIOp::create(b, lanes.count, room);
  emitRecords(site, lanes, check.getValues());
}

/// Reserves room for the records of the active lanes with one atomic addition,
/// writes those that fit, and counts the others.
void Emitter::emitRecords(unsigned site, Lanes lanes, ValueRange values) {
  int64_t n = lanes.numLanes, words = kRecordHead + values.size();
  Value size = constant(words), zero = constant(0);
  Value isWanted =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, lanes.count, zero);
  isWanted = arith::AndIOp::create(b, isWanted, isThere);
  Value start = addTo(at(constant(kCursor)),
                      arith::MulIOp::create(b, lanes.count, size), isWanted);
  start = arith::SelectOp::create(b, isWanted, start, zero);

  Value offset = splat(start, n);
  if (n)
    offset = arith::AddIOp::create(
        b, offset, arith::MulIOp::create(b, lanes.rank, splat(size, n)));
  Value end = arith::AddIOp::create(b, offset, splat(size, n));
  Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, end,
                                     splat(capacity, n));
  fits = arith::AndIOp::create(b, fits, lanes.mask);
  fits = arith::AndIOp::create(b, fits, splat(isWanted, n));

  Value lane = constant(0xFFFFFFFF);
  if (n)
    lane = arith::ExtUIOp::create(
        b, RankedTensorType::get({n}, b.getI64Type()),
        tt::MakeRangeOp::create(b, RankedTensorType::get({n}, b.getI32Type()),
                                0, n));
  lane = arith::ShLIOp::create(b, lane, splat(constant(32), n));
  SmallVector<Value> content{splat(constant(key | (site + 1)), n),
                             splat(programXY, n),
                             arith::OrIOp::create(b, lane, splat(programZ, n))};
  for (Value value : values)
    content.push_back(bits(value, n));
  Value first = splat(at(records), n);
  for (auto [i, word] : llvm::enumerate(content)) {
    Value place =
        i ? Value(arith::AddIOp::create(b, offset, splat(constant(i), n)))
          : offset;
    Value pointer = tt::AddPtrOp::create(b, first.getType(), first, place);
    tt::StoreOp::create(b, pointer, word, fits);
  }

  Value left = arith::SubIOp::create(b, capacity, start);
  left = arith::DivSIOp::create(b, arith::MaxSIOp::create(b, left, zero), size);
  Value lost = arith::SubIOp::create(
      b, lanes.count, arith::MinSIOp::create(b, left, lanes.count));
  Value isLost =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, lost, zero);
  addTo(siteWord(site, kLost), lost,
        arith::AndIOp::create(b, isLost, isWanted));
}
