# SPDX-License-Identifier: Apache-2.0
"""Launches of random kernels with random extents, and what the oracle says of them."""

from __future__ import annotations

import inspect
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from support import modules

from .cases import Tensors


@dataclass(frozen=True)
class Launch:
    """A launch of `kernel`; the same for every process that makes it from the same number."""

    kernel: Any
    number: int

    @property
    def grid(self) -> tuple[int, int]:
        """The grid."""
        rng = random.Random(self.number)
        return rng.randint(1, 3), rng.randint(1, 2)

    def given(self, tensors: Tensors) -> dict[str, Any]:
        """Returns the arguments."""
        rng = random.Random(self.number + 1)
        n, rows, columns = rng.choice([0, 1, 7, 16, 29, 32, 40]), rng.randint(0, 6), rng.randint(0, 10)
        if "tl.where" in inspect.getsource(self.kernel.fn):
            # The address of an empty tensor is 0, so that it does not say which of several tensors was selected.
            n, rows, columns = max(n, 1), max(rows, 1), max(columns, 1)
        x = tensors(n)
        if rng.random() < 0.3:  # a part of a larger one
            start = rng.choice([0, 4, 16])
            x = tensors(start + n + rng.randint(0, 20))[start : start + n]
        layout = rng.random()
        if layout < 0.5:
            y = tensors(rows, columns)
        elif layout < 0.65:
            y = tensors(columns, rows).T
        elif layout < 0.8:
            y = tensors(rows + 2, columns + 6)[1 : rows + 1, :columns]
        else:
            y = tensors(rows + 2, columns)[:rows]
        index = [rng.randint(0, 39) if rng.random() < 0.95 else rng.randint(-3, 45) for _ in range(40)]
        out = tensors(1024)[: rng.choice([1024, 1024, 700])] if rng.random() < 0.5 else tensors(rng.choice([560, 545]))
        a, b = y.stride()
        return {
            "x": x, "y": y, "index": tensors(40, dtype=torch.int32, data=index), "out": out,
            "n": n, "rows": rows, "columns": columns, "a": a, "b": b,
        }  # fmt: skip


def launches_of(file: Path, seed: int, each: int) -> Iterator[Launch]:
    """Yields `each` launches of each kernel in a module that `random_kernels` has written."""
    module = modules.imported(file)
    rng = random.Random(seed)
    kernels = {name: kernel for name, kernel in vars(module).items() if name.startswith("kernel")}
    for name in sorted(kernels, key=lambda name: int(name.removeprefix("kernel"))):
        for _ in range(each):
            yield Launch(kernels[name], rng.randrange(2**30))


def interpret_all(file: Path, seed: int, each: int) -> list[list[dict[str, Any]]]:
    """Returns the oracle's findings of all launches, of `bounds` and `view`."""
    from .memory import Memory
    from .oracle import interpret
    from .watching import Run

    found = []
    for launch in launches_of(file, seed, each):
        run, memory = Run(str(file)), Memory()
        interpret(launch.kernel, memory, launch.given(memory), launch.grid, run)
        found.append([row for row in run.findings.values() if row["check"] in {"bounds", "view"}])
    return found
