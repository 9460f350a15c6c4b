# SPDX-License-Identifier: Apache-2.0
"""The launches that sanitizer.py measures: kernels with masks, as users write them."""

# ruff: noqa: N803, N806, PLR0917 - kernels name sizes N, D and have many arguments

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl
from intensity import add, attention, matmul, softmax


@triton.jit
def silu(x, y, out, n, BLOCK: tl.constexpr):
    """Computes SiLU(x) * y."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v * tl.sigmoid(v) * tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def rms_norm(x, weight, out, columns, BLOCK: tl.constexpr):
    """Divides a row by the root of its mean square; a program has one row."""
    i = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns
    v = tl.load(x + row + i, mask=i < columns, other=0.0)
    scale = tl.rsqrt(tl.sum(v * v, 0) / columns + 1e-6)
    tl.store(out + row + i, v * scale * tl.load(weight + i, mask=i < columns), mask=i < columns)


@triton.jit
def layer_norm(x, weight, bias, out, columns, BLOCK: tl.constexpr):
    """Normalizes a row, in blocks; a program has one row."""
    row = tl.program_id(0) * columns
    total = tl.zeros((BLOCK,), tl.float32)
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        v = tl.load(x + row + i, mask=i < columns, other=0.0)
        total += v
        squares += v * v
    mean = tl.sum(total, 0) / columns
    scale = tl.rsqrt(tl.sum(squares, 0) / columns - mean * mean + 1e-5)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        v = (tl.load(x + row + i, mask=i < columns, other=0.0) - mean) * scale
        w, b = tl.load(weight + i, mask=i < columns), tl.load(bias + i, mask=i < columns)
        tl.store(out + row + i, v * w + b, mask=i < columns)


@triton.jit
def gather(x, index, out, n, BLOCK: tl.constexpr):
    """Reads elements at indices from memory."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.load(index + i, mask=i < n, other=0)
    tl.store(out + i, tl.load(x + j, mask=i < n), mask=i < n)


