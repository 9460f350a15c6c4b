# SPDX-License-Identifier: Apache-2.0
"""The tests of first lanes notice each bug of `MUTATIONS` in the operations for GPUs without assembly. One build
has all bugs; an environment variable enables one of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants
from support.sanitizer import mutations

TESTS = Path(__file__).with_name("test_sanitizer_first.py")
lanes = partial(mutants.Mutation, "FirstLanes.cpp")

#: The other extensions that the tests use.
BESIDE = ["passes/sanitizer", "passes/intensity"]

#: The tests that notice each bug, which of them (``-k`` of pytest), and the bug.
MUTATIONS = {
    "the program is in one row": (
        TESTS, "operations",
        lanes("with<arith::AddIOp>(with<arith::MulIOp>(found, size), id)", "with<arith::AddIOp>(found, id)"),
    ),
    "an access may start one byte later": (TESTS, "operations", lanes("what.bytes - 1", "what.bytes - 2")),
    "a range may have fewer addresses than none": (
        TESTS, "operations", lanes("with<arith::MaxSIOp>(places, number(0))", "places"),
    ),
    "the last place is outside": (TESTS, "operations", lanes("P::uge", "P::ugt")),
    "lanes are compared with the view twice": (
        TESTS, "operations",
        lanes("what.argument", "what.argument + kViewOfArgument", behind="void Expansion::keepFirst("),
    ),
    "a lane outside of the memory is as others": (
        TESTS, "operations", lanes("choose(isWorse, worse[i], lanes[i].mask)", "lanes[i].mask"),
    ),
    "without a slot there is one": (TESTS, "operations", lanes("number(kSlotMagic)", "load(0)")),
    "lanes that are off are looked at": (
        TESTS, "operations", lanes("with<arith::AndIOp>(isOn, isOut(argument(1)))", "isOut(argument(1))"),
    ),
    "each lane is the first": (TESTS, "operations", lanes("P::eq", "P::ule", behind="auto isFirst")),
}  # fmt: skip


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with the bugs; returns the directory of its library and those beside it."""
    bugs = {name: bug for name, (_, _, bug) in MUTATIONS.items()}
    scratch = tmp_path_factory.mktemp("mutants")
    return mutants.build_with_bugs("dialects/probe", bugs, scratch, within="settle_regions", beside=BESIDE)


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_bug_of_first_lanes_is_noticed(name: str, libraries: Path, tmp_path: Path) -> None:
    mutations.assert_noticed(MUTATIONS, name, libraries, tmp_path / "cache")
