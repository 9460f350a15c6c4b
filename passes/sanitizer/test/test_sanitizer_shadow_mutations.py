# SPDX-License-Identifier: Apache-2.0
"""The tests of looks that the CPU backend's runtime does notice each bug of `MUTATIONS`. One build of the runtime
contains all bugs; an environment variable enables one of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants
from support.sanitizer import mutations

TESTS = Path(__file__).with_name("test_sanitizer_shadow_calls.py")
bits, races, codes = (partial(mutants.Mutation, f"runtime/{name}.cpp") for name in ("Shadow", "RaceShadow", "Codes"))

#: The other extensions that the tests use.
BESIDE = ["passes/sanitizer", "dialects/probe", "passes/intensity"]

#: The tests that notice each bug, which of them (``-k`` of pytest), and the bug.
MUTATIONS = {
    "the word of a block has no races": (TESTS, "threads", races("word & ~access.allOwn()", "uint64_t(0)")),
    "words of elements have no races": (TESTS, "threads", races("summary.any & ~access.allOwn()", "uint64_t(0)")),
    "a block keeps the programs of other launches": (
        TESTS, "begins_without", races("state >> kLaunchShift != launch", "false"),
    ),
    "each access is of a whole block": (TESTS, "threads", races("count == elements", "true")),
    "words of elements begin without programs": (TESTS, "keeps_its", races("Word(word)", "Word(0)")),
    "codes take the same bits of the hash in each launch": (
        TESTS, "codes", codes("64 - width - width * salt", "64 - width"),
    ),
    "the complement of a bit is the bit": (TESTS, "codes", codes("~left & all", "left & all")),
    "no program in a set is another one": (TESTS, "read_the_same", races("found && found != code", "true")),
    "words in the middle are written": (
        TESTS, "unwritten_lanes",
        bits("areWholeHere(words + word + 1, last - word - 1)", "true", behind="bool Bits::areSet"),
    ),
    "the whole last word is marked": (
        TESTS, "unwritten_lanes", bits("maskOf(last * kBytesOfWord, end)", "~0u", behind="void Bits::set("),
    ),
    "lanes that are off are marked": (TESTS, "unwritten_lanes", bits("!different", "true")),
}  # fmt: skip


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the CPU backend with the bugs; returns the directory of its libraries."""
    bugs = {name: bug for name, (_, _, bug) in MUTATIONS.items()}
    return mutants.build_with_bugs("backends/cpu", bugs, tmp_path_factory.mktemp("mutants"), beside=BESIDE)


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_bug_of_the_runtime_is_noticed(name: str, runtime: Path, tmp_path: Path) -> None:
    mutations.assert_noticed(MUTATIONS, name, runtime, tmp_path / "cache")
