# SPDX-License-Identifier: Apache-2.0
"""`Case`: a kernel with one planted bug, its fixed twin, and what a sanitizer has to find.

`Tensors` makes the arguments of its launches.
"""

from __future__ import annotations

import inspect
import itertools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from support import modules

#: The comment at the end of the line that a finding has to name.
MARK = "# BUG"
_CORPUS = Path(__file__).resolve().parents[2] / "sanitizer" / "corpus"
_GUARD = 1 << 16


class Tensors:
    """Makes the arguments of a launch on `device`; ``bug`` says whether of the kernel with the bug or of its twin.

    On a CPU, every tensor that `__call__` makes lies between guards of 64 KiB, so that an access that is a little
    outside, which the sanitizer only reports, harms nobody. Numbers are small, positive and finite.
    """

    def __init__(self, device: str = "cpu", bug: bool = True) -> None:
        self.device = device
        self.bug = bug

    def __call__(self, *shape: int, dtype: torch.dtype = torch.float32, data: object = None) -> torch.Tensor:
        """Returns a contiguous tensor with the numbers `data`, or 1 to 7 in turns."""
        count = int(np.prod(shape))
        values = torch.arange(count) % 7 + 1 if data is None else torch.tensor(data)
        return self.allocate(count, dtype).view(shape).copy_(values.reshape(shape).to(dtype))

    def allocate(self, count: int, dtype: torch.dtype) -> torch.Tensor:
        """Returns a tensor whose storage has exactly `count` elements."""
        if self.device != "cpu":
            return torch.empty(count, dtype=dtype, device=self.device)
        size = count * dtype.itemsize
        arena = np.zeros(size + 2 * _GUARD + 64, np.uint8)
        start = _GUARD + -(arena.ctypes.data + _GUARD) % 64
        return torch.from_numpy(arena[start : start + size]).view(dtype)

    def unwritten(self, *shape: int, written: int = 0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Returns what `torch.empty` does, of which only the first elements are `written`."""
        tensor = torch.empty(*shape, dtype=dtype, device=self.device)
        tensor.view(-1)[:written].fill_(1)
        return tensor

    def huge(self, *shape: int, dtype: torch.dtype = torch.float16) -> torch.Tensor:
        """Returns a tensor without memory."""
        return torch.empty(*shape, dtype=dtype, device="meta")

    def address(self, tensor: torch.Tensor) -> int:
        """Returns the address as an integer."""
        return tensor.data_ptr()

    def table(self, *tensors: torch.Tensor) -> torch.Tensor:
        """Returns a tensor of the addresses of `tensors`."""
        return self(len(tensors), dtype=torch.int64, data=[self.address(tensor) for tensor in tensors])


@dataclass(frozen=True)
class Case:
    """A kernel with a planted bug, and the same kernel without it.

    Attributes:
        kernel: its last parameter is ``BUG: tl.constexpr``.
        check: the check that finds the bug.
        style: how the kernel makes its pointers, or what else is special; for the tables.
        arguments: makes the arguments by name, but BUG.
        grid: the grid of the launch.
        argument: the tensor to which the finding belongs; None if there is none.
        lane: the first bad lane of the first bad program; -1 in a scalar.
        lanes: the number of bad lanes in all programs.
        program: the first bad program.
        at: the coordinates of the first bad lane; None if the finding has none.
        within: the function with the marked line; the kernel by default.
        launched: False if only `tx.sanitize.check_launch` can find it, because the tensors would be huge.
        action: ``suppress`` where the access would end the process.
    """

    kernel: Any
    check: str
    style: str
    arguments: Callable[[Tensors], dict[str, Any]]
    grid: tuple[int, ...]
    argument: str | None
    lane: int | None
    lanes: int | None
    program: tuple[int, int, int]
    at: tuple[int, ...] | None
    within: Any
    launched: bool
    action: str

    @property
    def name(self) -> str:
        """The kernel's name, which no other case has."""
        return str(self.kernel.__name__)

    @property
    def file(self) -> str:
        """The kernel's file."""
        return str(inspect.getsourcefile(self.kernel.fn))

    def line(self, mark: str = MARK) -> int:
        """Returns the number of the marked line."""
        lines, first = inspect.getsourcelines((self.within or self.kernel).fn)
        (found,) = (number for number, line in enumerate(lines, first) if line.rstrip().endswith(mark))
        return found

    def given(self, tensors: Tensors) -> dict[str, Any]:
        """Returns all arguments of a launch."""
        return {**self.arguments(tensors), "BUG": tensors.bug}


#: Every case of the modules that were imported, by name.
CASES: dict[str, Case] = {}


def case(
    check: str,
    style: str,
    arguments: Callable[[Tensors], dict[str, Any]],
    argument: str | None = None,
    *,
    grid: tuple[int, ...] = (1,),
    lane: int | None = None,
    lanes: int | None = None,
    program: tuple[int, ...] = (0, 0, 0),
    at: tuple[int, ...] | None = None,
    within: Any = None,
    launched: bool = True,
    action: str = "report",
) -> Callable[[Any], Any]:
    """Adds the kernel below to `CASES`; see `Case`."""

    def add(kernel: Any) -> Any:
        name = kernel.__name__
        assert name not in CASES, f"two cases are named {name}"
        first = (*program, 0, 0)[:3]
        CASES[name] = Case(
            kernel, check, style, arguments, grid, argument, lane, lanes, first, at, within, launched, action
        )  # fmt: skip
        return kernel

    return add


def corpus() -> dict[str, Case]:
    """Returns all cases of the corpus, by name."""
    for file in sorted(_CORPUS.glob("*.py")):
        name = f"sanitizer_corpus_{file.stem}"
        if name not in sys.modules:
            modules.imported(file, name, register=True)
    return CASES


def programs(grid: tuple[int, ...]) -> Iterator[tuple[int, int, int]]:
    """Yields the ids of all programs, the first axis fastest, as hardware numbers them."""
    sizes = (*grid, 1, 1)[:3]
    for z, y, x in itertools.product(*map(range, reversed(sizes))):
        yield x, y, z
