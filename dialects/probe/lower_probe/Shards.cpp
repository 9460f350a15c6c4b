// SPDX-License-Identifier: Apache-2.0
//
// Takes words of the area of records: from the shard of the program, or from
// the pool, which all programs share.

#include "Emitter.h"
#include "Layout.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
namespace tt = mlir::triton;

/// Finds the area of records, and in it the shard of the program whose linear
/// id is `linear`.
///
/// A thread of a CPU runs neighbours one after the other, so in a kernel with
/// regions, some neighbours have the same shard: its cursor and the lines
/// behind the last record are then in the caches. Other kernels take no room in
/// most programs, and their records are in the order of the programs if there
/// is one program for each shard.
void Emitter::findShard(Value linear) {
  if (*numThreads == 0 && !sites.regions.empty())
    linear = arith::ShRUIOp::create(b, linear, constant(kNeighbourBits));
  capacity = loadHeader(kCapacity);
  records = loadHeader(kRecords);
  shardWords = loadHeader(kShardWords);
  pool = arith::MulIOp::create(b, shardWords, constant(kShards));
  Value number = arith::AndIOp::create(b, linear, constant(kShards - 1));
  shard = arith::MulIOp::create(b, number, shardWords);
  Value cursor = arith::MulIOp::create(b, number, constant(kCursorWords));
  shardCursor = at(arith::AddIOp::create(b, cursor, constant(kShardCursors)));
}

/// Takes words of the area of records where `mask` is on, and returns the
/// offset of the first one; 0 where it is off.
///
/// The words are all in the program's shard, or all in the pool. A cursor only
/// grows, so if a shard has once had no room, its programs take from the pool
/// from then on: the records of a program stay in order.
Value Emitter::take(Value words, Value mask) {
  Value hasShards = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt,
                                          shardWords, constant(0));
  Value isTried = arith::AndIOp::create(b, mask, hasShards);
  Value place = addTo(shardCursor, words, isTried);
  place = arith::SelectOp::create(b, isTried, place, shardWords);
  Value end = arith::AddIOp::create(b, place, words);
  Value fits =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sle, end, shardWords);
  Value isFull = arith::XOrIOp::create(b, fits, truth(true));
  Value isLeft = arith::AndIOp::create(b, mask, isFull);
  // A branch, because an addition whose mask is off still makes the threads of
  // a program wait for its result.
  auto seldom = scf::IfOp::create(b, TypeRange{b.getI64Type()}, isLeft,
                                  /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(seldom.elseBlock());
    Value offset = arith::AddIOp::create(b, shard, place);
    offset = arith::SelectOp::create(b, mask, offset, constant(0));
    scf::YieldOp::create(b, offset);
    b.setInsertionPointToStart(seldom.thenBlock());
    Value behind = takeFromPool(words, mask);
    scf::YieldOp::create(b, Value(arith::AddIOp::create(b, pool, behind)));
  }
  return seldom.getResult(0);
}

/// Takes words of the pool, where all records are in the order in which
/// programs have asked for room, and returns the offset of the first one in the
/// pool; 0 where the mask is off.
Value Emitter::takeFromPool(Value words, Value mask) {
  Value place = addTo(at(constant(kCursor)), words, mask);
  return arith::SelectOp::create(b, mask, place, constant(0));
}
