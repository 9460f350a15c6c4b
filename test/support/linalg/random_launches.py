# SPDX-License-Identifier: Apache-2.0
"""Launches of the kernels of `random_kernels`, and what `random_interpreted` says of them."""

from __future__ import annotations

import random
from dataclasses import dataclass

import torch

#: Elements before and after those that the pointers point at. A launch that leaves them is not one.
MARGIN = 1 << 15
POINTERS = ("x", "y", "k", "h")


@dataclass(frozen=True)
class Launch:
    """The arguments of one launch.

    Attributes:
        grid: how many programs it has.
        scalars: the arguments after the pointers.
        seed: what the contents of memory are made from.
    """

    grid: int
    scalars: tuple[int, int, float]
    seed: int

    def memory(self) -> dict[str, torch.Tensor]:
        """Returns for each pointer the memory around it, `MARGIN` elements to each side."""
        generator = torch.Generator().manual_seed(self.seed)

        def numbers() -> torch.Tensor:
            return torch.randn(2 * MARGIN, generator=generator) * 3

        indices = torch.randint(0, max(1, self.scalars[0]), (2 * MARGIN,), dtype=torch.int32, generator=generator)
        return {"x": numbers(), "y": numbers(), "k": indices, "h": numbers().half()}


def draw(seed: int, attempt: int) -> Launch:
    """Returns a launch for the kernel of `seed`."""
    rng = random.Random(f"{seed} {attempt}")
    n, m = rng.choice([0, 1, 7, 16, 29, 32, 40]), rng.choice([0, 1, 2, 3, 5, 9, 20])
    return Launch(rng.choice([1, 2, 3]), (n, m, rng.choice([0.25, 1.5, -2.0])), rng.randrange(2**30))


@dataclass(frozen=True)
class Done:
    """What a launch did in the interpreter.

    Attributes:
        accessed: for each pointer, the first element that was accessed and the one behind the last, counted from it.
        found: what these elements are afterwards.
        defined: whether they are so whatever the undefined lanes of atomics are.
    """

    launch: Launch
    accessed: dict[str, tuple[int, int]]
    found: dict[str, torch.Tensor]
    defined: dict[str, torch.Tensor]


def equal_bits(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Returns which elements are the same, bit for bit."""
    kind = {2: torch.int16, 4: torch.int32}[one.element_size()]
    return one.view(kind) == other.view(kind)
