# SPDX-License-Identifier: Apache-2.0
"""Products of narrow elements on the CPU beside torch, in tiles of several sizes; and the peak of bf16.

    .venv/bin/python benchmarks/cpu_dot_units.py [--threads 2 16]

Each product is checked against f64 (bf16, fp16: within the bound of sums in f32) or torch's integers. Times are the
shortest of a quarter of a second of runs. The peak is that of instructions whose operands stay in registers.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

os.environ.setdefault("TRITON_DEFAULT_BACKEND", "cpu")
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

import torch
import triton
from cpu_kernels import matmul_kernel, transposed_matmul_kernel
from cpu_peaks import peak
from cpu_timing import seconds
from rich.console import Console
from rich.table import Table

#: A tile of a GPU, then tiles for a CPU.
TILES = [
    *((64, 64, 32), (64, 64, 64), (128, 256, 64)),
    *((128, 128, 64), (128, 128, 128), (64, 128, 256), (128, 128, 256), (128, 256, 256), (256, 256, 128)),
]
#: The tiles of products with the transpose of the right matrix, and of fp16.
FEW = [(64, 64, 64), (128, 128, 128)]


class Product:
    """A square product of one type: its matrices, torch's product, and the right result."""

    def __init__(self, dtype: torch.dtype, size: int) -> None:
        self.size = size
        if dtype == torch.int8:
            self.a, self.b = (torch.randint(-128, 128, (size, size), dtype=dtype) for _ in range(2))
            self.out = torch.empty(size, size, dtype=torch.int32)
            self.right, self.bound = torch._int_mm(self.a, self.b).double(), torch.zeros(())
        else:
            self.a, self.b = (torch.randn(size, size).to(dtype) for _ in range(2))
            self.out = torch.empty(size, size)
            x, y = self.a.double(), self.b.double()
            self.right, self.bound = x @ y, (size + 1) * 2**-24 * (x.abs() @ y.abs())
        self.transposed = self.b.t().contiguous()

    def eager(self) -> torch.Tensor:
        """Runs torch's product."""
        return torch._int_mm(self.a, self.b) if self.out.dtype == torch.int32 else self.a @ self.b

    def ours(self, tile: tuple[int, int, int], is_transposed: bool) -> None:
        """Runs our product."""
        kernel = transposed_matmul_kernel if is_transposed else matmul_kernel
        right, (bm, bn, bk), n = self.transposed if is_transposed else self.b, tile, self.size
        kernel[(n // bm * (n // bn),)](self.a, right, self.out, n, n, n, BM=bm, BN=bn, BK=bk)

    def check(self, tile: tuple[int, int, int], is_transposed: bool) -> None:
        """Raises AssertionError if a number of our product is wrong."""
        self.out.fill_(77)
        self.ours(tile, is_transposed)
        assert ((self.out.double() - self.right).abs() <= self.bound).all(), (tile, is_transposed)


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[torch.get_num_threads()])
    counts = parser.parse_args().threads
    console = Console(width=120)
    torch.manual_seed(0)
    cpuinfo = Path("/proc/cpuinfo").read_text().splitlines()
    model = next(line.partition(":")[2].strip() for line in cpuinfo if line.startswith("model name"))
    target = triton.runtime.driver.active.get_current_target().arch.partition(";")[0]
    console.print(f"{model} ({target}), torch {torch.__version__}, load {os.getloadavg()[0]:.1f}")
    for threads in counts:
        name, most = peak("bf16", threads)
        if name:
            console.print(f"the peak of {name} with {threads} threads: {most / 1e9:.0f} GFLOP/s")
    for threads in counts:
        table = Table(title=f"{threads} threads", title_justify="left")
        for column in ("", "tile", "ours ms", "torch ms", "ratio", "GFLOP/s"):
            table.add_column(column, justify="left" if not column else "right")
        torch.set_num_threads(threads)
        for size in (1024, 2048):
            for dtype in (torch.bfloat16, torch.int8, torch.float16):
                product = Product(dtype, size)
                eager = seconds(product.eager, 0.25)
                rows = [(tile, False) for tile in (FEW if dtype == torch.float16 else TILES)]
                rows += [(tile, True) for tile in FEW if dtype != torch.float16]
                for tile, is_transposed in rows:
                    product.check(tile, is_transposed)
                    ours = seconds(lambda p=product, t=tile, i=is_transposed: p.ours(t, i), 0.25)
                    table.add_row(
                        f"{str(dtype).removeprefix('torch.')} {size}^3{', b.T' if is_transposed else ''}",
                        "x".join(map(str, tile)),
                        f"{ours * 1e3:.2f}",
                        f"{eager * 1e3:.2f}",
                        f"{ours / eager:.2f}",
                        f"{2 * size**3 / ours / 1e9:.0f}",
                    )
        console.print(table)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
