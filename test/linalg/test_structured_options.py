# SPDX-License-Identifier: Apache-2.0
"""The options that `triton_to_structured` has in common with triton-shared's pass keep what kernels compute."""

from __future__ import annotations

import pytest
import torch

import triton_ext as tx
from support import pointer_shapes
from support.interpreter import pointer_shapes_in_interpreter
from support.linalg import execute

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("stock")]

#: With the first of these, the pass runs what the pipeline then does not.
OPTIONS = {
    "prepass": tx.Pipeline().set("linalgir.triton_to_structured", skip_prepass=False),
    "unsafe mask": tx.Pipeline().set("linalgir.triton_to_structured", use_unsafe_mask=True),
}
SEEDS = range(300, 305)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[list[torch.Tensor]]:
    """Returns what the interpreter makes of each random access."""
    return pointer_shapes_in_interpreter(SEEDS, tmp_path_factory.mktemp("interpreted"))


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("seed", SEEDS)
def test_shape(seed: int, option: str, expected: list[list[torch.Tensor]]) -> None:
    case = pointer_shapes.draw(seed)
    with execute.through_linalg(at_end=True, via="structured", pipeline=OPTIONS[option]):
        found = pointer_shapes.run(case, pointer_shapes.shapes[(1,)])
    assert all(map(torch.equal, expected[seed - SEEDS.start], found)), case
