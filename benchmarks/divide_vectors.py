# SPDX-License-Identifier: Apache-2.0
"""Times a kernel of integer divisions on the CPU, with the pass `divide_vectors` off and on, in turns.

``TRITON_DEFAULT_BACKEND=cpu python benchmarks/divide_vectors.py``
"""

# ruff: noqa: N803 - Triton writes constants of kernels in upper case
from __future__ import annotations

import statistics
import time

import torch
import triton
import triton.language as tl

import triton_ext as tx

PIPELINE = tx.Pipeline().at_end("llvm", tx.passes.llvm.divide_vectors())
COUNT, BLOCK, ROUNDS = 1 << 22, 1024, 15


@triton.jit
def gather(x, out, width, stride, BLOCK: tl.constexpr):
    """Copies an image of rows of `width` elements that lie `stride` apart: the index is divided by an argument."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i // width * stride + i % width))


@triton.jit
def divide(x, y, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) // tl.load(y + i))


def main() -> None:
    """Prints a row for each kernel."""
    x = torch.randint(1, 2**31 - 1, (COUNT,), dtype=torch.int32)
    y = torch.randint(1, 2**20, (COUNT,), dtype=torch.int32)
    out = torch.empty_like(x)
    grid = (COUNT // BLOCK,)
    kernels = {
        "gather, index // width": lambda: gather[grid](x, out, 1021, 1021, BLOCK=BLOCK),
        "x // y": lambda: divide[grid](x, y, out, BLOCK=BLOCK),
    }
    print(f"{torch.get_num_threads()} threads, {COUNT} elements, median of {ROUNDS}, in turns")
    print(f"{'kernel':<24} {'off ms':>8} {'on ms':>8} {'ratio':>6}")
    for name, launch in kernels.items():
        times: dict[bool, list[float]] = {False: [], True: []}
        for round_ in range(ROUNDS + 2):
            results = []
            for on in (False, True):
                with PIPELINE if on else tx.Pipeline():
                    started = time.perf_counter()
                    launch()
                    if round_ >= 2:
                        times[on].append(time.perf_counter() - started)
                results.append(out.clone())
            assert torch.equal(*results), name
        off, on_ = (statistics.median(times[key]) * 1e3 for key in (False, True))
        print(f"{name:<24} {off:>8.2f} {on_:>8.2f} {off / on_:>6.2f}")


if __name__ == "__main__":
    main()
