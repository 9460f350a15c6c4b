# SPDX-License-Identifier: Apache-2.0
"""`loop_split` keeps the meaning of loops: random ones do the same, in the same order, with the pass on and off, the
module is valid (triton-ext-opt verifies it), and the pass finds nothing left to do in its own output. An interpreter
that shares nothing with the compiler executes them, and the CPU backend.
``benchmarks/loop_split_cases.py`` runs as many as you like."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
import triton
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.loop_split import corner_cases, programs

PER_BATCH = 250
ON_CPU, PER_KERNEL = 52, 26  # the time to compile a kernel grows faster than the kernel


@pytest.mark.slow
@pytest.mark.parametrize("options", ["", *programs.OPTIONS])
def test_random_loops(options: str, request: pytest.FixtureRequest) -> None:
    random = Random(request.node.name)
    outcome = programs.check([programs.program(random, f"f{n}", options) for n in range(PER_BATCH)], options)
    assert outcome.cases > 4000 / (1 + len(programs.OPTIONS))  # as docs/loop-split.md says
    assert outcome.split >= PER_BATCH / 5
    assert outcome.vacuous < outcome.cases


@pytest.mark.slow
@pytest.mark.keeps_kernels
@pytest.mark.parametrize("options", ["", *programs.OPTIONS])
def test_random_loops_on_the_cpu(
    options: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    from support.loop_split import on_cpu

    driver = pytest.importorskip("triton_ext.backends.cpu.driver")
    monkeypatch.setattr(triton.runtime.driver, "_active", driver.CPUDriver())
    random = Random(request.node.name)
    outcome = programs.Outcome()
    for _ in range(ON_CPU // PER_KERNEL):
        outcome += on_cpu.check(on_cpu.random_programs(random, PER_KERNEL, options), options, tmp_path)
    assert outcome.cases > 2000 / (1 + len(programs.OPTIONS))
    assert outcome.split >= ON_CPU / 5


@pytest.mark.slow
@pytest.mark.parametrize("options", ["", *programs.OPTIONS])
def test_corner_cases(options: str) -> None:
    assert programs.check(corner_cases.PROGRAMS, options).split


@pytest.mark.slow
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False), st.sampled_from(["", *programs.OPTIONS]))
def test_loops_that_hypothesis_shrinks(random: Random, options: str) -> None:
    programs.check([programs.program(random, f"f{n}", options) for n in range(2)], options)


@pytest.mark.slow
def test_the_same_module_comes_out_every_time() -> None:
    """Some of MLIR's canonicalization goes by addresses, which differ from process to process."""
    random = Random(40)
    text = "\n".join(programs.program(random, f"f{n}", "no-wrap").text for n in range(PER_BATCH))
    flag = "-triton-ext-loop-split=max-splits=8 false-masks=true"
    assert len({programs.opt_anew(text, flag) for _ in range(4)}) == 1
