# SPDX-License-Identifier: Apache-2.0
"""On a GPU: how near kernels come to the roofline that `tx.intensity` computes for them.

Times a vector addition, a softmax, matrix products and causal attention in bf16. Prints for each the bytes and FLOPs of
`tx.intensity`, the speeds that follow, and the part of the roofline that is reached. Writes ``points.json``, and, where
matplotlib is installed, ``roofline.svg`` and ``roofline.png`` into ``$OUT``; ``--plot points.json`` draws them later.

Needs PyTorch with CUDA. Results are checked against PyTorch; exits with 1 if one is wrong.
"""

# ruff: noqa: C408, PLR0917 - as kernels are called

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import triton
import triton.language as tl

import triton_ext as tx
from triton_ext.errors import TritonExtError

OUT = Path(os.environ.get("OUT", "."))


@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):  # noqa: N803
    """Adds two vectors."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(z + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def softmax(x, y, rows, columns, BLOCK: tl.constexpr):  # noqa: N803
    """Computes a softmax of each row; a program takes every grid-th row."""
    i = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        value = tl.load(x + row * columns + i, mask=i < columns, other=float("-inf"))
        e = tl.exp(value - tl.max(value, 0))
        tl.store(y + row * columns + i, e / tl.sum(e, 0), mask=i < columns)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):  # noqa: N803
    """Multiplies row-major matrices; programs that run together share columns of b."""
    pid = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    width = GROUP * columns
    first = pid // width * GROUP
    height = min(rows - first, GROUP)
    pid_m = first + pid % width % height
    pid_n = pid % width // height
    m = (pid_m * BM + tl.arange(0, BM)) % M
    n = (pid_n * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    at_a = a + m[:, None] * K + k[None, :]
    at_b = b + k[:, None] * N + n[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(tl.cdiv(K, BK)):
        left = K - step * BK
        total = tl.dot(
            tl.load(at_a, mask=k[None, :] < left, other=0.0), tl.load(at_b, mask=k[:, None] < left, other=0.0), total
        )
        at_a += BK
        at_b += BK * N
    m = pid_m * BM + tl.arange(0, BM)
    n = pid_n * BN + tl.arange(0, BN)
    tl.store(c + m[:, None] * N + n[None, :], total.to(tl.bfloat16), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def attention(q, k, v, o, N, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):  # noqa: N803
    """Causal attention forward: a program has BM queries of one head; first full tiles, then those at the diagonal."""
    start = tl.program_id(0) * BM
    head = tl.program_id(1).to(tl.int64) * N * D
    m = start + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + head + m[:, None] * D + d[None, :])
    most = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, D), tl.float32)
    for phase in tl.static_range(2):
        low = 0 if phase == 0 else start
        high = start if phase == 0 else start + BM
        for at in range(low, high, BN):
            n = at + tl.arange(0, BN)
            scores = tl.dot(query, tl.trans(tl.load(k + head + n[:, None] * D + d[None, :]))) * scale
            if phase == 1:
                scores = tl.where(m[:, None] >= n[None, :], scores, float("-inf"))
            more = tl.maximum(most, tl.max(scores, 1))
            p = tl.exp2(scores - more[:, None])
            shrink = tl.exp2(most - more)
            total = total * shrink + tl.sum(p, 1)
            value = tl.load(v + head + n[:, None] * D + d[None, :])
            result = tl.dot(p.to(tl.bfloat16), value, result * shrink[:, None])
            most = more
    tl.store(o + head + m[:, None] * D + d[None, :], (result / total[:, None]).to(tl.bfloat16))


@dataclass(frozen=True)
class Case:
    """One launch: its label, the kernel, arguments, constexprs and options, the grid, and a check of its result."""

    label: str
    kernel: Any
    arguments: dict[str, Any]
    constexprs: dict[str, int]
    options: dict[str, int]
    grid: tuple[int, ...]
    check: Callable[[], bool]


def cases() -> Iterator[Case]:
    """Yields the launches."""
    import torch

    def make(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        return torch.randn(*shape, device="cuda", dtype=dtype)

    for n in (2**24 + 3, 2**28 + 3):
        x, y = make(n, dtype=torch.float32), make(n, dtype=torch.float32)
        z = torch.empty_like(x)
        check = lambda x=x, y=y, z=z: torch.equal(z, x + y)  # noqa: E731
        yield Case(
            f"add {n}", add, dict(x=x, y=y, z=z, n=n), {"BLOCK": 4096}, {"num_warps": 8}, (-(-n // 4096),), check
        )
    for rows, columns in ((16384, 4000), (65536, 1000)):
        x = make(rows, columns, dtype=torch.float32)
        y = torch.empty_like(x)
        check = lambda x=x, y=y: torch.allclose(y, torch.softmax(x, 1), atol=1e-6)  # noqa: E731
        block = triton.next_power_of_2(columns)
        given = dict(x=x, y=y, rows=rows, columns=columns)
        yield Case(f"softmax {rows}x{columns}", softmax, given, {"BLOCK": block}, {"num_warps": 8}, (132 * 8,), check)
    for M, N, K in ((1024, 1024, 1024), (4096, 4096, 4096), (8192, 8192, 8192), (8192, 8192, 512), (8000, 8000, 4088)):  # noqa: N806
        a, b, c = make(M, K), make(K, N), make(M, N)
        check = lambda a=a, b=b, c=c: torch.allclose(c.float(), (a @ b).float(), rtol=2e-2, atol=1.0)  # noqa: E731
        tile = {"BM": 128, "BN": 256, "BK": 64, "GROUP": 8}
        grid = (-(-M // 128) * -(-N // 256),)
        given = dict(a=a, b=b, c=c, M=M, N=N, K=K)
        yield Case(f"matmul {M}x{N}x{K}", matmul, given, tile, {"num_warps": 8, "num_stages": 3}, grid, check)
    for heads, N, D in ((128, 2048, 64), (128, 4096, 128), (32, 16384, 128)):  # noqa: N806
        q, k, v, o = (make(heads, N, D) for _ in range(4))
        check = lambda q=q, k=k, v=v, o=o: torch.allclose(  # noqa: E731
            o.float(),
            torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0].float(),
            atol=2e-2,
        )
        given = dict(q=q, k=k, v=v, o=o, N=N, scale=1.44269504 / D**0.5)
        tile = {"D": D, "BM": 128, "BN": 64}
        grid = (N // 128, heads)
        yield Case(f"attention {heads}x{N}x{D}", attention, given, tile, {"num_warps": 8, "num_stages": 3}, grid, check)


def main() -> None:
    """Times the launches and prints the table."""
    import torch
    from triton.testing import do_bench

    device = torch.cuda.get_device_name()
    print(f"{device}, Triton {triton.__version__}, PyTorch {torch.__version__}")
    print(
        f"{'launch':26} {'ms':>8} {'GB once':>8} {'GB req.':>9} {'TFLOP':>8} {'GB/s':>7} {'TFLOP/s':>8} {'limit':>8} %"
    )
    points, wrong = [], 0
    for case in cases():
        run = lambda case=case: case.kernel[case.grid](  # noqa: E731
            *case.arguments.values(), **case.constexprs, **case.options
        )
        run()
        right = case.check()
        seconds = do_bench(run, warmup=50, rep=300, return_mode="median") * 1e-3
        found = tx.intensity(case.kernel, *case.arguments.values(), **case.constexprs, options=case.options)
        line = found.roofline(device, grid=case.grid)
        requested, flops = found.bytes(grid=case.grid), found.flops(grid=case.grid).total
        print(
            f"{case.label:26} {seconds * 1e3:8.4f} {line.bytes / 1e9:8.4f} {int(requested) / 1e9:9.3f}"
            f" {int(flops) / 1e12:8.4f} {line.bytes / seconds / 1e9:7.0f} {int(flops) / seconds / 1e12:8.1f}"
            f" {line.limit:>8} {line.fraction(seconds):.1%}   bytes {requested.mark}, FLOPs {flops.mark}"
            + ("" if right else "  WRONG RESULT")
        )
        if case.label.startswith(("matmul 4096", "attention 128x2048")):
            print(found)
        wrong += not right
        points.append(asdict(line.point(case.label, seconds)))
        (OUT / "points.json").write_text(json.dumps(points, indent=1))
    draw(points)
    sys.exit(bool(wrong))


def draw(points: list[dict[str, Any]]) -> None:
    """Draws the plots of the points, if matplotlib is installed."""
    made = [tx.intensity.Point(**{**one, "device": tx.intensity.Device(**one["device"])}) for one in points]
    if importlib.util.find_spec("matplotlib") is None:
        print(f"no plot, because matplotlib is not installed: run with --plot {OUT / 'points.json'} where it is")
        return
    for name in ("roofline.svg", "roofline.png"):
        tx.intensity.plot(OUT / name, made)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--plot"]:
        try:
            draw(json.loads(Path(sys.argv[2]).read_text()))
        except (IndexError, TritonExtError) as error:
            sys.exit(f"--plot points.json: {error}")
    else:
        main()
