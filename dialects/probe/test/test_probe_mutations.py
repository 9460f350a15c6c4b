# SPDX-License-Identifier: Apache-2.0
"""The tests of numbers, shards and clocks notice each bug of `ALL` in lower_probe. One build contains all bugs; an
environment variable enables one of them."""

from __future__ import annotations

import signal
from functools import partial
from pathlib import Path

import pytest

from support import mutants
from support.probe.native import native_backend

TESTS, TESTS_OF_SHARDS, TESTS_OF_CLOCKS = (
    Path(__file__).with_name(f"test_probe_{name}.py") for name in ("numbers", "shards", "clocks")
)
bug_of_records = partial(mutants.Mutation, "Records.cpp")
bug_of_statistics = partial(mutants.Mutation, "Statistics.cpp")
bug_of_histograms = partial(mutants.Mutation, "Histogram.cpp")
bug_of_regions = partial(mutants.Mutation, "Regions.cpp")
bug_of_rooms = partial(mutants.Mutation, "RegionRoom.cpp")
bug_of_flow = partial(mutants.Mutation, "RegionFlow.cpp")
bug_of_prologue = partial(mutants.Mutation, "Prologue.cpp")
bug_of_shards = partial(mutants.Mutation, "Shards.cpp")

#: The tests that notice each bug (``-k`` of pytest), and the bug.
MUTATIONS = {
    # Records
    "records end behind the buffer": (
        "buffer_ends",
        bug_of_records("splat(space, n)", "splat(arith::AddIOp::create(b, space, constant(16)), n)"),
    ),
    "the last record does not fit": (
        "losses",
        bug_of_records("arith::CmpIPredicate::sle", "arith::CmpIPredicate::slt"),
    ),
    "lost records are not counted": (
        "losses",
        bug_of_records("arith::CmpIPredicate::sgt", "arith::CmpIPredicate::slt", behind="Value isLost ="),
    ),
    "lanes are in reverse order": ("lanes", bug_of_records("/*reverse=*/false", "/*reverse=*/true")),
    "a failure too many is recorded": ("checks", bug_of_records("kMostFailures", "kMostFailures + 1")),
    "the mask of lanes is ignored": (
        "counts",
        bug_of_records("flat(mask, n)", "splat(truth(true), n)", behind="lanes.mask = splat(truth(true), n)"),
    ),
    # Summaries
    "the mask of minmax is ignored": (
        "summaries",
        bug_of_statistics("flat(op.getMask(), n)", "splat(truth(true), n)", behind="::emitMinMax"),
    ),
    "NaN is the greatest number": (
        "summaries",
        bug_of_statistics("arith::AndIOp::create(b, isOn, isNumber)", "arith::AndIOp::create(b, isOn, isOn)"),
    ),
    "negative numbers are in reverse order": (
        "summaries",
        bug_of_statistics("arith::OrIOp::create(b, all, sign)", "arith::OrIOp::create(b, sign, sign)"),
    ),
    "infinities are part of the mean": (
        "summaries",
        bug_of_statistics("arith::AndIOp::create(b, isOn, isFinite)", "arith::AndIOp::create(b, isOn, isNumber)"),
    ),
    # Histograms
    "a number on an edge is in the bin below": (
        "histograms",
        bug_of_histograms("Predicate::OGE", "Predicate::OGT", behind="Value isAbove ="),
    ),
    "the estimate of a bin is never too high": (
        "histograms",
        bug_of_histograms("Predicate::OLT", "Predicate::UNO", behind="Value isBelow ="),
    ),
    "the last edge has a bin of its own": ("histograms", bug_of_histograms("integer(bins - 1)", "integer(bins)")),
    "the first bin of a chunk is in the chunk before": (
        "neighbours",
        bug_of_histograms("arith::CmpIPredicate::uge", "arith::CmpIPredicate::ugt"),
    ),
    # Regions
    "lost regions are not counted": (
        "lost_regions",
        bug_of_regions("Predicate::slt", "Predicate::sgt", behind="Value isLost ="),
    ),
    "a block has room for one record more": (
        "regions",
        bug_of_regions("e.constant(records)", "e.constant(records + 1)", behind="left = arith::MinSIOp"),
    ),
    "a block ends behind the buffer": (
        "buffer_of_regions",
        bug_of_regions(
            "e.capacity", "Value(arith::AddIOp::create(b, e.capacity, e.constant(16)))", behind="Value space ="
        ),
    ),
    "a full block stays full": (
        "regions",
        bug_of_regions("Predicate::sge", "Predicate::slt", behind="auto taken ="),
    ),
    "the next record is at the place of the last one": (
        "regions",
        bug_of_regions("i32(kRegionWords)", "i32(0)", behind="Value words ="),
    ),
    "a turn begins where the first turn began": (
        "regions",
        bug_of_flow("inner.next", "state.next", behind="hasFailed = failed(walk("),
    ),
    "a branch loses its regions": (
        "regions",
        bug_of_flow("inner.next", "state.next", behind="op.getNumResults(), ValueRange{"),
    ),
    "a while loop loses its regions": (
        "regions",
        bug_of_flow(
            "inner.next", "Value(region->front().getArguments().drop_back().back())", behind="first, ValueRange{"
        ),
    ),
    "a region has the site of its neighbour": (
        "regions",
        bug_of_regions("int64_t(site + 1)", "int64_t(site ? site : 1)"),
    ),
    "a further block is that of the first program": (
        "regions",
        bug_of_regions("widen(home)", "e.constant(0)"),
    ),
    "a duration has the wrong sign": (
        "regions",
        bug_of_regions("arith::SubIOp::create(b, now, from)", "arith::SubIOp::create(b, from, now)"),
    ),
    # The rooms of loops
    "a room ends behind the buffer": (
        "buffer_of_regions",
        bug_of_rooms(
            "space", "Value(arith::AddIOp::create(b, space, e.constant(16)))", behind="arith::MaxSIOp::create(b, "
        ),
    ),
    "records without room are not counted": (
        "loops",
        bug_of_rooms("Predicate::slt", "Predicate::sgt", behind="Value isShort ="),
    ),
    "the last turn has no room": (
        "loops",
        bug_of_rooms("e.constant(1)", "e.constant(0)", behind="turns = arith::AddIOp"),
    ),
    "a region of a turn is at the place of the first one": (
        "loops",
        bug_of_rooms("e.constant(kRegionWords * offset)", "e.constant(0)"),
    ),
    "a turn writes where the last one has": ("loops", bug_of_flow("i32(own->recordsOfTurn)", "i32(0)")),
    # The kernel's chunk
    "a copy lies behind the chunk": ("losses", bug_of_prologue("kCopies - 1", "2 * kCopies - 1")),
    "a full directory gives the first chunk": (
        "room_for_counters",
        bug_of_prologue(
            "arith::AddIOp::create(b, mask, one)", "arith::AddIOp::create(b, mask, zero)", behind="Value spare ="
        ),
    ),
}

