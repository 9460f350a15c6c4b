# SPDX-License-Identifier: Apache-2.0
"""Runs a kernel on the CPU with a pass of triton-ext in its pipeline.

Every Python that the wheel supports must be able to run it, with the wheel and numpy alone: without a compiler, a GPU
or torch.
"""

import numpy as np
import triton
import triton.language as tl
from triton_ext.backends.cpu.driver import CPUDriver

import triton_ext as tx


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n)
    tl.store(out + i, total, mask=i < n)


if __name__ == "__main__":
    triton.runtime.driver.set_active(CPUDriver())
    x, y = np.random.default_rng(0).random((2, 1000), dtype=np.float32)
    out = np.zeros_like(x)
    with tx.Pipeline().at_end("ttir", tx.passes.ttir.loop_split()):
        kernel = add[(4,)](x, y, out, len(x), BLOCK=256)
    np.testing.assert_array_equal(out, x + y)
    print(f"{kernel.name} runs on {kernel.metadata.target.backend}; {len(tx.extensions())} extensions")
