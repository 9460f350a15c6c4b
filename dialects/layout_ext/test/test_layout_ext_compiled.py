# SPDX-License-Identifier: Apache-2.0
"""Layouts of `layout_ext` through the whole compiler: to a cubin and an hsaco, by Triton's own lowering."""

from __future__ import annotations

from typing import Any

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget

import triton_ext as tx

TARGETS = {
    "sm80": (GPUTarget("cuda", 80, 32), "ptx", "cubin", "bar.sync"),
    "sm90": (GPUTarget("cuda", 90, 32), "ptx", "cubin", "bar.sync"),
    "gfx942": (GPUTarget("hip", "gfx942", 64), "amdgcn", "hsaco", "s_barrier"),
}
TILE = "#layout_ext.warp_tile<{{tile = [32, 32], vec = 4, order = [{order}], warps = [2, 2], lanes = {lanes}}}>"
ROWS = (
    "#layout_ext.product<#ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [{lanes}, 1], warpsPerCTA = [1, 1], "
    "order = [1, 0]}}> over [{lanes}, 4], "
    "#ttg.linear<{{register = [], lane = [], warp = [[0, 1], [0, 2]], block = []}}> over [1, 4]>"
)
REVERSED = (
    "#layout_ext.composed<#ttg.blocked<{{sizePerThread = [1, 1], threadsPerWarp = [1, {lanes}], warpsPerCTA = [4, 1], "
    "order = [1, 0]}}> over [4, 64], #layout_ext.map<[[1, 0], [2, 0]], "
    "[[0, 32], [0, 16], [0, 8], [0, 4], [0, 2], [0, 1]]>>"
)


@triton.jit
def transpose(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):  # noqa: PLR0917
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    tl.store(y + j[None, :] * M + i[:, None], tl.load(x + i[:, None] * N + j[None, :]))


@triton.jit
def row_sums(x, y, BM: tl.constexpr, BN: tl.constexpr):
    """Reduces, and broadcasts the result: layouts of one dimension fewer, in both directions."""
    i, j = tl.arange(0, BM), tl.arange(0, BN)
    tile = tl.load(x + i[:, None] * BN + j[None, :])
    tl.store(y + i[:, None] * BN + j[None, :], tile - tl.sum(tile, 1)[:, None])


def compiled(kernel: Any, target: GPUTarget, pipeline: tx.Pipeline) -> Any:
    types = {name: "*fp32" if name in "xy" else "i32" if name in "MN" else "constexpr" for name in kernel.arg_names}
    attributes = {(i,): [["tt.divisibility", 16]] for i, t in enumerate(types.values()) if t != "constexpr"}
    with pipeline:
        source = triton.compiler.ASTSource(kernel, types, {"BM": 64, "BN": 64}, attributes)
        return triton.compile(source, target=target)


def assigned(load: str, store: str, target: GPUTarget) -> tx.Pipeline:
    give = tx.passes.ttgir.assign_layout
    lanes = target.warp_size
    return tx.Pipeline().after(
        "ttgpuir.coalesce",
        give(kind="load", layout=load.format(lanes=lanes, order="1, 0")),
        give(kind="store", layout=store.format(lanes=lanes, order="0, 1")),
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_warp_tile_needs_no_barrier(name: str) -> None:
    """Triton's own layout exchanges elements between warps; if each tile stays in a warp, no warp waits for another."""
    target, assembly, binary, barrier = TARGETS[name]
    plain = compiled(transpose, target, tx.Pipeline())
    tiled = compiled(transpose, target, assigned(TILE, TILE, target))
    assert tiled.asm["ttgir"].count("#warp_tile") > plain.asm["ttgir"].count("#warp_tile") == 0
    assert tiled.asm[binary]
    assert barrier in plain.asm[assembly]
    assert barrier not in tiled.asm[assembly]


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("layout", [TILE, ROWS, REVERSED], ids=["warp_tile", "product", "composed"])
@pytest.mark.parametrize("kernel", [transpose, row_sums], ids=["transpose", "row_sums"])
def test_reaches_the_binary(kernel: Any, layout: str, name: str) -> None:
    target, _, binary, _ = TARGETS[name]
    made = compiled(kernel, target, assigned(layout, layout, target))
    assert "#layout_ext." in made.asm["ttgir"]
    assert made.asm[binary]
