# SPDX-License-Identifier: Apache-2.0
"""Random kernels convert to linalg, or are refused with the line of the cause; none ends the process.

Those that convert compute the same in both ways, and what the interpreter says.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from support import modules
from support.linalg import random_kernels, random_runs
from support.linalg.random_launches import Done

#: A kernel that stores a difference.
SEED = 20

pytestmark = pytest.mark.usefixtures("stock")


@pytest.mark.slow
def test_random_kernels() -> None:
    """Runs the first kernels of ``random_kernels.py --kernels 1000``; stock mlir-opt accepts those that convert."""
    outcomes = list(random_kernels.check_all(60, jobs=1))
    assert [outcome for outcome in outcomes if not outcome.is_located] == []
    assert sum(not outcome.why for outcome in outcomes) > 40


@pytest.mark.slow
def test_a_random_kernel_that_cannot_be_converted() -> None:
    """The kernels of the test above all convert, so this one has other seeds."""
    refused = [outcome for outcome in random_kernels.check(range(110, 120)) if outcome.why]
    assert [(outcome.seed, outcome.is_located) for outcome in refused] == [(116, True)]
    assert "tt.elementwise_inline_asm" in refused[0].why


def test_stock_says_which_module_is_no_good() -> None:
    good = "module {\n  func.func @f() {\n    return\n  }\n}\n"
    unknown = good.replace("return", "ttg.barrier all\n    return")
    invalid = good.replace("return", "%0 = arith.constant 1 : i32\n    %1 = math.sqrt %0 : i32\n    return")
    refused = random_kernels.refused_by_stock([good, unknown, good, "", invalid, good])
    assert list(refused) == [1, 4]
    assert "Dialect `ttg' not found" in refused[1]
    assert random_kernels.refused_by_stock([good, good]) == {}


@pytest.mark.slow
def test_random_kernels_run() -> None:
    """Runs some kernels of ``random_runs.py --end 1000``."""
    outcomes = list(random_kernels.in_processes(random_runs.check, range(20, 40), jobs=1))
    assert [outcome for outcome in outcomes if outcome.wrong or outcome.differs] == []
    assert sum(not outcome.not_interpreted and not outcome.refused for outcome in outcomes) >= 18


@pytest.fixture(scope="module")
def launched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Done]:
    """Returns a kernel, and what the interpreter makes of it."""
    seeds, directory = range(SEED, SEED + 1), tmp_path_factory.mktemp("launched")
    file = random_kernels.write(seeds, directory)
    expected = random_runs.interpreted(seeds, file)[SEED]
    assert isinstance(expected, Done)
    return getattr(modules.imported(file), f"random_{SEED}"), expected


@pytest.mark.slow
def test_another_number_than_the_interpreters_is_noticed(launched: tuple[Any, Done]) -> None:
    kernel, expected = launched
    assert random_runs.compare(kernel, SEED, expected) == random_runs.Ran(SEED)
    y = expected.found["y"].clone()
    y[-1] += 1
    other = dataclasses.replace(expected, found={**expected.found, "y": y})
    assert "1 elements of y" in random_runs.compare(kernel, SEED, other).differs


def _computes_something_else(result: tuple[str, str]) -> tuple[str, str]:
    text, refused = result
    assert "arith.subf" in text
    return text.replace("arith.subf", "arith.addf"), refused


def _refuses(_: tuple[str, str]) -> tuple[str, str]:
    return "", "a.py:1:1: no"


@pytest.mark.slow
@pytest.mark.parametrize("way", random_runs.WAYS)
@pytest.mark.parametrize(
    ("bug", "noticed"), [(_computes_something_else, "elements of y differ"), (_refuses, "a.py:1:1: no")]
)
def test_a_bug_of_one_way_is_noticed(
    bug: Callable[[tuple[str, str]], tuple[str, str]],
    noticed: str,
    way: str | None,
    launched: tuple[Any, Done],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lower = random_runs.lowered
    monkeypatch.setattr(random_runs, "lowered", lambda kernel, via: (bug if via == way else tuple)(lower(kernel, via)))
    assert noticed in random_runs.compare(launched[0], SEED, launched[1]).wrong


def _with_less_memory(seeds: range) -> list[random_runs.Ran]:
    """Runs kernels whose memory ends before the last element of `y` that they store; this process does nothing else."""
    run = random_runs.run

    def less(function: Any, launch: Any, accessed: dict[str, tuple[int, int]], at_end: bool) -> Any:
        low, high = accessed["y"]
        return run(function, launch, {**accessed, "y": (low, high - 1)}, at_end)

    random_runs.run = less
    return random_runs.check(seeds)


@pytest.mark.slow
def test_an_access_outside_of_memory_ends_the_process() -> None:
    with pytest.raises(RuntimeError, match=f"this kernel ended the process:\n(.|\n)*random_{SEED}"):
        list(random_kernels.in_processes(_with_less_memory, range(SEED, SEED + 1), jobs=1))
