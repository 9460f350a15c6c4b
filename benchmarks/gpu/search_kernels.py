# SPDX-License-Identifier: Apache-2.0
"""The kernels of `search.py`, with the configurations that their authors would tune over, and their arguments.

With ``BENCHMARK_TARGET=cpu`` the arguments are on the CPU, and of each kernel only the small launches are there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
import triton
import triton.language as tl
from loop_split_kernels import causal, matmul, sliding, softmax
from triton import Config

Arguments = dict[str, Any]
T = TypeVar("T")
#: Where the arguments are.
DEVICE = os.environ.get("BENCHMARK_TARGET", "cuda")


@triton.jit
def layer_norm_backward(  # noqa: PLR0917
    dx,
    dy,
    x,
    w,
    mean,
    rstd,
    dw,
    db,
    M,  # noqa: N803
    N,  # noqa: N803
    ROWS: tl.constexpr,  # noqa: N803
    BLOCK: tl.constexpr,  # noqa: N803
):
    """The gradients of a layer norm: `ROWS` rows of dx, and their part of the sums for dw and db."""
    i = tl.arange(0, BLOCK)
    mask = i < N
    weight = tl.load(w + i, mask=mask, other=0.0).to(tl.float32)
    sum_w = tl.zeros((BLOCK,), tl.float32)
    sum_b = tl.zeros((BLOCK,), tl.float32)
    for r in range(ROWS):
        row = tl.program_id(0) * ROWS + r
        inside = mask & (row < M)
        gradient = tl.load(dy + row * N + i, mask=inside, other=0.0).to(tl.float32)
        value = tl.load(x + row * N + i, mask=inside, other=0.0).to(tl.float32)
        scale = tl.load(rstd + row, mask=row < M, other=0.0)
        normal = tl.where(inside, (value - tl.load(mean + row, mask=row < M, other=0.0)) * scale, 0.0)
        scaled = gradient * weight
        first = tl.sum(normal * scaled, 0) / N
        second = tl.sum(scaled, 0) / N
        tl.store(dx + row * N + i, ((scaled - (normal * first + second)) * scale).to(dx.dtype.element_ty), mask=inside)
        sum_w += gradient * normal
        sum_b += gradient
    tl.store(dw + tl.program_id(0) * N + i, sum_w, mask=mask)
    tl.store(db + tl.program_id(0) * N + i, sum_b, mask=mask)


@triton.jit
def _compose(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def scan(a, b, h, n, BLOCK: tl.constexpr):  # noqa: N803
    """A gated recurrence over each row: h[t] = a[t] * h[t - 1] + b[t]."""
    row = tl.program_id(0).to(tl.int64) * n
    i = tl.arange(0, BLOCK)
    state = 0.0
    for start in range(0, n, BLOCK):
        inside = start + i < n
        gate = tl.load(a + row + start + i, mask=inside, other=1.0)
        value = tl.load(b + row + start + i, mask=inside, other=0.0)
        products, values = tl.associative_scan((gate, value), 0, _compose)
        values += products * state
        tl.store(h + row + start + i, values, mask=inside)
        state = tl.sum(tl.where(i == BLOCK - 1, values, 0.0), 0)


def _launches(timed: T, *small: T) -> tuple[T, ...]:
    """Returns the launches of a kernel: one to time and small ones, on the CPU only these."""
    return small if DEVICE == "cpu" else (timed, *small)


def _random(*shape: int, dtype: torch.dtype = torch.float16) -> torch.Tensor:
    return torch.randn(*shape, device=DEVICE, dtype=dtype)


def attention_inputs() -> Iterator[Arguments]:
    """Yields the timed launch of causal attention, and a small one."""
    for heads, length in _launches((64, 4096), (2, 512)):
        q, k, v = (_random(heads, length, 64) for _ in range(3))
        yield {"q": q, "k": k, "v": v, "o": torch.zeros_like(q), "scale": 0.18, "N": length, "D": 64, "FORM": "one"}


def sliding_inputs() -> Iterator[Arguments]:
    """Yields the timed launch of attention with a window, and a small one."""
    for launch, window in zip(attention_inputs(), _launches(1024, 100), strict=True):
        yield {**launch, "window": window}


def matmul_inputs() -> Iterator[Arguments]:
    """Yields the timed launch of a product with a ragged K, and two small ones."""
    for m, n, k, stride in _launches((4096, 4096, 4088, 4096), (256, 256, 72, 80), (256, 256, 256, 256)):
        a, b = _random(m, stride), _random(k, n)
        c = torch.zeros(m, n, device=DEVICE, dtype=torch.float16)
        yield {"a": a, "b": b, "c": c, "M": m, "N": n, "K": k // 8, "stride": stride, "UNIT": 8, "FORM": "one"}


def softmax_inputs() -> Iterator[Arguments]:
    """Yields the timed launch of a softmax over ragged rows, and two small ones."""
    for rows, n in _launches((4096, 8191), (3, 1000), (2, 4096)):
        x = _random(rows, n)
        yield {"x": x, "y": torch.zeros_like(x), "n": n, "stride": n, "FORM": "one"}


def layer_norm_inputs() -> Iterator[Arguments]:
    """Yields the timed launch of the gradients of a layer norm, and a small one."""
    for m, n in _launches((8192, 3000), (37, 1024)):
        x, dy, w = _random(m, n), _random(m, n), _random(n)
        value = x.float()
        mean, rstd = value.mean(1), (value.var(1, unbiased=False) + 1e-5).rsqrt()
        dw, db = (torch.zeros(triton.cdiv(m, 16), n, device=DEVICE) for _ in range(2))
        names = {"dx": torch.zeros_like(x), "dy": dy, "x": x, "w": w, "mean": mean, "rstd": rstd, "dw": dw, "db": db}
        yield {**names, "M": m, "N": n, "ROWS": 16, "BLOCK": 4096}


def scan_inputs() -> Iterator[Arguments]:
    """Yields the timed launch of the recurrence, and a small one."""
    for rows, n in _launches((4096, 8000), (5, 300)):
        gate = torch.rand(rows, n, device=DEVICE)
        yield {"a": gate, "b": _random(rows, n, dtype=torch.float32), "h": torch.zeros_like(gate), "n": n}


def by_blocks(meta: Arguments) -> tuple[int, ...]:
    """Returns the grid of an attention."""
    return triton.cdiv(meta["N"], meta["BM"]), meta["q"].shape[0]


def by_tiles(meta: Arguments) -> tuple[int, ...]:
    """Returns the grid of a product."""
    return (triton.cdiv(meta["M"], meta["BM"]) * triton.cdiv(meta["N"], meta["BN"]),)


def by_rows(meta: Arguments) -> tuple[int, ...]:
    """Returns the grid of a kernel with a program for each row."""
    return (meta["x" if "x" in meta else "a"].shape[0],)


def by_groups(meta: Arguments) -> tuple[int, ...]:
    """Returns the grid of the layer norm."""
    return (triton.cdiv(meta["M"], meta["ROWS"]),)


@dataclass(frozen=True)
class Case:
    """A kernel to search for.

    Attributes:
        name: its name in the table.
        kernel: the kernel.
        grid: its grid.
        inputs: makes its arguments.
        configs: the configurations that an author would declare.
        tolerance: relative and absolute.
    """

    name: str
    kernel: Any
    grid: Callable[[Arguments], tuple[int, ...]]
    inputs: Callable[[], Iterator[Arguments]]
    configs: list[Config]
    tolerance: tuple[float, float]


def _attention_configs() -> list[Config]:
    tiles = ((64, 64, 4), (128, 64, 4), (128, 64, 8), (128, 128, 8))
    return [Config({"BM": m, "BN": n}, num_warps=w, num_stages=s) for m, n, w in tiles for s in (2, 3)]


_TILES = ((128, 128, 64, 8), (128, 256, 64, 8), (128, 128, 32, 4), (64, 128, 64, 4))
CASES = [
    Case("causal attention", causal, by_blocks, attention_inputs, _attention_configs(), (2e-2, 2e-2)),
    Case("sliding-window attention", sliding, by_blocks, sliding_inputs, _attention_configs(), (2e-2, 2e-2)),
    Case(
        "matmul, ragged K",
        matmul,
        by_tiles,
        matmul_inputs,
        [Config({"BM": m, "BN": n, "BK": k}, num_warps=w, num_stages=s) for m, n, k, w in _TILES for s in (3, 4)],
        (1e-2, 1e-1),
    ),
    Case(
        "softmax, ragged rows",
        softmax,
        by_rows,
        softmax_inputs,
        [Config({"BLOCK": b}, num_warps=w) for b, w in ((1024, 4), (1024, 8), (2048, 8), (4096, 8), (8192, 16))],
        (1e-3, 1e-5),
    ),
    Case(
        "layer norm backward",
        layer_norm_backward,
        by_groups,
        layer_norm_inputs,
        [Config({}, num_warps=w, num_stages=s) for w in (4, 8, 16) for s in (2, 3)],
        (2e-2, 2e-2),
    ),
    Case(
        "scan (gated recurrence)",
        scan,
        by_rows,
        scan_inputs,
        [Config({"BLOCK": b}, num_warps=w) for b, w in ((256, 1), (512, 2), (1024, 4), (2048, 4), (2048, 8))],
        (1e-3, 1e-4),
    ),
]
