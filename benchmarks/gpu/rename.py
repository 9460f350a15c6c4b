# SPDX-License-Identifier: Apache-2.0
"""On a GPU: kernels compiled with `rename` still launch and compute the same, and what the hook costs per launch.

Needs PyTorch with CUDA. Prints one table; exits with 1 if a result differs.
"""

from __future__ import annotations

import statistics
import sys
import time

import torch
import triton
import triton.language as tl

import triton_ext as tx


@triton.jit(noinline=True)
def limit(n):
    """Stays a function: it is not inlined."""
    return n * 1


@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):  # noqa: N803
    """Computes one row of a softmax."""
    i = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * n + i, mask=i < limit(n), other=float("-inf"))
    e = tl.exp(row - tl.max(row, 0))
    tl.store(y + tl.program_id(0) * n + i, e / tl.sum(e, 0), mask=i < limit(n))


@triton.jit
def empty(x):
    """Does nothing, to time launches."""


def launch_microseconds(x: torch.Tensor, launches: int = 20000) -> float:
    """Returns the host time of one launch of an empty kernel, the median of five runs."""
    runs = []
    for _ in range(5):
        empty[(1,)](x)
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(launches):
            empty[(1,)](x)
        runs.append((time.perf_counter() - begin) / launches * 1e6)
        torch.cuda.synchronize()
    return statistics.median(runs)


def main() -> None:
    """Checks results over shapes, then times launches."""
    print(f"{torch.cuda.get_device_name()}, Triton {triton.__version__}, PyTorch {torch.__version__}")
    wrong = 0
    for rows, columns in ((1, 1), (7, 100), (64, 1024), (1000, 777)):
        x = torch.randn(rows, columns, device="cuda")
        results = {}
        pipelines = {"softmax": tx.Pipeline()} | {
            new: tx.Pipeline().at_end("ttir", tx.passes.ttir.rename(old="softmax", new=new))
            for new in ("bar", "softmax_2")
        }
        for name, pipeline in pipelines.items():
            y = torch.empty_like(x)
            with pipeline:
                kernel = softmax[(rows,)](x, y, columns, BLOCK=1024)
            results[name] = y
            wrong += kernel.metadata.name != name
        reference = torch.softmax(x, 1)
        same = all(torch.equal(y, results["softmax"]) for y in results.values())
        near = torch.allclose(results["softmax"], reference, atol=1e-6)
        wrong += not (same and near)
        print(f"softmax {rows}x{columns}: names {', '.join(results)}; equal: {same}; as torch: {near}")

    x = torch.zeros(1, device="cuda")
    plain = launch_microseconds(x)
    with tx.Pipeline().at_end("ttir", tx.passes.ttir.rename(old="empty", new="nothing")):
        inside = launch_microseconds(x)
    print(f"launch: {plain:.2f} us without, {inside:.2f} us inside a pipeline, {inside - plain:+.2f} us")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