#: The same for the tests of shards.
MUTATIONS_OF_SHARDS = {
    "a record that does not fit into a shard is in the next one": (
        "and_then_the_pool",
        bug_of_shards("end", "place", behind="arith::CmpIPredicate::sle, "),
    ),
    "all programs have one shard": ("and_then_the_pool", bug_of_shards("kShards - 1", "0")),
    "neighbours with regions have shards of their own": (
        "room_of_a_loop",
        bug_of_shards("constant(kNeighbourBits)", "constant(0)"),
    ),
    "neighbours without regions share a shard": (
        "and_then_the_pool",
        bug_of_shards("!sites.regions.empty()", "!sites.ops.empty()"),
    ),
    "the pool begins where the shards do": (
        "and_then_the_pool",
        bug_of_shards("Value(arith::AddIOp::create(b, pool, behind))", "behind"),
    ),
    "a small buffer has shards of no words": (
        "small_buffer",
        bug_of_shards("arith::CmpIPredicate::sgt", "arith::CmpIPredicate::sge"),
    ),
    "failures of checks are in shards": (
        "failures",
        bug_of_records("isa<CheckOp>(sites.ops[site])", "isa<CountOp>(sites.ops[site])"),
    ),
}
#: And for those of a CPU's clocks.
MUTATIONS_OF_CLOCKS = {
    "a program always starts with its first region": (
        "does_more",
        bug_of_regions("first->getBlock()->begin()", "first->getIterator()"),
    ),
    "a program always ends with its last region": (
        "does_more",
        bug_of_regions("std::next(lastEnd->getIterator())", "exit->getIterator()"),
    ),
    "a program does not start with its region": (
        "has_the_clocks",
        bug_of_regions("first->getResult(0).use_empty()", "true"),
    ),
    "a program does not end with its region": (
        "has_the_clocks",
        bug_of_regions("lastEnd->getBlock()", "static_cast<Block *>(nullptr)"),
    ),
}
ALL = {name: (TESTS, *bug) for name, bug in MUTATIONS.items()}
ALL |= {name: (TESTS_OF_SHARDS, *bug) for name, bug in MUTATIONS_OF_SHARDS.items()}
ALL |= {name: (TESTS_OF_CLOCKS, *bug) for name, bug in MUTATIONS_OF_CLOCKS.items()}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the dialect and its pass with all bugs in it and returns the directory of its libraries."""
    native_backend()
    bugs = {name: mutation for name, (*_, mutation) in ALL.items()}
    return mutants.build_with_bugs("dialects/probe", bugs, tmp_path_factory.mktemp("mutants"), within="lower_probe")


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_a_bug_of_probes_is_noticed(name: str, libraries: Path, tmp_path: Path) -> None:
    tests, select, _ = ALL[name]
    done = mutants.run_tests(tests, select, libraries, name, tmp_path / "cache")
    # The status 1 means that a test has failed. Memory behind the buffer may belong to the allocator.
    assert done.returncode in {1, -signal.SIGABRT, -signal.SIGSEGV}, done.stdout[-3000:]


@pytest.mark.slow
@pytest.mark.parametrize("tests", [TESTS, TESTS_OF_SHARDS, TESTS_OF_CLOCKS], ids=lambda file: file.stem)
def test_without_a_bug_the_tests_pass(tests: Path, libraries: Path, tmp_path: Path) -> None:
    select = " or ".join({select for file, select, _ in ALL.values() if file == tests})
    done = mutants.run_tests(tests, select, libraries, "", tmp_path / "cache")
    assert done.returncode == 0, done.stdout[-3000:]
