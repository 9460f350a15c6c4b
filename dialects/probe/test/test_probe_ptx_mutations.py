# SPDX-License-Identifier: Apache-2.0
"""The tests of assembly notice each bug of `MUTATIONS` in lower_probe. One build contains all bugs; an environment
variable enables one of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants

TESTS = Path(__file__).with_name("test_probe_raised_in_ptx.py")
translation, flags = (partial(mutants.Mutation, f"{name}.cpp") for name in ("Ptx", "RaiseInPtx"))

MUTATIONS = {
    "unsigned numbers are compared as signed ones": translation('"u"', '"s"', behind="P::ult:"),
    "a bit is extended without its sign": translation('isSigned ? "-1" : "1"', '"1"'),
    "a negation is none": translation('emit("not.pred", {of(op->getOperand(0))})', "of(op->getOperand(0))"),
    "the alternatives of a choice are changed over": translation(
        "of(choice.getTrueValue())", "of(choice.getFalseValue())"
    ),
    "a word is the next one": flags("int64_t(op.getWord())", "int64_t(op.getWord() + 1)"),
    "each thread raises the flag": flags('"setp.eq.u32 p, l, 0;"', '"setp.eq.u32 p, l, l;"'),
    "the flag is raised without a slot": flags('", 0, p;"', '", 1, p;"'),
    "the programs of a row are one": translation('"add.s64 program, program, k; "', '""'),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the dialect and its pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs(
        "dialects/probe", MUTATIONS, tmp_path_factory.mktemp("mutants"), within="lower_probe"
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_bug_of_assembly_is_noticed(name: str, libraries: Path, tmp_path: Path) -> None:
    done = mutants.run_tests(TESTS, "random", libraries, name, tmp_path / "cache")
    assert done.returncode == 1, done.stdout[-3000:]
