# SPDX-License-Identifier: Apache-2.0
"""The tests of assembly notice each bug of `MUTATIONS` in lower_probe. One build contains all bugs; an environment
variable enables one of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants

TESTS = [Path(__file__).with_name(f"test_probe_raised_{what}.py") for what in ("in_ptx", "of_loops")]
translation, flags, loops = (partial(mutants.Mutation, f"{name}.cpp") for name in ("Ptx", "RaiseInPtx", "RaiseOfLoops"))

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
    "a thread leaves out iterations": loops(
        '"add.s64 turn, turn, " + Twine(kThreads)', '"add.s64 turn, turn, " + Twine(2 * kThreads)'
    ),
    "each thread counts the program": loops('"setp.eq.and.u32 q, thread, 0, any;"', '"setp.eq.and.u32 q, l, l, any;"'),
    "there is one iteration more": loops('"setp.ge.s64 q, at, "', '"setp.gt.s64 q, at, "'),
    "what a loop carries is as in its first iteration": loops("ptx.of(added)", 'std::string("0")'),
    "the first iteration begins at 0": loops('"add.s64 at, at, " + lower + ";"', 'std::string("add.s64 at, at, 0;")'),
    "each thread raises the flag at the end": loops('"setp.ne.u32 p, l, 0;"', '"setp.ne.u32 p, l, l;"'),
    "elements of a pointer have a byte": translation("std::to_string(bytes)", 'std::string("1")'),
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
    for tests in TESTS:
        done = mutants.run_tests(tests, "random or behind", libraries, name, tmp_path / tests.stem)
        if done.returncode == 1:
            assert "AssertionError" in done.stdout, done.stdout[-3000:]
            return
    pytest.fail(done.stdout[-3000:])
