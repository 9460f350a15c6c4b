# SPDX-License-Identifier: Apache-2.0
"""The random loops, or those that must not be split, notice each bug of `mutations`. One build has them all; the
environment chooses."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

import pytest

from support import ROOT, forked_opt, mutants
from support.loop_split import corner_cases, interpret, programs
from support.loop_split.mutations import DECIDED, DECLINED, LAUNCH, MUTATIONS

PASS = ROOT / "passes" / "loop_split"
BATCHES, PER_BATCH = 6, 100
Expected = list[tuple[str, list[int], object]]


@cache
def batch(seed: int, options: str) -> tuple[str, Expected]:
    """Programs, and what each does for each of its inputs that have a meaning."""
    random = Random(seed)
    made = [programs.program(random, f"f{n}", options) for n in range(PER_BATCH)]
    made += corner_cases.PROGRAMS
    text = "\n".join(p.text for p in made)
    plain = interpret.texts(programs.opt(text, "-mlir-print-op-generic"))
    functions = interpret.functions(plain, strict=True, small="no-wrap" in options)
    expected: Expected = []
    for name, program in zip(functions, made, strict=True):
        for arguments in program.inputs:
            try:
                expected.append((name, arguments, functions[name](*arguments)))
            except (interpret.Poison, interpret.TooLong):
                continue
    return text, expected


@cache
def sound(seed: int, options: str) -> dict[str, str]:
    """Returns the functions that the pass makes of a batch without a bug."""
    text, _ = batch(seed, "no-wrap" if "no-wrap" in options else "")
    return after(text, options, "")


def after(text: str, options: str, mutant: str) -> dict[str, str]:
    flag = f"-triton-ext-loop-split={options}"
    return interpret.texts(programs.opt(text, flag, "-mlir-print-op-generic", mutant=mutant))


def is_noticed(options: str, mutant: str) -> bool:
    """Whether the pass turns a program into an invalid module, or into one that computes something else.

    With a bug, only the functions that it changes are executed.
    """
    for seed in range(BATCHES):
        text, expected = batch(seed, "no-wrap" if "no-wrap" in options else "")
        try:
            found = after(text, options, mutant)
        except AssertionError:
            return True
        if mutant:
            found = {name: part for name, part in found.items() if part != sound(seed, options)[name]}
        functions = interpret.functions(found)
        for name, arguments, result in expected:
            try:
                if name in functions and functions[name](*arguments) != result:
                    return True
            except (interpret.TooLong, ZeroDivisionError):
                return True
    return False


def says_why(name: str, options: str, mutant: str) -> bool:
    """Whether the pass says of each loop of this file of its own tests why it is split, or is not."""
    flags = ["-split-input-file", "-verify-diagnostics", f"-triton-ext-loop-split={options}"]
    flags += ["-Rpass=.", "-Rpass-missed=.", *(["-Rpass-analysis=."] if name == DECLINED else [])]
    return forked_opt.run(PASS / "test" / name, *flags, mutant=mutant).returncode == 0


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/loop_split", MUTATIONS, tmp_path_factory.mktemp("mutants"))


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTATIONS)
def test_it_is_noticed(name: str, libraries: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_EXT_LIBRARY_DIR", str(libraries))
    bug = MUTATIONS[name]
    assert not says_why(bug.noticed_by, bug.options, name) if bug.noticed_by else is_noticed(bug.options, name)


@pytest.mark.slow
def test_without_a_bug_they_notice_nothing(libraries: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_EXT_LIBRARY_DIR", str(libraries))
    assert not is_noticed("", "")
    assert says_why(DECLINED, "", "")
    assert says_why(DECIDED, LAUNCH, "")
