# SPDX-License-Identifier: Apache-2.0
"""Bugs for lanes and for the loops over them, each with the tests that notice it."""

from __future__ import annotations

from dataclasses import dataclass

from support import mutants


@dataclass(frozen=True)
class Mutation(mutants.Mutation):
    """A bug, and the tests that notice it.

    Attributes:
        noticed: what pytest selects the tests by (``-k``).
        tests: their file.
    """

    noticed: str = ""
    tests: str = "test_lanes.py"


@dataclass(frozen=True)
class SplitMutation(Mutation):
    """A bug that the tests of split loops notice."""

    tests: str = "test_split_points.py"


@dataclass(frozen=True)
class FusionMutation(Mutation):
    """A bug that the tests of fused multiply-adds notice."""

    tests: str = "test_fused.py"
    noticed: str = "rounded"


@dataclass(frozen=True)
class ExchangeMutation(Mutation):
    """A bug that the tests of exchanged elements notice."""

    tests: str = "test_exchanges.py"
    noticed: str = "partners or what_is_not"


@dataclass(frozen=True)
class PrefetchMutation(Mutation):
    """A bug that the tests of prefetches notice."""

    tests: str = "test_store_prefetch.py"
    noticed: str = "is_not_prefetched"


@dataclass(frozen=True)
class NextTileMutation(Mutation):
    """A bug that the tests of prefetches of the next tile notice."""

    tests: str = "test_load_prefetch.py"
    noticed: str = "is_not_prefetched"


ELEMENTWISE, EVALUATOR, LANES = "Elementwise.cpp", "Evaluator.cpp", "LaneArithmetic.cpp"
MEMORY, WRAPPING = "MemoryAccess.cpp", "Wrapping.cpp"
FUSION, PREFETCH, NEXT = "FuseMultiplyAdd.cpp", "StorePrefetch.cpp", "LoadPrefetch.cpp"
EXCHANGES, SCHEDULE = "Exchanges.cpp", "TileSchedule.cpp"
ENDS_OF_LOOPS, SPLIT_POINTS, REST = "SplitEnds.cpp", "SplitPoints.cpp", "ReduceRest.cpp"
ENDS, RING, RANDOM = "ends_of_32_bits", "both_sides_of_zero", "random_kernels"

