# SPDX-License-Identifier: Apache-2.0
"""Launches the kernels of `descriptor_texts`, and computes with NumPy what they have to do."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from support.linalg import execute
from support.linalg.descriptor_texts import DTYPES, Case

_FAR = 2**31 - 2**12


@dataclass
class Launch:
    """The arguments of one launch.

    Attributes:
        first: the index of the element at which memory begins. What lies before it is not there.
        shape: the shape of the tensor.
        other: the shape of the other descriptor, if there is one.
        index: where the block begins.
    """

    choice: int
    first: list[int]
    shape: list[int]
    other: list[int]
    strides: list[int]
    index: list[int]
    rows: list[int]
    x: torch.Tensor
    y: torch.Tensor


def draw(case: Case, rng: np.random.Generator) -> Launch:
    """Returns random arguments: blocks inside and across each border, far outside, and far into a large tensor."""
    box = case.value if case.kind == "rows" else case.block
    sizes = [int(rng.integers(1, 2 * size + 4)) for size in box]
    strides = [0] * case.rank
    step = 1
    for d in rng.permutation(case.rank):
        strides[d] = step
        step *= sizes[d] + int(rng.integers(0, 3))
    if rng.random() < 0.5:  # the usual order, without gaps
        strides = [int(np.prod(sizes[d + 1 :])) for d in range(case.rank)]
    first = [0] * case.rank
    if rng.random() < 0.3 and case.kind != "rows":
        first[int(rng.integers(case.rank))] = _FAR
    near = rng.random() < 0.25
    index = [
        int(begin + rng.integers(0 if begin or near else -size - 1, max(1, extent - size if near else extent + 2)))
        for begin, extent, size in zip(first, sizes, box, strict=True)
    ]
    if rng.random() < 0.1:
        index[int(rng.integers(case.rank))] = int(rng.choice([-(2**31), 2**31 - 1]))
    rows = list(map(int, rng.permutation(np.arange(-3, 20))[:8]))
    memory = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    dtype = DTYPES[case.element]
    x, y = (
        execute.random(rng, dtype if dtype.itemsize > 1 or case.element == "i8" else torch.float32, memory)
        for _ in "xy"
    )
    other = [begin + int(rng.integers(1, size + 1)) for begin, size in zip(first, sizes, strict=True)]
    shape = [begin + size for begin, size in zip(first, sizes, strict=True)]
    return Launch(int(rng.integers(2)), first, shape, other, strides, index, rows, x.to(dtype), y.to(dtype))


def run(case: Case, launch: Launch, function: Any, *, at_end: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns what is stored to `seen`, and `y`."""
    seen = torch.zeros(2 * case.lanes, dtype=launch.x.dtype)
    x, y, out = (execute.Guarded(t.clone(), at_end=at_end) for t in (launch.x, launch.y, seen))
    rows = execute.Guarded(torch.tensor(launch.rows, dtype=torch.int32), at_end=at_end)
    before = sum(f * s for f, s in zip(launch.first, launch.strides, strict=True)) * launch.x.element_size()
    values: list[Any] = []
    strides = list(map(ctypes.c_int64, launch.strides))
    for memory in (x, y):
        values.append(ctypes.c_int64(memory.address - before))
        if case.carrier == "argument":
            flags = (ctypes.c_bool(case.pads_nan), ctypes.c_bool(case.rounds))
            values += [*map(ctypes.c_int64, launch.shape), *strides, *flags]
    values += [ctypes.c_int64(out.address), ctypes.c_int64(rows.address)]
    numbers = (launch.choice, *launch.index, *launch.shape, *launch.other)
    function(*values, *map(ctypes.c_int32, numbers), *strides, *map(ctypes.c_int32, (1, 1, 1, 0, 0, 0)))
    for memory in (y, out):
        memory.copy_back()
    return out.tensor, y.tensor


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the tensor as integers: PyTorch does not index all floats of eight bits."""
    return tensor.view({1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.element_size()])


def _round(value: torch.Tensor) -> torch.Tensor:
    """Returns floats with ten bits of mantissa, the nearest ones, and of two those that are even."""
    bits = value.numpy().view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0xFFF + (bits >> 13 & 1)) & 0xFFFFE000).astype(np.uint32).view(np.float32)
    return torch.where(value.isnan(), value, torch.from_numpy(rounded))


def expected(case: Case, launch: Launch) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns what `run` has to return."""
    box = case.value if case.kind == "rows" else case.block
    axes = [begin + np.arange(size, dtype=np.int64) for begin, size in zip(launch.index, box, strict=True)]
    if case.kind == "rows":
        axes[0] = np.array(launch.rows, dtype=np.int64)
    grid = np.meshgrid(*axes, indexing="ij")
    place = sum((g - f) * s for g, f, s in zip(grid, launch.first, launch.strides, strict=True)).ravel()

    def inside(shape: list[int]) -> np.ndarray:
        return np.logical_and.reduce([(g >= 0) & (g < n) for g, n in zip(grid, shape, strict=True)]).ravel()

    dtype = launch.x.dtype
    x, y = _bits(launch.x), _bits(launch.y).clone()
    pad = _bits(torch.tensor([float("nan") if case.pads_nan else 0]).to(dtype))
    both = {"loop": [launch.shape, launch.other]}
    chooses = case.carrier in ("branch", "select")
    shapes = both.get(case.carrier, [launch.shape if launch.choice or not chooses else launch.other])
    seen = torch.zeros(2 * case.lanes, dtype=x.dtype)
    for turn, shape in enumerate(shapes):
        reads, writes = torch.from_numpy(inside(shape)), torch.from_numpy(inside(launch.shape))
        value = pad.repeat(case.lanes)
        value[reads] = x[torch.from_numpy(place)[reads]]
        if case.rounds:
            value = _bits(_round(value.view(dtype)))
        seen[turn * case.lanes : (turn + 1) * case.lanes] = value
        where = torch.from_numpy(place)[writes]
        y[where] = y[where] + value[writes] if case.kind == "sum" else value[writes]
    return seen.view(dtype), y.view(dtype)


def same(found: torch.Tensor, wanted: torch.Tensor) -> bool:
    """Returns whether two tensors have the same bits, except for those of NaN."""
    if not wanted.is_floating_point():
        return torch.equal(found, wanted)
    nan = wanted.float().isnan()
    return torch.equal(found.float().isnan(), nan) and torch.equal(_bits(found)[~nan], _bits(wanted)[~nan])
