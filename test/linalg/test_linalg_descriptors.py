# SPDX-License-Identifier: Apache-2.0
"""Accesses by tensor descriptors, in both ways to linalg on memory, beside pages without access rights and NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import triton_ext as tx
from support.linalg import descriptor_runs, descriptor_texts, execute

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("stock")]

SEEDS = range(60)
LAUNCHES = 10


@pytest.mark.sampled
@pytest.mark.parametrize("way", ["direct", "pointers"])
@pytest.mark.parametrize("seed", SEEDS)
def test_random_descriptor(seed: int, way: str) -> None:
    case = descriptor_texts.draw(seed)
    if way == "pointers" and case.kind == "squeezed" and case.block != case.value:
        with pytest.raises(tx.PipelineError, match=r"descriptor_(load|store)|value type matches ptr type"):
            tx.linalg.convert(descriptor_texts.text(case), via="structured", descriptors="pointers")
        return
    lowered = tx.linalg.convert(descriptor_texts.text(case), via="structured", descriptors=way, lowered=True)
    function = execute.build(execute.to_llvm(lowered), "kernel").kernel
    rng = np.random.default_rng(seed)
    for turn in range(LAUNCHES):
        launch = descriptor_runs.draw(case, rng)
        found = descriptor_runs.run(case, launch, function, at_end=bool(turn % 2))
        wanted = descriptor_runs.expected(case, launch)
        assert all(map(descriptor_runs.same, found, wanted)), (case, launch, found, wanted)
