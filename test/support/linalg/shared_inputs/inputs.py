# SPDX-License-Identifier: Apache-2.0
"""The inputs, by name, and the arguments that they run with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

#: The types of the arguments.
SIGNATURE = "*i32, *i32, *i32, i32, i32, i32"
#: Values of n, m and s.
NUMBERS = ((3, 5, 7), (0, 9, 33), (6, 2, 1))
#: What a pointer may be moved by in each direction.
_MARGIN = 4096


@dataclass(frozen=True)
class Input:
    """A kernel, and the tests of triton-shared that exercise the same."""

    kernel: Any
    names: tuple[str, ...]


INPUTS: dict[str, Input] = {}


def stands_for(*names: str) -> Callable[[Any], Any]:
    """Makes a kernel an input that stands for tests of triton-shared with these names."""

    def add(kernel: Any) -> Any:
        INPUTS[kernel.fn.__name__] = Input(kernel, names)
        return kernel

    return add


def run(name: str, numbers: tuple[int, int, int]) -> torch.Tensor:
    """Launches a kernel and returns the memory that it may have changed."""
    generator = torch.Generator().manual_seed(sum(numbers))
    x = torch.randint(-100, 100, (2 * _MARGIN,), dtype=torch.int32, generator=generator)
    idx = torch.randint(0, 32, (64,), dtype=torch.int32, generator=generator)
    out = torch.arange(2 * _MARGIN, dtype=torch.int32) % 5
    INPUTS[name].kernel[(1,)](x[_MARGIN:], idx, out[_MARGIN:], *numbers)
    return out
