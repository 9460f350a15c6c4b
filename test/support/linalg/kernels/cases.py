# SPDX-License-Identifier: Apache-2.0
"""The cases, by name, and inputs for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch

Pairs = Iterator[tuple[torch.Tensor, torch.Tensor, float]]
CASES: dict[str, Callable[[np.random.Generator], Pairs]] = {}
#: Cases in which the interpreter differs from a GPU, or fails.
NOT_INTERPRETED: set[str] = set()


def case(function: Callable[..., Pairs]) -> Callable[..., Pairs]:
    CASES[function.__name__] = function
    return function


def cases(**variants: object) -> Callable[[Callable[..., Pairs]], Callable[..., Pairs]]:
    """Makes a case for each value of one argument."""

    def add(function: Callable[..., Pairs]) -> Callable[..., Pairs]:
        ((name, values),) = variants.items()
        for value in values:  # type: ignore[attr-defined]
            label = str(value).removeprefix("torch.")
            CASES[f"{function.__name__}_{label}"] = lambda rng, v=value: function(rng, **{name: v})
        return function

    return add


def normal(rng: np.random.Generator, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.from_numpy(rng.normal(size=shape)).to(dtype)


def integers(
    rng: np.random.Generator, *shape: int, low: int = -100, high: int = 100, dtype: torch.dtype = torch.int32
) -> torch.Tensor:
    return torch.from_numpy(rng.integers(low, high, size=shape)).to(dtype)


def size(rng: np.random.Generator, most: int = 200) -> int:
    return int(rng.integers(1, most))


def check(name: str, seed: int) -> None:
    """Runs one case."""
    for found, expected, rtol in CASES[name](np.random.default_rng(seed)):
        assert found.dtype == expected.dtype, (found.dtype, expected.dtype)
        torch.testing.assert_close(found, expected, rtol=rtol, atol=rtol, equal_nan=True)