MUTATIONS = {
    # Which chain of a sum an element goes to
    "what is in scratch memory has one chain": SplitMutation(
        ENDS_OF_LOOPS,
        "b.constant(i64, -fullStep)",
        "split.evaluated.empty() ? none : b.constant(i64, -fullStep)",
        "the_same_bits",
        behind="ends.fullStop =",
    ),
    # Exchanged elements
    "the xor of another tensor": ExchangeMutation(EXCHANGES, "reduce.getOperand(0) != tensor", "false"),
    "the xor of four elements": ExchangeMutation(
        EXCHANGES, "reduce.getInputTypes()[0].getDimSize(reduce.getAxis()) != 2", "false"
    ),
    "the xor along another dimension": ExchangeMutation(EXCHANGES, "reduce.getAxis() != expand.getAxis()", "false"),
    "a partner is read in place": ExchangeMutation(SCHEDULE, "exchangedDim(op).has_value()", "false"),
    "lanes keep their coordinates": ExchangeMutation(LANES, "p ^ 1", "p"),
    "a uniform coordinate keeps its value": ExchangeMutation(LANES, "flip(lanes.base)", "lanes.base"),
    # The numbers of base + pattern
    "a pattern has 64 bits": Mutation(LANES, "integer.getWidth() < 64", "false", RANDOM),
    "all bits are disjoint": Mutation(LANES, "p >= 0 && p < divisor", "p >= 0", ENDS),
    "differences are sums": Mutation(ELEMENTWISE, "result.pattern[i] -= p", "result.pattern[i] += p", RANDOM),
    "a remainder is of what is not negative": Mutation(
        ELEMENTWISE, "isa<arith::RemSIOp>(op) && !context.facts.limit(operands[0].base)", "false", "truncated_number"
    ),
    "a remainder keeps any pattern": Mutation(ELEMENTWISE, "p < 0 || p >= common", "p < 0", RANDOM),
    "an extension is exact": Mutation(
        ELEMENTWISE, "!isa<arith::TruncIOp>(op) && !arithmetic.neverWraps(operands[0])", "false", RANDOM
    ),
    "an extension is signed": Mutation(ELEMENTWISE, "isa<arith::ExtUIOp>(op)", "false", RING, behind="result.holds ="),
    "offsets do not wrap": Mutation(ELEMENTWISE, "!arithmetic.neverWraps(by)", "false", ENDS),
    "an operand's condition is forgotten": Mutation(
        ELEMENTWISE, "operand.holds", "Value()", RANDOM, behind="result.holds, operand.holds);\n    else if ("
    ),
    # Whether a lane wraps
    "the largest lane does not count": Mutation(
        WRAPPING, "*high", "*low", ENDS, behind="bool LaneArithmetic::neverWraps"
    ),
    "no lane is negative": Mutation(
        WRAPPING, "*low < 0", "false", "below_a_small_number", behind="bool LaneArithmetic::neverWraps"
    ),
    "the first lane does not count": Mutation(WRAPPING, "low + terms.low", "terms.low", ENDS),
    "the last lane does not count": Mutation(WRAPPING, "high + terms.high", "terms.high", ENDS),
    "small terms are not negative": Mutation(WRAPPING, "low + terms.low", "low", ENDS),
    "small terms are zero": Mutation(WRAPPING, "high + terms.high", "high", ENDS),
    "the lower end is one too far": Mutation(
        WRAPPING, "compare(arith::CmpIPredicate::sge, first)", "compare(arith::CmpIPredicate::sge, first - 1)", ENDS
    ),
    "the upper end is one too far": Mutation(
        WRAPPING, "compare(arith::CmpIPredicate::sle, last)", "compare(arith::CmpIPredicate::sle, last + 1)", ENDS
    ),
    "a difference is a sum of terms": Mutation(WRAPPING, "isa<arith::AddIOp>(op) ? 1 : -1", "1", ENDS),
    # Accesses
    "a load trusts its pattern": Mutation(MEMORY, "ptr.holds", "Value()", ENDS, behind="Lanes MemoryAccess::load"),
    "a store trusts its pattern": Mutation(MEMORY, "ptr.holds", "Value()", ENDS, behind="void MemoryAccess::store"),
    # Hints
    "a group lies in two runs": Mutation(
        EVALUATOR,
        "run % b.lanes() != 0",
        "run < b.lanes()",
        "promise_of_contiguous_indices",
    ),
    "other dimensions do not count": Mutation(
        EVALUATOR, "int(other) != dim && !lanes.isUniform()", "false", "promise_along_one_dimension"
    ),
    "pointers are a byte apart": Mutation(
        EVALUATOR, "pointeeBytes(element)", "1", "promise_of_contiguous_pointers", behind="step = "
    ),
    # Split loops
    "an index never wraps": SplitMutation(ENDS_OF_LOOPS, "most - (size - 1)", "most", "an_index_that_wraps"),
    "what is extended never wraps": SplitMutation(
        ENDS_OF_LOOPS, "staysInType(scalarAt(narrow, coords))", "neverWraps", "an_index_that_wraps"
    ),
    "an inclusive end is exclusive": SplitMutation(
        ENDS_OF_LOOPS, "b.constant(type, 1)", "b.constant(type, 0)", "store_ends_where", behind="  if (isInclusive)"
    ),
    "full groups end inside of one": SplitMutation(
        ENDS_OF_LOOPS, "b.constant(i64, -fullStep)", "b.constant(i64, -1)", "store_ends_where", behind="ends.full ="
    ),
    "a choice stops": SplitMutation(
        SPLIT_POINTS,
        "operands[2] == Along::Same ? Along::Stops : operands[2]",
        "Along::Stops",
        "reductions_of_what_is_masked_off",
    ),
    "every rest is neutral": SplitMutation(
        REST,
        "arith::XOrIOp::create(b, same, b.constant(b.getI1Type(), 1))",
        "b.constant(b.getI1Type(), 0)",
        "reductions_of_what_is_masked_off",
    ),
    "the first group of a rest counts twice": SplitMutation(
        REST, "b.constant(b.getI64Type(), lanes)", "b.constant(b.getI64Type(), 0)", "reductions_of_what_is_masked_off"
    ),
    # Contiguous elements that are noticed at run time
    "every group is contiguous": SplitMutation(
        "Materialize.cpp",
        'b.intrinsic("llvm.vector.reduce.and", b.getI1Type(), same)',
        "b.constant(b.getI1Type(), 1)",
        "indices_that_wrap_around",
    ),
    "every stride is 1": SplitMutation(
        ELEMENTWISE, "factor.base", "b.constant(type, 1)", "strides_of_the_launch", behind="CmpIPredicate::eq, "
    ),
    # Fused products and sums
    "no difference is negated": FusionMutation(FUSION, "!isDifference", "true"),
    "all is negated": FusionMutation(FUSION, "!isDifference", "false"),
    "a product with other uses is not fused": FusionMutation(
        FUSION, "!isLowered || product->hasOneUse()", "product->hasOneUse()"
    ),
    # Prefetches of what is stored
    "another line is prefetched": PrefetchMutation(
        PREFETCH, "ptr.pattern[0]", "ptr.pattern[0] + 64", "what_is_prefetched"
    ),
    "each line is prefetched twice": PrefetchMutation(PREFETCH, "b.lanes() * bytes < lineBytes", "false", "twice"),
    "a cheap loop prefetches": PrefetchMutation(PREFETCH, "kindOf(op) == OperationKind::Function", "true"),
    "a loop has read what it reads": PrefetchMutation(PREFETCH, "use.root->isBeforeInBlock(root)", "true"),
    "one load that was read is enough": PrefetchMutation(PREFETCH, "readsAgain && !readsFirst", "readsAgain"),
    "a loop lies between": PrefetchMutation(PREFETCH, "!isa<triton::ReduceOp>(op)", "false"),
    "a large tile is prefetched": PrefetchMutation(
        PREFETCH, "type.getNumElements() * pointeeBytes(type) <= mostBytes", "true", "large_tile"
    ),
    "all scalars are ready": PrefetchMutation(PREFETCH, "!context.scalars.contains(value)", "false"),
    "divisions move": PrefetchMutation(
        PREFETCH,
        "!isOfAddress(op) || op->getBlock() != block",
        "!op || op->getBlock() != block || (!isOfAddress(op) && !isa<arith::DivSIOp>(op))",
    ),
    # Prefetches of the next tile
    "any step is a tile": NextTileMutation(NEXT, "growth != size", "false"),
    "a step is a tile further": NextTileMutation(
        NEXT, "size * bytes", "2 * size * bytes", "what_is_prefetched", behind=".back() != 1)"
    ),
    "a stream is prefetched": NextTileMutation(NEXT, "size * bytes >= pageBytes", "false", "sizes"),
    "a tile of any size is prefetched": NextTileMutation(
        NEXT, "type.getNumElements() * bytes > most", "false", "sizes"
    ),
    "half a line is prefetched": NextTileMutation(EVALUATOR, "b.lanes() * bytes < lineBytes", "false", "sizes"),
    "a row of a page has a next program": NextTileMutation(
        "GridOrder.cpp", "rowBytes < pageBytes", "true", "rows_of_a_page"
    ),
}
