# SPDX-License-Identifier: Apache-2.0
"""The tests of bounds and shadows notice each bug of `MUTATIONS`. One build contains all bugs; an environment variable
enables one of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants
from support.sanitizer import mutations

BOUNDS, CALLS, DESCRIPTORS, LOCKS, LOOKS, MERGED, PARTNERS, POINTERS, SHADOWS, SIGNALS, WORDS = (
    Path(__file__).with_name(f"test_sanitizer_{name}.py")
    for name in (
        "bounds",
        "calls",
        "descriptors",
        "locks",
        "looks",
        "merged",
        "partners",
        "pointers",
        "shadows",
        "signals",
        "words",
    )
)
apart, bounds, box, boxes, corners, extents, host, lanes, merge, shadow, look, place, races, signals, words = (
    partial(mutants.Mutation, f"{name}.cpp")
    for name in (
        "Apart",
        "Bounds",
        "MaskBox",
        "BoundsOfBoxes",
        "Strided",
        "Extents",
        "BoundsOfHost",
        "LaneBuilder",
        "Merge",
        "Shadow",
        "ShadowLooks",
        "ShadowPlaces",
        "ShadowRaces",
        "Signals",
        "ShadowWords",
    )
)

#: The tests that notice each bug, which of them (``-k`` of pytest), and the bug.
MUTATIONS = {
    "a mask is false": (
        BOUNDS, "tiles",
        box("math.sub(math.number(*stride - 1), base)", "OpFoldResult(math.number(0))"),
    ),
    "lanes of a tile have the marks of the tile": (
        BOUNDS, "marks", lanes("ArrayRef<NamedAttribute>()", "copy->getDiscardableAttrDictionary().getValue()"),
    ),
    "the greatest row is the least one": (
        DESCRIPTORS, "gather_rows", boxes("reduce<arith::MaxSIOp>(b, rows)", "reduce<arith::MinSIOp>(b, rows)"),
    ),
    "a row is taken for its place in the list": (
        DESCRIPTORS, "scatter_rows", boxes("tt::GatherOp::create(b, rows, coordinate, /*axis=*/0)", "coordinate"),
    ),
    "an advanced pointer is taken for one from memory": (
        POINTERS, "advances", extents("roots.isOpen || roots.hasOffset", "roots.isOpen"),
    ),
    "a pointer into no tensor is one into a tensor": (
        POINTERS, "table_of_pointers", bounds("isFalse(isKnown, b)", "isFalse(isFalse(isKnown, b), b)"),
    ),
    "a pointer of a lane that is off counts": (
        POINTERS, "lanes_with_pointers", bounds("isTile ? access.mask : Value()", "Value()"),
    ),
    "no look has a kernel of its own": (LOOKS, "without_checks", apart("own.branch(branch)", "false")),
    "the flag is raised behind loops": (LOOKS, "before_a_loop", apart("!isa<LoopLikeOpInterface>(loop)", "true")),
    "the host compares corners that a tile has not": (LOOKS, "before_a_loop", host("!hasCorners", "false")),
    "the runtime looks at lanes that are masked off": (
        CALLS, "in_the_middle", host("access.mask", "Value()", behind="BoundsChecker::callLook"),
    ),
    "the runtime looks at the first tensor": (
        CALLS, "two_dimensions", host("int64_t(*extents.argument)", "int64_t(0)", behind="BoundsChecker::callLook"),
    ),
    "looks at shadows are in each kernel": (LOOKS, "may_race", shadow("checker.apart.contains(one.check())", "false")),
    "the slack is forgotten": (BOUNDS, "tiles", corners("math.add(result.high, strided.slackHigh)", "result.high")),
    "a program that has written may not write again": (
        BOUNDS, "races",
        races("arith::CmpIOp::create(b, P::ne, found, own)", "arith::CmpIOp::create(b, P::eq, found, own)"),
    ),
    "programs a power of two apart are one": (
        MERGED, "power_of_two", races("arith::AddIOp::create(b, linear, hash)", "linear"),
    ),
    "a look of a loop may stay alone": (SHADOWS, "order_of_a_loop", place("(isWhole || !(reads && writes))", "true")),
    "a read is looked at behind a loop that writes": (
        SHADOWS, "two_loops", place("inner != op || !mayMove(*look)", "false")
    ),
    "lanes behind the mask are marked": (
        SHADOWS, "written_needs", words("within(groups.boundOf(high, size))", "groups.like(group, at)"),
    ),
    "lanes before the mask are marked": (
        WORDS, "both_ends and in_kernels", words("within(groups.boundOf(low, size))", "groups.like(0, at)"),
    ),
    "rows behind the mask are marked": (
        WORDS, "both_ends and in_kernels", words("groups.compare(P::slt, at, groups.boundOf(high, size))", "isOn"),
    ),
    "groups have one word": (
        WORDS, "both_ends and in_kernels",
        words("isSplitOverWords(strided, words, b)", "numberLike(0, b.getI1Type(), b)"),
    ),
    "no lanes are left": (
        SHADOWS, "behind_it", words("anyOf(b, loop.getResult(0))", "numberLike(0, b.getI1Type(), b)")
    ),
    "a load races with nothing": (SHADOWS, "two_views", shadow("(one.writes() || other.writes())", "one.writes()")),
    "a store races with loads only": (
        SHADOWS, "programs_that_write", shadow("(one.writes() || other.writes())", "(one.writes() != other.writes())")
    ),
    "merged looks have the scalars of the last one": (
        SHADOWS, "not clusters and in_kernels", merge("values[i]", "result"),
    ),
    "what is written must have been written before": (
        WORDS, "every_second", look("flagged(isWrong, one.reads(), b)", "isWrong")
    ),
    "what is read is written from then on": (
        SHADOWS, "not clusters and in_kernels", words("flagged(isMissing, one.writes(), b)", "isMissing")
    ),
    "two reads race if another access writes": (
        SHADOWS, "all_programs_read", races("flagged(isRace, !isFine, b)", "isRace")
    ),
    "neighbouring bytes share their bits": (
        PARTNERS, "neighbours", races("numberLike(3, type, b)", "numberLike(0, type, b)"),
    ),
    "all launches have one hash": (
        PARTNERS, "differ_in_the_next", races("arith::MulIOp::create(b, salt, like(bits))", "like(0)"),
    ),
    "a lock orders nothing": (LOCKS, "take_turns", races("own.isLocked && other.isLocked", "false")),
    "each lock is the same": (
        LOCKS, "locks_of_their_own",
        races("sets.hasOther(word.sets.size(), lock)", "numberLike(0, isRace.getType(), b)"),
    ),
    "an access is under one of two locks": (
        LOCKS, "two_locks", shadow("locks.heldIn(access.op).size() > 1", "false"),
    ),
    "all is before signals and behind waits": (
        SIGNALS, "last_program", signals("numbers.at(op) <= numbers.at(later)", "true"),
    ),
    "a counter of tiles is a wait": (
        SIGNALS, "counter", signals("isOfTicket && isOrder && isa<scf::ConditionOp>(user)", "false"),
    ),
    "a lock is a signal": (SIGNALS, "lock", signals("locks.isOfLock(op)", "false")),
    "what one program orders for itself is a signal": (
        SIGNALS, "without_its_order", signals("atomic.getScope() == tt::MemSyncScope::CTA", "false"),
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_bug_of_the_sanitizer_is_noticed(name: str, libraries: Path, tmp_path: Path) -> None:
    mutations.assert_noticed(MUTATIONS, name, libraries, tmp_path / "cache")
