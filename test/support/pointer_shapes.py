# SPDX-License-Identifier: Apache-2.0
"""Random accesses to memory: strides, wrap-around, masks, and how control flow chooses pointers.

`draw` returns the arguments of the kernel `shapes` for a seed. What decides which operations the kernel has is a
``tl.constexpr``; strides, moduli and bounds are known only when it runs.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import triton
import triton.language as tl

import triton_ext as tx
from support.interpreter import run_in_interpreter

#: Elements before and after the one that the pointers start at; no access leaves them.
MARGIN = 4096


@triton.jit
def shapes(  # noqa: PLR0917
    x, indices, out, old, middle, stride, step, first, mod, bound, low, turns, flip,
    M: tl.constexpr, N: tl.constexpr, S: tl.constexpr, WRAP: tl.constexpr, LATE: tl.constexpr, GATHER: tl.constexpr,
    LOW: tl.constexpr, SIEVE: tl.constexpr, LOOP: tl.constexpr, CHOICE: tl.constexpr, FLAT: tl.constexpr,
):  # fmt: skip
    """Sums tiles of ``x`` along a loop, adds to ``old`` atomically, and stores both."""
    x += middle
    i, j = tl.arange(0, M), tl.arange(0, N)
    rows, columns = first + i, first * 2 + j
    if WRAP % 2 == 1:
        rows = rows % mod
    if WRAP // 2 == 1:
        columns = (columns * 2) % (mod + 3)
    if GATHER == 1:
        rows = tl.load(indices + i)
    if GATHER == 2:
        columns = columns + tl.load(indices + j) % 5
    if FLAT:
        p = x + (rows[:, None] * stride + columns[None, :] * S)
    else:
        p = x + rows[:, None] * stride
        p = p + columns[None, :] * S
    if LATE:
        p = p + first
    if CHOICE == 1:  # noqa: SIM102 -- this condition is a constant
        if flip > 0:
            p = x + 5 + rows[:, None] * 3 + (j % 4)[None, :]
    if CHOICE == 2:
        p = tl.where(flip > 0, p, x - 9 + i[:, None] * 2 + columns[None, :])
    mask = (i[:, None] < bound) & (j[None, :] < bound + 2)
    if LOW:
        mask = mask & (i[:, None] >= low)
    if SIEVE == 1:
        mask = mask & (j % 3 != 1)[None, :]
    if SIEVE == 2:
        mask = mask & ((i[:, None] + j[None, :]) % 3 != 1)
    total = tl.zeros((M, N), tl.int32)
    if LOOP == 0:
        total += tl.load(p, mask, other=-5)
    if LOOP == 1:
        for turn in range(turns):
            total = total * 3 + tl.load(p, mask & (j[None, :] + turn < bound), other=turn)
            p += step
    if LOOP == 2:
        turn = 0
        while turn < turns:
            total = total * 3 + tl.load(p, mask, other=7)
            p += step
            turn += 1
    if LOOP >= 3:
        q = x + 11 + i[:, None] * 2 + j[None, :] * step
    if LOOP == 3:
        for _ in range(turns):
            total = total * 3 + tl.load(p, mask, other=3)
            p, q = q + step, p - 1
    if LOOP == 4:
        turn = 0
        while turn < turns:
            total = total * 3 + tl.load(q, mask, other=4)
            p, q = q, p
            if turn != 1:
                q += step
            turn += 1
    if LOOP == 5:
        for turn in range(turns):
            for _ in range(turn):
                total = total * 3 + tl.load(p, mask, other=5)
                if flip > 0:
                    p += step
                p += 1
            p -= stride
    if LOOP == 6:
        places = i[:, None] * 3 + j[None, :]
        for turn in range(turns):
            total = total * 3 + tl.load(q + places, mask, other=6) + places
            places = places * 2 - step
            if turn == 2:
                places = j[None, :] * 2 - i[:, None]
    if LOOP == 7:
        turn, r = 0, p + 13
        while turn < turns:
            total = total * 3 + tl.load(p, mask, other=7)
            p, r = r + step, p
            if turn == flip:
                r -= stride
            turn += 1
        total += tl.load(r, mask, other=8)
    if LOOP == 8:
        r = p + 1
        if flip > 0:
            for turn in range(turns):
                p += turn
                q += step
        else:
            r = p - step
        total += tl.load(p, mask, other=1) + tl.load(q, mask, other=2) * 3 + tl.load(r, mask, other=3) * 5
    kept = tl.atomic_add(old + i[:, None] * 32 + (j[None, :] + first + 9), total, mask=mask)
    tl.store(out + i[:, None] + j[None, :] * M, tl.where(mask, kept, total), mask=mask)


@dataclass(frozen=True)
class Case:
    """The arguments of one launch.

    Attributes:
        numbers: the values of the arguments between the tensors and the constants.
        constants: the arguments that decide which operations there are.
        seed: what the contents of the tensors are made from.
    """

    numbers: tuple[int, ...]
    constants: dict[str, Any]
    seed: int


def draw(seed: int) -> Case:
    """Returns the case of this number."""
    rng = random.Random(seed)
    rows, columns = rng.choice([(4, 8), (8, 4), (2, 16), (16, 2), (1, 8), (8, 8)])
    constants = {
        "M": rows, "N": columns, "S": rng.choice([0, 1, 1, 2, -1, -3]), "WRAP": rng.choice([0, 0, 1, 2, 3, 3]),
        "LATE": rng.random() < 0.4, "GATHER": rng.choice([0, 0, 0, 1, 2]), "LOW": rng.random() < 0.3,
        "SIEVE": rng.choice([0, 0, 0, 1, 2]), "LOOP": rng.choice([0, 0, 1, 2, 3, 4, 5, 6, 7, 8]),
        "CHOICE": rng.choice([0, 0, 1, 2]), "FLAT": rng.random() < 0.5,
    }  # fmt: skip
    numbers = (
        rng.choice([0, 1, -1, 17, -20, rng.randint(-9, 9)]),  # stride
        rng.randint(-4, 9),  # step
        rng.choice([0, 3, 9, -7]),  # first
        rng.choice([1, 2, 3, 5, 8, 13, 40]),  # mod
        rng.randint(-1, 18),  # bound
        rng.randint(-1, rows),  # low
        rng.randint(0, 4),  # turns
        rng.randint(0, 1),  # flip
    )
    return Case(numbers, constants, seed)


def run(case: Case, launch: Callable[..., object]) -> tuple[torch.Tensor, torch.Tensor]:
    """Calls `launch` with the arguments of the kernel and returns what it wrote: the sums and the counters."""
    generator = torch.Generator().manual_seed(case.seed)
    x = torch.randint(-1000, 1000, (2 * MARGIN,), dtype=torch.int32, generator=generator)
    indices = torch.randint(-30, 30, (16,), dtype=torch.int32, generator=generator)
    out, old = torch.full((64,), 9, dtype=torch.int32), torch.arange(1024, dtype=torch.int32)
    launch(x, indices, out, old, MARGIN, *case.numbers, **case.constants)
    return out, old


def assert_as_interpreted(pipeline: tx.Pipeline, count: int, file: Path) -> None:
    """Compares what the first cases compute with the pipeline and in the interpreter, which writes it to `file`."""
    run_in_interpreter(__file__, *map(Path, ("0", str(count), str(file))))
    for seed, expected in enumerate(torch.load(file)):
        case = draw(seed)
        with pipeline:
            found = run(case, shapes[(1,)])
        assert all(map(torch.equal, expected, found)), case


def main() -> None:
    """Writes what the cases from the first to before the second number compute, to the file of the third argument."""
    begin, end, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    torch.save([run(draw(seed), shapes[(1,)]) for seed in range(begin, end)], path)


if __name__ == "__main__":
    main()
