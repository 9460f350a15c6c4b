# SPDX-License-Identifier: Apache-2.0
"""Functions with early returns, called in a loop and as combine functions, compute the right values on the CPU."""

from __future__ import annotations

from pathlib import Path

import pytest
import triton
import triton.language as tl

from support import mutants

torch = pytest.importorskip("torch")
CPUDriver = pytest.importorskip("triton_ext.backends.cpu.driver").CPUDriver


@triton.jit
def score(v, low, high):
    if v < low:
        return low - v
    if v > high:
        if v > high * 2:
            return high
        return v - high
    return v * 0


@triton.jit
def larger(a, b):
    if a > b:
        return a
    return b


@triton.jit
def kernel(x, out, n, low, high):
    total = 0
    for i in range(n):
        total += score(tl.load(x + i), low, high)
    most = tl.reduce(tl.load(x + tl.arange(0, 64)), 0, larger)
    tl.store(out, total)
    tl.store(out + 1, most)


def expected(values: list[int], low: int, high: int) -> int:
    total = 0
    for v in values:
        if v < low:
            total += low - v
        elif v > high:
            total += high if v > high * 2 else v - high
    return total


@pytest.mark.parametrize("seed", range(4))
def test_it_computes_what_the_functions_say(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton.runtime.driver, "_active", CPUDriver())
    x = torch.randint(-50, 50, (64,), dtype=torch.int32, generator=torch.Generator().manual_seed(seed))
    out = torch.zeros(2, dtype=torch.int32)
    compiled = kernel[(1,)](x, out, 40, -10, 15)
    assert out.tolist() == [expected(x[:40].tolist(), -10, 15), int(x.max())]
    assert "cf.cond_br" not in compiled.asm["ttir"]


BUGS = {
    "the same side twice": mutants.Mutation(
        "StructureReturns.cpp",
        "side(branch.elseBlock(), fork.getFalseDest(), fork.getFalseDestOperands())",
        "side(branch.elseBlock(), fork.getTrueDest(), fork.getTrueDestOperands())",
    ),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/structure_returns", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/structure_returns", libraries, bug) == (not bug)
