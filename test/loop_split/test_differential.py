# SPDX-License-Identifier: Apache-2.0
"""`loop_split` keeps the meaning of loops: random ones do the same, in the same order, with the pass on and off, the
module is valid (triton-ext-opt verifies it), and the pass finds nothing left to do in its own output.
``benchmarks/loop_split_cases.py`` runs as many as you like."""

from __future__ import annotations

from random import Random

import programs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

PER_BATCH = 250


@pytest.mark.parametrize("options", ["", *programs.OPTIONS])
def test_random_loops(options: str, request: pytest.FixtureRequest) -> None:
    random = Random(request.node.name)
    outcome = programs.check([programs.program(random, f"f{n}", options) for n in range(PER_BATCH)], options)
    assert outcome.cases >= 1.5 * PER_BATCH  # together more than 2,000 with those of the next test
    assert outcome.split >= PER_BATCH / 5
    assert outcome.vacuous < outcome.cases


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False), st.sampled_from(["", *programs.OPTIONS]))
def test_loops_that_hypothesis_shrinks(random: Random, options: str) -> None:
    programs.check([programs.program(random, f"f{n}", options) for n in range(2)], options)


def test_the_same_module_comes_out_every_time() -> None:
    """Some of MLIR's canonicalization goes by addresses, which differ from process to process."""
    random = Random(40)
    text = "\n".join(programs.program(random, f"f{n}", "no-wrap").text for n in range(PER_BATCH))
    flag = "-triton-ext-loop-split=max-splits=8 false-masks=true"
    assert len({programs.opt(text, flag) for _ in range(4)}) == 1
