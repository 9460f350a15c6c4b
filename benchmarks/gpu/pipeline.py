# SPDX-License-Identifier: Apache-2.0
"""On a GPU: kernels with edited pipelines compute the same, however they are launched, and what a launch costs.

Needs PyTorch with CUDA. Prints two tables; exits with 1 if a result differs.
"""

from __future__ import annotations

import hashlib
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
import triton
import triton.language as tl
from triton import knobs

import triton_ext as tx

LAUNCHES, ROUNDS = 5000, 15


@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):  # noqa: N803
    """Computes one row of a softmax."""
    i = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=float("-inf"))
    e = tl.exp(row - tl.max(row, 0))
    tl.store(y + tl.program_id(0) * n + i, e / tl.sum(e, 0), mask=i < n)


@triton.jit
def matmul(a, b, c, K, BLOCK: tl.constexpr):  # noqa: N803
    """C = a @ b, one tile; a is BLOCK x K, b is K x BLOCK, fp16 in and fp32 out."""
    i = tl.arange(0, BLOCK)
    accumulator = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, K, BLOCK):
        left = tl.load(a + i[:, None] * K + (k + i)[None, :])
        right = tl.load(b + (k + i)[:, None] * BLOCK + i[None, :])
        accumulator = tl.dot(left, right, accumulator)
    tl.store(c + i[:, None] * BLOCK + i[None, :], accumulator)


@triton.jit
def empty(x):
    """Does nothing, to time launches."""


def row_softmax(x: torch.Tensor) -> torch.Tensor:
    """Returns the softmax of the rows of `x`, by the kernel."""
    y = torch.empty_like(x)
    softmax[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y


def multiply(pipeline: tx.Pipeline) -> tuple[bool, str]:
    """Runs the matrix product with `pipeline`; returns whether it is right, and its number of buffer stages."""
    torch.manual_seed(0)
    a, b = (torch.randn(shape, device="cuda", dtype=torch.float16) for shape in ((64, 512), (512, 64)))
    c = torch.empty((64, 64), device="cuda")
    with pipeline:
        kernel = matmul[(1,)](a, b, c, 512, BLOCK=64)
    return torch.allclose(c, a.float() @ b.float(), rtol=1e-2, atol=1e-1), f"{kernel.metadata.shared} B shared"


def results() -> list[tuple[str, bool, str]]:
    """Yields what was launched, whether it was right, and a detail."""
    x = torch.randn(1000, 777, device="cuda")
    want = torch.softmax(x, 1)
    renamed = tx.Pipeline().after("ttir.loop_unroll", tx.passes.ttir.rename(old="softmax", new="renamed"))
    rows: list[tuple[str, bool, str]] = []

    def name() -> str:
        kernels = [k for cache in softmax.device_caches.values() for k in cache[0].values()]
        return "+".join(sorted({k.metadata.name for k in kernels}))

    with renamed:
        rows.append(("softmax in a block", torch.allclose(row_softmax(x), want, atol=1e-6), name()))
    renamed.install()
    rows.append(("installed", torch.allclose(row_softmax(x), want, atol=1e-6), name()))
    renamed.uninstall()
    rows.append(("after uninstall", torch.allclose(row_softmax(x), want, atol=1e-6), name()))
    for stages in (2, 3, 5):
        right, detail = multiply(
            tx.Pipeline().set("ttgpuir.pipeline", num_stages=stages).set("assign_latencies", num_stages=stages)
        )
        rows.append((f"matmul, num_stages={stages}", right, detail))
    try:
        torch._dynamo.reset()
        renamed.install()
        compiled = torch.compile(row_softmax)(x)
        rows.append(("torch.compile, installed", torch.allclose(compiled, want, atol=1e-6), "user-defined kernel"))
        inductor = torch.compile(lambda t: torch.softmax(t, 1) * 2)(x)
        rows.append(("torch.compile, Inductor's own kernels", torch.allclose(inductor, want * 2, atol=1e-5), ""))
    except Exception as error:
        rows.append(("torch.compile", False, f"{type(error).__name__}: {str(error)[:200]}"))
    finally:
        renamed.uninstall()
    return rows


def upstream_hook(*arguments: object) -> tuple[str, str]:
    """Returns key and hash as in Triton's plugin documentation."""
    del arguments
    text = Path(__file__).read_text()
    return text, hashlib.sha256(text.encode()).hexdigest()


def launches() -> dict[str, float]:
    """Returns the microseconds of the host for one launch of an empty kernel."""
    x = torch.empty(1, device="cuda")
    pipeline = tx.Pipeline().at_end("ttir", tx.builtin.common.cse())
    used = tx.use(pipeline)(empty)

    def run(kernel: object = empty) -> float:
        kernel[(1,)](x)  # type: ignore[index]
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(LAUNCHES):
            kernel[(1,)](x)  # type: ignore[index]
        elapsed = time.perf_counter() - start
        torch.cuda.synchronize()
        return elapsed / LAUNCHES * 1e6

    def installed() -> float:
        pipeline.install()
        try:
            return run()
        finally:
            pipeline.uninstall()

    def upstream() -> float:
        knobs.runtime.add_stages_inspection_hook = upstream_hook
        try:
            return run()
        finally:
            knobs.runtime.add_stages_inspection_hook = None

    variants: dict[str, Callable[[], float]] = {
        "no pipeline": run,
        "pipeline.install()": installed,
        "@tx.use(pipeline)": lambda: run(used),
        "hook as in Triton's documentation": upstream,
    }
    samples: dict[str, list[float]] = {label: [] for label in variants}
    for _ in range(ROUNDS):
        for label, variant in variants.items():
            samples[label].append(variant())
    return {label: statistics.median(times) for label, times in samples.items()}


def main() -> None:
    """Prints the tables."""
    print(f"{torch.cuda.get_device_name()}, Triton {triton.__version__}, PyTorch {torch.__version__}")
    rows = results()
    for label, right, detail in rows:
        print(f"{label:40} {'right' if right else 'WRONG':6} {detail}")
    times = launches()
    for label, value in times.items():
        print(f"launch, {label:34} {value:7.2f} us  {value - times['no pipeline']:+6.2f}")
    if not all(right for _, right, _ in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
