# SPDX-License-Identifier: Apache-2.0
"""Bugs for `loop_split`."""

from __future__ import annotations

from dataclasses import dataclass

from support import mutants


@dataclass(frozen=True)
class Mutation(mutants.Mutation):
    """A bug, and how it is noticed.

    Attributes:
        options: the options of the pass, where it is to be noticed.
        noticed_by: the file among the pass's tests whose remarks notice it; empty if random loops do.
    """

    options: str = ""
    noticed_by: str = ""


COUNT, SPLIT, ANALYSIS = "TripCounter.cpp", "SplitPlace.cpp", "Condition.cpp"
PASS, ASSUME, GUARD, KNOWN = "LoopSplit.cpp", "Assumptions.cpp", "Guard.cpp", "Known.cpp"
FORM, RECURRENCE = "AffineForm.cpp", "Recurrence.cpp"
MODEL, WIDTH, TILES = "CostModel.cpp", "AccessWidth.cpp", "TileRegisters.cpp"
#: Loops that must not be split, and loops for which the cost model decides. Random loops seldom have what is needed.
DECLINED, DECIDED = "loop_split_declined.mlir", "loop_split_cost_model.mlir"
MANY = "max-splits=8 false-masks=true"
NO_WRAP = "no-wrap=true max-splits=8 false-masks=true"
LAUNCH = "num-warps=4 threads-per-warp=32"
PLACE = "Value TripCounter::placeWithoutWrap"

