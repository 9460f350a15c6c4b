# SPDX-License-Identifier: Apache-2.0
"""Random accesses to memory through both ways to linalg and stock MLIR give the interpreter's results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from support import pointer_shapes
from support.linalg import random_kernels, shape_runs

SEEDS = range(100, 106)
#: A case that loads from `x`, with moduli and a mask.
SEED = 103

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("stock")]


def test_shapes() -> None:
    """Runs some cases of ``shape_runs.py --end 2000``."""
    assert shape_runs.check(SEEDS) == list(map(shape_runs.Ran, SEEDS))


@pytest.fixture(scope="module")
def expected() -> shape_runs.Expected:
    """Returns what the interpreter makes of `SEED`."""
    return shape_runs.interpreted(range(SEED, SEED + 1))[SEED]


def _multiplies_otherwise(result: tuple[str, str]) -> tuple[str, str]:
    text, refused = result
    assert "arith.muli" in text
    return text.replace("arith.muli", "arith.addi"), refused


def _refuses(_: tuple[str, str]) -> tuple[str, str]:
    return "", "a.py:1:1: no"


@pytest.mark.parametrize("way", shape_runs.WAYS)
@pytest.mark.parametrize(("bug", "noticed"), [(_multiplies_otherwise, "elements of"), (_refuses, "a.py:1:1: no")])
def test_a_bug_of_one_way_is_noticed(
    bug: Callable[[tuple[str, str]], tuple[str, str]],
    noticed: str,
    way: str | None,
    expected: shape_runs.Expected,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lower = shape_runs.lowered
    monkeypatch.setattr(shape_runs, "lowered", lambda case, via: (bug if via == way else tuple)(lower(case, via)))
    assert noticed in shape_runs.compare(pointer_shapes.draw(SEED), expected).wrong


def _with_less_memory(seeds: range) -> list[shape_runs.Ran]:
    """Runs cases whose memory begins behind the first element that they load; this process does nothing else."""
    run = shape_runs.run

    def less(function: Any, case: Any, accessed: dict[str, tuple[int, int]], at_end: bool) -> Any:
        low, high = accessed["x"]
        return run(function, case, {**accessed, "x": (low + 1, high)}, at_end)

    shape_runs.run = less
    return shape_runs.check(seeds)


def test_an_access_outside_of_memory_ends_the_process() -> None:
    seeds = range(SEED, SEED + 1)
    with pytest.raises(RuntimeError, match=f"this kernel ended the process:\nCase(.|\n)*seed={SEED}"):
        list(random_kernels.in_processes(_with_less_memory, seeds, 1, show=pointer_shapes.draw))


def test_the_kinds_of_cases() -> None:
    """Counts two cases by kind; the table has a line for what is refused or wrong."""
    outcomes = [shape_runs.Ran(0, refused="a.py:1:1: no"), shape_runs.Ran(1, wrong="other bits")]
    first, *rows = shape_runs.summary(outcomes).splitlines()
    assert first.split()[-4:] == ["cases", "equal", "refused", "wrong"]
    assert rows[0].split()[-4:] == ["2", "0", "1", "1"]
    assert rows[-2:] == ["seed 0, refused: a.py:1:1: no", "seed 1, wrong: other bits"]
    counts = dict(zip(shape_runs.KINDS, (int(row.split()[-4]) for row in rows), strict=False))
    for name, has in shape_runs.KINDS.items():
        assert counts[name] == sum(has(pointer_shapes.draw(seed)) for seed in (0, 1))
    assert all(any(has(pointer_shapes.draw(seed)) for seed in range(200)) for has in shape_runs.KINDS.values())
