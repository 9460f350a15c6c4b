# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: N803 - kernels name sizes in capitals
"""The LLVM pass `stream_stores` on the CPU backend: each kernel with and without it, and torch's, in turns.

A turn times one after the other, in an order that rotates. The table has the time without the pass and quartiles of
the ratio, over all turns: how many times faster the kernel is with the pass, and how many times faster than torch.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from cpu_kernels import add_kernel, silu_mul_kernel, softmax_kernel
from torch.nn import functional

import triton_ext as tx

STREAM = tx.Pipeline().at_end("llvm", tx.passes.llvm.stream_stores())
BLOCK = 4096
COLUMNS = 1024


@triton.jit
def copy(x, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i))


@triton.jit
def add(x, y, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) + tl.load(y + i))


@triton.jit
def silu_mul(x, y, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(out + i, v * tl.sigmoid(v) * tl.load(y + i))


@triton.jit
def softmax(x, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + i, e / tl.sum(e, 0))


@dataclass(frozen=True)
class Case:
    """A kernel on arrays of `size` floats, and torch's function that writes the same results."""

    name: str
    size: int
    ours: Callable[[], object]
    torch: Callable[[], object]
    results: tuple[torch.Tensor, torch.Tensor]


def cases(size: int) -> list[Case]:
    """Returns the kernels for one size; a result of each is compared with torch's."""
    x, y = (torch.rand(size) for _ in range(2))
    out, expected = torch.empty(size), torch.empty(size)
    grid = (triton.cdiv(size, BLOCK),)
    rows = (size // COLUMNS, COLUMNS)

    def torch_silu_mul() -> None:
        torch.mul(functional.silu(x), y, out=expected)

    def torch_softmax() -> None:
        torch.softmax(x.view(rows), 1, out=expected.view(rows))

    def torch_add() -> None:
        torch.add(x, y, out=expected)

    pairs: list[tuple[str, Callable[[], object], Callable[[], object]]] = [
        ("copy", lambda: copy[grid](x, out, BLOCK=BLOCK), lambda: expected.copy_(x)),
        ("add", lambda: add[grid](x, y, out, BLOCK=BLOCK), torch_add),
        ("silu * y", lambda: silu_mul[grid](x, y, out, BLOCK=BLOCK), torch_silu_mul),
        ("softmax", lambda: softmax[rows[:1]](x, out, BLOCK=COLUMNS), torch_softmax),
        ("add, masked", lambda: add_kernel[grid](x, y, out, size, BLOCK=BLOCK), torch_add),
        ("silu * y, masked", lambda: silu_mul_kernel[grid](x, y, out, size, BLOCK=BLOCK), torch_silu_mul),
        ("softmax, masked", lambda: softmax_kernel[rows[:1]](x, out, COLUMNS, BLOCK=COLUMNS), torch_softmax),
    ]
    return [Case(name, size, ours, eager, (out, expected)) for name, ours, eager in pairs]


def seconds(run: Callable[[], object], repeats: int) -> float:
    run()
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    return (time.perf_counter() - start) / repeats


def measure(case: Case, turns: int) -> list[tuple[float, float, float]]:
    """Returns the seconds without the pass, with it, and of torch, for each turn."""
    repeats = max(1, 2**21 // case.size)

    def plain() -> float:
        with tx.Pipeline():
            return seconds(case.ours, repeats)

    def streamed() -> float:
        with STREAM:
            return seconds(case.ours, repeats)

    runs = [plain, streamed, lambda: seconds(case.torch, repeats)]
    out, expected = case.results
    for run in runs[:2]:
        out.zero_()
        run()
        case.torch()
        torch.testing.assert_close(out, expected)
    turned = []
    for turn in range(turns):
        order = [(turn + k) % 3 for k in range(3)]
        times = {k: runs[k]() for k in order}
        turned.append((times[0], times[1], times[2]))
    return turned


def quartiles(ratios: list[float]) -> str:
    low, middle, high = statistics.quantiles(ratios, n=4)
    return f"{middle:5.2f} ({low:4.2f} to {high:4.2f})"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument(
        "--sizes", type=int, nargs="*", default=[14, 18, 24, 26], help="logarithms of numbers of floats"
    )
    arguments = parser.parse_args()
    print(f"{'kernel':<17} {'floats':>6} {'ms without':>11}   {'with the pass':<22} {'torch beside it':<22}")
    with tx.target.active("cpu"):
        for size in arguments.sizes:
            for case in cases(2**size):
                times = measure(case, arguments.turns)
                faster = quartiles([off / on for off, on, _ in times])
                against = quartiles([eager / on for _, on, eager in times])
                ms = 1000 * statistics.median(off for off, _, _ in times)
                print(f"{case.name:<17} {f'2^{size}':>6} {ms:11.4f}   {faster:<22} {against:<22}", flush=True)


if __name__ == "__main__":
    main()
