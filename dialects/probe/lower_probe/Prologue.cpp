// SPDX-License-Identifier: Apache-2.0
//
// Emits what the probes of a kernel share, at its start: finds the session's
// buffer, and the kernel's chunks of counters in it.

#include "Emitter.h"
#include "Layout.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
using namespace mlir::triton_ext::probe;
namespace tt = mlir::triton;

/// Finds the slot if there are launch words, the buffer, and the chunks of the
/// kernel in it.
void Emitter::emitPrologue() {
  auto bytes = tt::PointerType::get(b.getI8Type());
  auto words = tt::PointerType::get(b.getI64Type());
  int32_t stride = sites.hasSlot ? kSlotStride : kStride;
  own = tt::gpu::GlobalScratchAllocOp::create(b, b.getLoc(), bytes, stride,
                                              stride, b.getUnitAttr());
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
  linear =
      arith::AddIOp::create(b, arith::MulIOp::create(b, id[2], size[1]), id[1]);
  linear = arith::AddIOp::create(b, arith::MulIOp::create(b, linear, size[0]),
                                 id[0]);
  Value first = tt::AddPtrOp::create(
      b, bytes, own, arith::MulIOp::create(b, linear, constant(-stride)));
  shared = tt::BitcastOp::create(b, words, first);
  if (sites.hasSlot)
    hasSlot = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                    tt::LoadOp::create(b, shared),
                                    constant(kSlotMagic));
  Value shift = constant(32);
  programXY =
      arith::OrIOp::create(b, id[0], arith::ShLIOp::create(b, id[1], shift));
  programZ = id[2];
  copy = arith::MulIOp::create(
      b, arith::AndIOp::create(b, linear, constant(kCopies - 1)),
      constant(kCopyWords));

  if (llvm::all_of(sites.ops, [&](Operation *op) { return isLate(op); }))
    return;
  openBuffer();
  if (llvm::any_of(sites.ops, [](Operation *op) {
        return isa<RecordOp, CheckOp, RegionBeginOp>(op);
      }))
    findShard(linear);
  for (int64_t i = 0, n = llvm::divideCeil(sites.numLines, kSitesOfChunk);
       i < n; ++i)
    chunks.push_back(findChunk(sites.key | (kChunkKey + i)));
}

/// Finds the buffer.
void Emitter::openBuffer() {
  if (!sites.hasSlot) {
    base = shared;
    isThere =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                              tt::LoadOp::create(b, base), constant(kMagic));
  } else {
    followSlot();
  }
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
  Value chunk = chunks[sites.lines[site] / kSitesOfChunk];
  int64_t place = sites.lines[site] % kSitesOfChunk * kSiteWords + word;
  return at(arith::AddIOp::create(b, chunk, constant(place)));
}

/// Returns the pointer to a word of a site in the program's copy of its chunk.
Value Emitter::siteWord(unsigned site, int64_t word) {
  Value first = sharedWord(site, word);
  return tt::AddPtrOp::create(b, first.getType(), first, copy);
}
