# SPDX-License-Identifier: Apache-2.0
"""On a GPU: a transposition with layouts from `assign_layout`, against the layouts that Triton chooses.

Needs PyTorch with CUDA. First the results with and without the pass, over generated shapes and types, which must be
equal bit by bit to those of PyTorch. Then times, in turns, of two block sizes and two types: Triton's choice, tiles
that stay in a warp (`layout_ext.warp_tile`) and one order of elements for both accesses (`ttg.blocked`). Exits with 1
if a result differs.
"""

from __future__ import annotations

import random
import statistics
import sys

import torch
import triton
import triton.language as tl
from triton.testing import do_bench

import triton_ext as tx

LANES = 32
TYPES = (torch.float32, torch.float16)


@triton.jit
def transpose(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):  # noqa: N803, PLR0917
    """Y = X^T, with X of M by N elements."""
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (i < M)[:, None] & (j < N)[None, :]
    tile = tl.load(x + i[:, None] * N + j[None, :], mask=inside)
    tl.store(y + j[None, :] * M + i[:, None], tile, mask=inside)


def assigned(load: str, store: str) -> tx.Pipeline:
    """Returns a pipeline that gives the loads one layout and the stores another."""
    give = tx.passes.ttgir.assign_layout
    return tx.Pipeline().after("ttgpuir.coalesce", give(kind="load", layout=load), give(kind="store", layout=store))


def tiles(vec: int) -> tx.Pipeline:
    """Returns a pipeline in which each of four warps loads and stores the same tile of 32 by 32 elements."""
    layout = "#layout_ext.warp_tile<{{tile = [32, 32], vec = {}, order = [{}], warps = [2, 2], lanes = 32}}>"
    return assigned(layout.format(vec, "1, 0"), layout.format(vec, "0, 1"))


def one_order(vec: int) -> tx.Pipeline:
    """Returns a pipeline in which loads and stores have the order of the loads: no conversion, strided stores."""
    rows = 4 * vec
    layout = (
        f"#ttg.blocked<{{sizePerThread = [1, {vec}], threadsPerWarp = [{LANES // (64 // rows)}, {64 // rows}], "
        "warpsPerCTA = [4, 1], order = [1, 0]}>"
    )
    return assigned(layout, layout)


def candidates() -> dict[str, tx.Pipeline]:
    """Returns the pipelines to compare, by name."""
    return (
        {"Triton's choice": tx.Pipeline()}
        | {f"warp_tile, {k}": p for k, p in tx.sweep(tiles, vec=[1, 2, 4, 8]).items()}
        | {f"one order, {k}": p for k, p in tx.sweep(one_order, vec=[2, 4]).items()}
    )


def launch(x: torch.Tensor, y: torch.Tensor, block: int) -> None:
    """Writes the transpose of `x` to `y`."""
    rows, columns = x.shape
    grid = (triton.cdiv(rows, block), triton.cdiv(columns, block))
    transpose[grid](x, y, rows, columns, BM=block, BN=block, num_warps=4)


def check() -> int:
    """Returns the number of wrong results over generated shapes."""
    numbers, wrong = random.Random(0), 0
    shapes = [(numbers.randint(1, 700), numbers.randint(1, 700)) for _ in range(12)] + [(1024, 512), (64, 64)]
    for dtype in TYPES:
        for shape in shapes:
            x = torch.randn(shape, device="cuda").to(dtype)
            for name, pipeline in candidates().items():
                for block in (64, 128):
                    y = torch.full(shape[::-1], float("nan"), device="cuda", dtype=dtype)
                    with pipeline:
                        launch(x, y, block)
                    if not torch.equal(y, x.T):
                        wrong += 1
                        print(f"wrong: {name}, {dtype}, {shape}, block {block}")
    print(f"{len(TYPES) * len(shapes) * len(candidates()) * 2} results, {wrong} wrong")
    return wrong


def times(size: int, dtype: torch.dtype, block: int, rounds: int = 5) -> dict[str, float]:
    """Returns the milliseconds of each candidate: medians over rounds in which all are measured in turn."""
    x = torch.randn(size, size, device="cuda").to(dtype)
    y = torch.empty_like(x)
    found: dict[str, list[float]] = {name: [] for name in candidates()}
    for _ in range(rounds):
        for name, pipeline in candidates().items():
            with pipeline:
                found[name].append(do_bench(lambda: launch(x, y, block), return_mode="median"))
    return {name: statistics.median(values) for name, values in found.items()}


def main() -> None:
    """Checks results, then prints one table of times."""
    print(f"{torch.cuda.get_device_name()}, Triton {triton.__version__}, PyTorch {torch.__version__}")
    wrong = check()
    for size in (4096, 8192):
        for dtype in TYPES:
            for block in (64, 128):
                found = times(size, dtype, block)
                first = next(iter(found.values()))
                print(f"{size}x{size} {dtype}, block {block}")
                for name, ms in found.items():
                    gigabytes = 2 * size * size * dtype.itemsize / ms / 1e6
                    print(f"  {ms:8.4f} ms  {gigabytes:6.0f} GB/s  {first / ms:5.2f}x  {name}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
