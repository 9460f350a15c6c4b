# SPDX-License-Identifier: Apache-2.0
"""The assembly in which a kernel for NVIDIA raises the flag of its launch: random conditions, executed step by step."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from support.probe.raised import WORDS, Body, kernels_of, runs, translate

CASES = range(80)


@functools.cache
def case(seed: int) -> tuple[Body, list[str]]:
    """Returns operations, and the names of two conditions."""
    body = Body(seed)
    return body, [body.tree(1, 4), body.tree(1, 5)]


@functools.cache
def lowered() -> list[str]:
    """Returns the kernels of all cases, from one run."""
    bodies = []
    for seed in CASES:
        body, conditions = case(seed)
        raises = [f'  probe.raise {condition}, "bounds"' for condition in conditions]
        bodies.append("\n".join([*body.lines, *raises]))
    return kernels_of(bodies)


@pytest.mark.parametrize("seed", CASES)
def test_random_conditions(seed: int) -> None:
    body, conditions = case(seed)
    for thread in (0, 1):
        before = [*body.slot]
        runs(lowered()[seed], body, thread)
        assert body.slot[:WORDS] == before[:WORDS]
        raised = sum(body.values[condition] for condition in conditions) if body.has_slot and not thread else 0
        assert body.slot[WORDS:] == [before[WORDS] + raised, 0]


def test_ptxas_knows_the_instructions(tmp_path: Path) -> None:
    translate(lowered(), tmp_path)
