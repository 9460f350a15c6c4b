# SPDX-License-Identifier: Apache-2.0
"""Loops that advance tensors compute the same on the CPU with and without `scalarize_induction`; lit finds a bug."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import triton
import triton.language as tl

import triton_ext as tx
from support import mutants

torch = pytest.importorskip("torch")
CPUDriver = pytest.importorskip("triton_ext.backends.cpu.driver").CPUDriver
#: Turns the pass off in the backend's own pipeline.
OFF = tx.Pipeline().skip("cpuir:cpu.scalarize_induction")


@triton.jit
def advance(x, out, n, m, step):
    lanes = tl.arange(0, 16)
    p, q, index = x + lanes, x + lanes // 2, lanes * 2
    total = tl.zeros((16,), tl.int32)
    by = step
    for i in range(n):
        total = total * 3 + tl.load(p) - tl.load(q) * tl.load(x + index)
        for _ in range(m):
            total += tl.load(q)
            q += by
        p += i
        index += by + i
        by = (by * 5 + 1) % 7
    tl.store(out + lanes, total + tl.load(p) + index)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m", "step"), [(0, 0, 1), (3, 2, 3), (6, 3, 2), (9, 0, 5)])
def test_it_computes_the_same(n: int, m: int, step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton.runtime.driver, "_active", CPUDriver())
    x = torch.randint(-1000, 1000, (4096,), dtype=torch.int32, generator=torch.Generator().manual_seed(n))
    out = torch.zeros(2, 16, dtype=torch.int32)
    on = tx.Pipeline().at_end("ttir", tx.passes.ttir.scalarize_induction(), tx.builtin.common.canonicalizer())
    carried = []
    for row, pipeline in zip(out, (OFF, OFF + on), strict=True):
        with pipeline:
            compiled = advance[(1,)](x, row, n, m, step)
        loops = re.findall(r"scf\.for .* -> \((.*)\)", compiled.asm["ttir"])
        carried.append(sum(loop.count("tensor<16x") for loop in loops))
    assert torch.equal(*out)
    assert out.any()
    # Without the pass each loop carries the tensors that it advances; with it, only the total.
    assert carried[0] > carried[1] == 2


BUGS = {
    "no step": mutants.Mutation(
        "ScalarizeInduction.cpp", "arith::AddIOp::create(b, zero, step)", "arith::AddIOp::create(b, step, step)"
    ),
    "tensors of index": mutants.Mutation("ScalarizeInduction.cpp", "!canBeSplat(tensor.getElementType())", "false"),
    "wide integers": mutants.Mutation("ScalarizeInduction.cpp", "integer.getWidth() <= 64", "true"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/scalarize_induction", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/scalarize_induction", libraries, bug) == (not bug)