@triton.jit
def histogram(x, bins, n, BLOCK: tl.constexpr):
    """Counts numbers with atomics."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(bins + tl.load(x + i, mask=i < n, other=0), 1, mask=i < n)


@triton.jit
def attention_backward(q, k, v, do, lse, delta, dk, dv, N, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """The gradients of keys and values of causal attention: a program has BN keys of one head. ``lse`` is the logarithm
    to base 2 of the sum of a row's weights, ``delta`` the sum of o * do in a row.
    """
    start = tl.program_id(0) * BN
    row = tl.program_id(1).to(tl.int64) * N
    n, d = start + tl.arange(0, BN), tl.arange(0, D)
    key = tl.load(k + row * D + n[:, None] * D + d[None, :], mask=n[:, None] < N, other=0.0)
    value = tl.load(v + row * D + n[:, None] * D + d[None, :], mask=n[:, None] < N, other=0.0)
    key_gradient = tl.zeros((BN, D), tl.float32)
    value_gradient = tl.zeros((BN, D), tl.float32)
    for at in range(start // BM * BM, N, BM):
        m = at + tl.arange(0, BM)
        query = tl.load(q + row * D + m[:, None] * D + d[None, :], mask=m[:, None] < N, other=0.0)
        gradient = tl.load(do + row * D + m[:, None] * D + d[None, :], mask=m[:, None] < N, other=0.0)
        scores = tl.dot(key, tl.trans(query)) * (scale * 1.44269504)
        p = tl.exp2(scores - tl.load(lse + row + m, mask=m < N, other=0.0)[None, :])
        p = tl.where((m[None, :] >= n[:, None]) & (m[None, :] < N), p, 0.0)
        value_gradient = tl.dot(p.to(tl.float16), gradient, value_gradient)
        change = tl.dot(value, tl.trans(gradient)) - tl.load(delta + row + m, mask=m < N, other=0.0)[None, :]
        key_gradient = tl.dot((p * change).to(tl.float16), query, key_gradient)
    at_n = row * D + n[:, None] * D + d[None, :]
    tl.store(dk + at_n, (key_gradient * scale).to(tl.float16), mask=n[:, None] < N)
    tl.store(dv + at_n, value_gradient.to(tl.float16), mask=n[:, None] < N)


@dataclass(frozen=True)
class Case:
    """A launch; `check` says whether its results are right.

    Attributes:
        outputs: names of the arguments that the kernel writes.
    """

    name: str
    kernel: Any
    arguments: dict[str, Any]
    options: dict[str, int]
    grid: tuple[int, ...]
    outputs: tuple[str, ...]
    check: Callable[[], bool]

    def launch(self) -> None:
        """Runs the kernel once."""
        self.kernel[self.grid](**self.arguments, **self.options)


def _near(found: torch.Tensor, wanted: torch.Tensor, tolerance: float) -> bool:
    return torch.allclose(found.float(), wanted.float(), rtol=tolerance, atol=tolerance)


def cases(device: str) -> Iterator[Case]:
    """Yields the launches; on a CPU, products and attention are smaller."""
    on_cpu = device == "cpu"
    warps = {} if on_cpu else {"num_warps": 8}

    def make(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(*shape, device=device, dtype=dtype)

    n = 2**24
    x, y, out = make(n), make(n), make(n)
    block, blocks = 1024, (triton.cdiv(n, 1024),)
    given = {"x": x, "y": y, "n": n}
    yield Case(
        "vector add", add, {**given, "z": out}, {"BLOCK": block}, blocks, ("z",), lambda: torch.equal(out, x + y)
    )
    yield Case(
        "SiLU(x) * y", silu, {**given, "out": out}, {"BLOCK": block}, blocks, ("out",),
        lambda: _near(out, torch.nn.functional.silu(x) * y, 1e-5),
    )  # fmt: skip
    size = 4096
    rows, columns, result = make(size, size), size, make(size, size)
    weight, bias = make(size), make(size)
    yield Case(
        "softmax", softmax, {"x": rows, "y": result, "rows": size, "columns": columns},
        {"BLOCK": size, **warps}, (size,), ("y",), lambda: _near(result, torch.softmax(rows, 1), 1e-5),
    )  # fmt: skip
    yield Case(
        "RMS norm", rms_norm, {"x": rows, "weight": weight, "out": result, "columns": columns},
        {"BLOCK": size, **warps}, (size,), ("out",),
        lambda: _near(result, torch.nn.functional.rms_norm(rows, (size,), weight, 1e-6), 1e-4),
    )  # fmt: skip
    yield Case(
        "layer norm", layer_norm, {"x": rows, "weight": weight, "bias": bias, "out": result, "columns": columns},
        {"BLOCK": 1024}, (size,), ("out",),
        lambda: _near(result, torch.nn.functional.layer_norm(rows, (size,), weight, bias), 1e-4),
    )  # fmt: skip
    half = torch.bfloat16
    size = 1024 if on_cpu else 2048
    a, b, c = (make(size, size, dtype=half) for _ in range(3))
    tile = {"BM": 64, "BN": 64, "BK": 32, "GROUP": 8} if on_cpu else {"BM": 128, "BN": 128, "BK": 64, "GROUP": 8}
    yield Case(
        "matmul", matmul, {"a": a, "b": b, "c": c, "M": size, "N": size, "K": size}, {**tile, **warps},
        (triton.cdiv(size, tile["BM"]) * triton.cdiv(size, tile["BN"]),), ("c",),
        lambda: _near(c, a @ b, 0.05 * size**0.5 / 10),
    )  # fmt: skip
    yield from _attention(device, make)
    index = torch.randint(0, n, (n,), device=device, dtype=torch.int32)
    yield Case(
        "gather", gather, {"x": x, "index": index, "out": out, "n": n}, {"BLOCK": block}, blocks, ("out",),
        lambda: torch.equal(out, x[index.long()]),
    )  # fmt: skip
    numbers = torch.randint(0, 1024, (n,), device=device, dtype=torch.int32)
    bins = torch.zeros(1024, device=device, dtype=torch.int32)
    yield Case(
        "histogram", histogram, {"x": numbers, "bins": bins, "n": n}, {"BLOCK": block}, blocks, (),
        lambda: bool((bins % torch.bincount(numbers, minlength=1024) == 0).all()),
    )  # fmt: skip


def _attention(device: str, make: Callable[..., torch.Tensor]) -> Iterator[Case]:
    on_cpu = device == "cpu"
    heads, N, D = (8, 1024, 64) if on_cpu else (32, 4096, 64)
    warps = {} if on_cpu else {"num_warps": 8}
    tile = 64 if on_cpu else 128
    q, k, v, o = (make(heads, N, D, dtype=torch.bfloat16) for _ in range(4))
    scale = 1 / D**0.5
    attend = torch.nn.functional.scaled_dot_product_attention
    yield Case(
        "attention forward", attention, {"q": q, "k": k, "v": v, "o": o, "N": N, "scale": scale * 1.44269504},
        {"D": D, "BM": tile, "BN": 64, **warps}, (N // tile, heads), ("o",),
        lambda: _near(o, attend(q[None], k[None], v[None], is_causal=True)[0], 2e-2),
    )  # fmt: skip
    q, k, v, gradient = (make(heads, N, D, dtype=torch.float16) * 0.5 for _ in range(4))
    dk, dv = torch.empty_like(k), torch.empty_like(v)
    scores = (q.float() @ k.float().transpose(1, 2) * scale).masked_fill(
        torch.ones(N, N, device=device, dtype=torch.bool).triu(1), float("-inf")
    )
    lse = torch.logsumexp(scores, 2) * 1.44269504
    weights = torch.softmax(scores, 2)
    delta = ((weights @ v.float()) * gradient.float()).sum(2)
    change = weights * (gradient.float() @ v.float().transpose(1, 2) - delta[:, :, None])
    wanted = (change.transpose(1, 2) @ q.float() * scale, weights.transpose(1, 2) @ gradient.float())
    del scores, weights, change
    yield Case(
        "attention backward", attention_backward,
        {"q": q, "k": k, "v": v, "do": gradient, "lse": lse, "delta": delta, "dk": dk, "dv": dv, "N": N,
         "scale": scale},
        {"D": D, "BM": 64, "BN": tile, **warps}, (N // tile, heads), ("dk", "dv"),
        lambda: _near(dk, wanted[0], 2e-2) and _near(dv, wanted[1], 2e-2),
    )  # fmt: skip
