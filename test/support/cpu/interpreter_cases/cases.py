# SPDX-License-Identifier: Apache-2.0
"""The cases, by name, and inputs for them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch

INTEGERS = {f"{sign}int{bits}": getattr(torch, f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)}
FLOATS = {"float16": torch.float16, "float32": torch.float32, "float64": torch.float64}
EVERY = {**INTEGERS, "bfloat16": torch.bfloat16, **FLOATS}
EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
N = 200  # not a power of two, so that the last block is masked

Result = torch.Tensor | tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Case:
    """A function to run, and the tolerance between its two results."""

    run: Callable[[], Result]
    rtol: float = 0
    atol: float = 0


CASES: dict[str, Case] = {}


def case(name: str, run: Callable[..., Result], *args: object, rtol: float = 0, atol: float = 0) -> None:
    assert name not in CASES
    CASES[name] = Case(lambda: run(*args), rtol, atol)


def batch(names: Mapping[str, Mapping[str, float]], run: Callable[..., tuple[Result, ...]], *args: object) -> None:
    """Adds cases that share one kernel, because a compilation takes most of the time of a case.

    Args:
        names: the tolerances of each case, by its name.
        run: returns the result of each case, in this order; called once.
        args: its arguments.
    """

    @functools.cache
    def together() -> dict[str, Result]:
        return dict(zip(names, run(*args), strict=True))

    for name, tolerances in names.items():
        assert name not in CASES
        CASES[name] = Case(lambda name=name: together()[name], **tolerances)


def random(dtype: torch.dtype, *shape: int, small: bool = False, seed: int = 0) -> torch.Tensor:
    """Returns normally distributed floats, or integers of the whole range; `small` integers fit every type."""
    rng = np.random.default_rng(seed)
    if dtype.is_floating_point:
        return torch.from_numpy(rng.normal(size=shape) * 3).to(dtype)
    info = torch.iinfo(dtype)
    low, high = (0 if info.min == 0 else -100, 100) if small else (info.min, info.max)
    kind = getattr(np, str(dtype).removeprefix("torch."))
    return torch.from_numpy(rng.integers(low, high, shape, kind, endpoint=True))


def empty(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    return torch.zeros(*shape).to(dtype)


def results(name: str) -> list[np.ndarray]:
    """Returns the results of the case `name`. Types that NumPy lacks become f32, which represents them exactly."""
    found = CASES[name].run()
    arrays = []
    for tensor in found if isinstance(found, tuple) else (found,):
        lacks = tensor.dtype == torch.bfloat16 or (tensor.dtype.is_floating_point and tensor.dtype.itemsize == 1)
        arrays.append((tensor.float() if lacks else tensor).numpy())
    return arrays
