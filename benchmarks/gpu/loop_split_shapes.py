# SPDX-License-Identifier: Apache-2.0
"""The cases of `loop_split.py`: the kernels with shapes, configurations, and expected results."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Form:
    """A way to compute a case: a form of the kernel, with a pipeline."""

    form: str
    pipeline: str = "plain"


@dataclass
class Case:
    """A kernel and a shape.

    Attributes:
        arguments: all but the constexprs, in order.
        meta: constexprs that are the same for all configurations.
        configs: constexprs, warps and stages to try.
        grid: returns the grid, from the constexprs.
        forms: what is compared; those of `COMMON` are always there.
        output: the tensor that is written.
        expected: yields pairs of a tensor and what it should be.
        torch: what PyTorch has for it.
    """

    family: str
    shape: str
    kernel: Any
    arguments: tuple[Any, ...]
    meta: dict[str, Any]
    configs: list[dict[str, int]]
    grid: Callable[[dict[str, Any]], tuple[int, ...]]
    forms: dict[str, Form]
    output: Any
    expected: Callable[[], Iterator[tuple[Any, Any]]]
    tolerance: float
    torch: Callable[[], object]
    key: list[str] = field(default_factory=lambda: ["N"])


def pipelines() -> dict[str, Any]:
    """Returns the pipelines over which the tuned kernel is tuned."""
    import triton_ext as tx

    def split(**options: Any) -> Any:
        return tx.passes.ttir.loop_split(cost_model=False, **options)

    return {
        "plain": tx.Pipeline(),
        "default": tx.Pipeline().at_end("ttir", tx.passes.ttir.loop_split()),
        "split": tx.Pipeline().at_end("ttir", split()),
        "split once": tx.Pipeline().at_end("ttir", split(max_splits=1)),
        "split, no-wrap": tx.Pipeline().at_end("ttir", split(no_wrap=True)),
        "split, min-trips=8": tx.Pipeline().at_end("ttir", split(min_trips=8)),
        "guard": tx.Pipeline().at_end("ttir", split(guard=True)),
    }


def configs(names: tuple[str, ...], *rows: tuple[int, ...]) -> list[dict[str, int]]:
    return [dict(zip((*names, "num_warps", "num_stages"), row, strict=True)) for row in rows]


#: The forms and pipelines that are compared in every case. Each kernel has further ones.
COMMON = {
    "unsplit": Form("one"),
    "split": Form("one", "split"),
    "by hand": Form("two"),
    "default": Form("one", "default"),
}
TILES = configs(("BM", "BN"), (64, 64, 4, 3), (128, 64, 8, 3), (128, 64, 4, 3), (128, 128, 8, 3))


def _attention_tensors(batch: int, heads: int, n: int, d: int) -> tuple[Any, ...]:
    import torch

    torch.manual_seed(0)
    q, k, v = (torch.randn(batch, heads, n, d, device="cuda", dtype=torch.float16) for _ in range(3))
    return q, k, v, torch.empty_like(q)


def causal_case(batch: int, heads: int, n: int, d: int) -> Case:
    """Returns causal attention over `n` rows, with `d` features in each head."""
    import loop_split_kernels as kernels
    import torch.nn.functional as F  # noqa: N812

    q, k, v, o = _attention_tensors(batch, heads, n, d)

    def whole() -> Any:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    return Case(
        "causal attention",
        f"{batch}x{heads}x{n}x{d}",
        kernels.causal,
        (q, k, v, o, d**-0.5 * math.log2(math.e), n),
        {"D": d},
        TILES,
        lambda meta: (n // meta["BM"], batch * heads),
        COMMON
        | {
            "no-wrap": Form("one", "split, no-wrap"),
            "epilogue": Form("epilogue"),
            "prologue": Form("prologue"),
        },
        o,
        lambda: iter([(o, whole())]),
        2e-2,
        whole,
    )


def sliding_case(batch: int, heads: int, n: int, d: int, window: int) -> Case:
    """Returns attention of each of `n` rows to the `window` rows up to it."""
    import loop_split_kernels as kernels
    import torch
    import torch.nn.functional as F  # noqa: N812

    q, k, v, o = _attention_tensors(batch, heads, n, d)
    i = torch.arange(n, device="cuda")
    mask = (i[None, :] <= i[:, None]) & (i[None, :] > i[:, None] - window)

    def one_head(head: int) -> Any:
        at = slice(head, head + 1)
        return F.scaled_dot_product_attention(q[-1:, at], k[-1:, at], v[-1:, at], attn_mask=mask)[0, 0]

    return Case(
        "sliding-window attention",
        f"{batch}x{heads}x{n}x{d}, {window}",
        kernels.sliding,
        (q, k, v, o, d**-0.5 * math.log2(math.e), n, window),
        {"D": d},
        TILES,
        lambda meta: (n // meta["BM"], batch * heads),
        COMMON
        | {
            "by hand": Form("three"),
            "no-wrap": Form("one", "split, no-wrap"),
            "guarded": Form("one", "guard"),
            "branch": Form("branch"),
            "min-trips": Form("one", "split, min-trips=8"),
        },
        o,
        lambda: iter([(o[-1, head], one_head(head)) for head in (0, heads - 1)]),
        2e-2,
        lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=mask),
        key=["N", "window"],
    )


def attention_cases() -> Iterator[Case]:
    for shape in ((4, 32, 2048, 64), (4, 32, 4096, 128), (1, 32, 16384, 64), (1, 32, 16384, 128)):
        yield causal_case(*shape)
    for size in ((1, 32, 16384, 64, 4096), (2, 32, 8192, 64, 1024), (2, 32, 8192, 128, 1024), (2, 32, 8192, 128, 512)):
        yield sliding_case(*size)


def matmul_case(m: int, n: int, k: int, stride: int | None = None) -> Case:
    """Returns C = A @ B; the rows of A are `stride` elements apart, or the next multiple of 16 of `k`."""
    import loop_split_kernels as kernels
    import torch

    torch.manual_seed(0)
    stride, unit = stride or (k + 15) // 16 * 16, next(unit for unit in (8, 4, 2, 1) if k % unit == 0)
    a = torch.randn(m, stride, device="cuda", dtype=torch.float16)[:, :k]
    b = torch.randn(k, n, device="cuda", dtype=torch.float16) / k**0.5
    c = torch.empty(m, n, device="cuda", dtype=torch.float16)
    return Case(
        "matmul, ragged K",
        f"{m}x{n}x{k}",
        kernels.matmul,
        (a, b, c, m, n, k // unit, stride),
        {"UNIT": unit},
        configs(
            ("BM", "BN", "BK"), (128, 128, 32, 4, 4), (128, 128, 64, 8, 3), (128, 256, 64, 8, 3), (64, 128, 64, 4, 4)
        ),
        lambda meta: (-(-m // meta["BM"]) * -(-n // meta["BN"]),),
        COMMON | {"min-trips": Form("one", "split, min-trips=8")},
        c,
        lambda: iter([(c, a @ b)]),
        2e-2,
        lambda: torch.matmul(a, b, out=c),
        key=["M", "N", "K"],
    )


def matmul_cases() -> Iterator[Case]:
    for m, n, k in ((4096, 4096, 4088), (8192, 8192, 4088), (4096, 4096, 1000), (4096, 4096, 4093)):
        yield matmul_case(m, n, k)


def softmax_case(rows: int, n: int) -> Case:
    """Returns a softmax of each of `rows` rows of `n` elements."""
    import loop_split_kernels as kernels
    import torch

    torch.manual_seed(0)
    stride = (n + 15) // 16 * 16
    x = torch.randn(rows, stride, device="cuda", dtype=torch.float16)[:, :n]
    y = torch.empty(rows, stride, device="cuda", dtype=torch.float16)[:, :n]
    return Case(
        "softmax, ragged rows",
        f"{rows}x{n}",
        kernels.softmax,
        (x, y, n, stride),
        {},
        configs(("BLOCK",), (1024, 4, 3), (2048, 4, 3), (4096, 8, 3)),
        lambda _: (rows,),
        COMMON,
        y,
        lambda: iter([(y, torch.softmax(x, 1))]),
        1e-4,
        lambda: torch.softmax(x, 1),
        key=["n"],
    )


def softmax_cases() -> Iterator[Case]:
    for rows, n in ((16384, 8190), (8192, 16380), (4096, 32765), (2048, 65531)):
        yield softmax_case(rows, n)


FAMILIES = {"attention": attention_cases, "matmul": matmul_cases, "softmax": softmax_cases}