MUTATIONS = {
    # When
    "off by one": Mutation(
        COUNT, "b.createOrFold<arith::AddIOp>(resize(further, type), number(type, 1))", "resize(further, type)"
    ),
    "trips not rounded up": Mutation(COUNT, "b.createOrFold<arith::AddIOp>(quotient, number(type, 1))", "quotient"),
    "signed for unsigned": Mutation(COUNT, "toUnsigned(predicate)", "predicate"),
    "not clamped to the trips": Mutation(
        COUNT, "b.createOrFold<arith::SelectOp>(notAll, count, trips)", "count", behind="Value TripCounter::leading"
    ),
    # No bug: in TripCounter::middle, the clamp to 0 where all iterations are in the first loop. Without it, the second
    # loop goes from a value that may have wrapped to the same value: it has no iterations either way.
    "first loop ends in the middle": Mutation(
        SPLIT, "b.createOrFold<arith::SelectOp>(rest, middle, end)", "middle", behind="scf::ForOp TripCounter::split"
    ),
    "second loop always ends at the end": Mutation(
        SPLIT, "b.createOrFold<arith::SelectOp>(rest, end, middle)", "end"
    ),
    "ragged end overflows": Mutation(SPLIT, "b.createOrFold<arith::MinUIOp>(count, most)", "count"),
    "division by a step of 0": Mutation(COUNT, "b.createOrFold<arith::MaxUIOp>(step, number(type, 1))", "step"),
    "strict for not strict": Mutation(
        COUNT, "condition.isStrict()", "!condition.isStrict()", behind="Value TripCounter::countUpTo"
    ),
    "lower bound forgotten": Mutation(COUNT, "b.createOrFold<arith::SubIOp>(upper, lower)", "upper"),
    # Lanes
    "only the first lane": Mutation(COUNT, "gap.isZero()", "true"),
    "lanes of the limit forgotten": Mutation(
        COUNT, "b.createOrFold<arith::AddIOp>(limit, number(valueType, rhsSpread))", "limit", MANY
    ),
    "lanes may wrap": Mutation(
        COUNT, "!lhsSpread.isZero() && (side == Side::Tail || !increasing)", "false", MANY
    ),
    "lanes of the limit may wrap": Mutation(COUNT, "!rhsSpread.isZero()", "false", MANY),
    "negative lanes": Mutation(
        FORM, "factor.isNegative()", "false", MANY, behind="static std::optional<AffineForm> scale"
    ),
    "lanes not added": Mutation(FORM, "lhs.spread.uadd_ov(rhs.spread, overflow)", "lhs.spread", MANY),
    "wraps before the loop ends": Mutation(
        COUNT,
        "b.createOrFold<arith::CmpIOp>(\n      CmpIPredicate::ule, resize(others, wider), resize(further, wider))",
        "valid",
        MANY,
    ),
    # What
    "operands swapped, predicate not": Mutation(
        ANALYSIS, "triton_ext::swapOperands(result.predicate)", "result.predicate"
    ),
    "always increasing": Mutation(ANALYSIS, "slope.isStrictlyPositive()", "true"),
    "proof of no wrap dropped": Mutation(ANALYSIS, "last.views[result.isUnsigned].exact", "true"),
    "wrap before an extension ignored": Mutation(
        RECURRENCE, "(!extends || narrow.views[zeroes].exact)", "true", noticed_by=DECLINED
    ),
    "sums do not wrap": Mutation(RECURRENCE, "newLow.sge(least) && newHigh.sle(greatest)", "true"),
    "flags are facts everywhere": Mutation(RECURRENCE, "trustsFlags", "true", behind="auto flag = "),
    "one bit is minus one": Mutation(ANALYSIS, "wide(coefficient, coefficient.isOne())", "wide(coefficient, false)"),
    "masks do not wrap before an extension": Mutation(FORM, "low.sge(first) && high.sle(last)", "true"),
    "more than one number": Mutation(ASSUME, "side == Side::Lead && !condition.exact", "false", behind="assumeAfter("),
    "other side of an equality": Mutation(ASSUME, "condition.increasing == equal", "equal"),
    "tail taken for lead": Mutation(ASSUME, "side == Side::Lead", "true", MANY, behind="::assumeBefore("),
    "exact loop does all": Mutation(PASS, "side == Side::Lead && !first.exact", "true", behind="secondDoesAll ="),
    # Loops
    "iter_arg lost": Mutation(
        SPLIT,
        "second.getInitArgsMutable().assign(loop.getResults())",
        "void()",
    ),
    "results of the first loop": Mutation(
        SPLIT, "rewriter.replaceAllUsesWith(loop.getResults(), second.getResults())", "void()"
    ),
    # Places where nothing wraps
    "place before the loop": Mutation(SPLIT, "!isAtMost(lower, place)", "false", NO_WRAP),
    "place behind the loop": Mutation(SPLIT, "!isAtMost(place, upper)", "false", NO_WRAP),
    "place between two iterations": Mutation(SPLIT, "isEven", "true", NO_WRAP, behind="is its nearer end"),
    "strict for not strict, no wrap": Mutation(SPLIT, "!condition.isStrict()", "false", NO_WRAP, behind=PLACE),
    "only the first lane, no wrap": Mutation(
        SPLIT, "condition.lhs.spread.zext(wideBits)", "APInt::getZero(wideBits)", NO_WRAP, behind=PLACE
    ),
    "lanes of the limit forgotten, no wrap": Mutation(
        SPLIT, "condition.rhs.spread.zext(wideBits)", "APInt::getZero(wideBits)", NO_WRAP, behind=PLACE
    ),
    "anything is a multiple": Mutation(
        SPLIT, "isMultipleOf(term.first, stride)", "true", NO_WRAP, behind=PLACE
    ),
    "nothing is negative": Mutation(KNOWN, "isAtMost(lhs, value, depth)", "true", NO_WRAP),
    # Trip counts and guards
    "few trips, none masked": Mutation(
        COUNT, "side == Side::Lead ? number(type, 0) : trips", "trips", "max-splits=4 min-trips=3 false-masks=true"
    ),
    "guard one trip too long": Mutation(
        GUARD, "CmpIPredicate::slt", "CmpIPredicate::sle", "guard=true", behind="side == Side::Lead ? "
    ),
    "guard trusts what it moves": Mutation(
        GUARD, "noWrap", "false", "no-wrap=true guard=true", behind="analysis(loop, "
    ),
    "guard of one mask of two": Mutation(
        GUARD, "arith::AndIOp::create(rewriter, loc, allFree, one).getResult()", "one", "guard=true"
    ),
    # Cost model: the kernel stays right, and becomes slower; or the pass crashes
    "every mask narrows": Mutation(WIDTH, "now < then", "true", LAUNCH, noticed_by=DECIDED),
    "short windows guarded": Mutation(MODEL, "place.trips < limits.guardTrips", "false", LAUNCH, noticed_by=DECIDED),
    "terms of any width compared": Mutation(MODEL, "a.lhs.hasTermsOf(b.lhs)", "a.lhs.terms == b.lhs.terms", NO_WRAP),
    "dead tiles keep registers": Mutation(TILES, "diesAt(operand, &op)", "false", LAUNCH, noticed_by=DECIDED),
}  # fmt: skip
