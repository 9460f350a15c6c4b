# SPDX-License-Identifier: Apache-2.0
"""Types, operands and CPUs of the tests of products."""

from __future__ import annotations

from pathlib import Path

import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import CompiledKernel

FP32, BF16, FP16, INT8 = torch.float32, torch.bfloat16, torch.float16, torch.int8
E5M2, E4M3 = torch.float8_e5m2, torch.float8_e4m3fn
NAMES = {FP32: "*fp32", BF16: "*bf16", FP16: "*fp16", INT8: "*i8", E5M2: "*fp8e5", E4M3: "*fp8e4nv"}
NAMES |= {torch.int32: "*i32"}

#: CPUs of LLVM, and the flags of /proc/cpuinfo that a machine needs to run their products. All of CI's have AVX2.
RUNNABLE = {
    "x86-64": (),
    "haswell": ("avx2",),
    "cascadelake": ("avx512_vnni", "avx512vl", "avx512bw", "avx512dq"),
    "cooperlake": ("avx512_bf16", "avx512_vnni", "avx512vl", "avx512bw", "avx512dq"),
    "alderlake": ("avx_vnni",),
    "sapphirerapids": ("amx_bf16", "amx_int8", "avx512_fp16"),
    "graniterapids": ("amx_bf16", "amx_int8", "amx_fp16", "avx512_fp16"),
}
FLAGS = set(Path("/proc/cpuinfo").read_text().split("flags", 1)[1].split("\n", 1)[0].split())
HERE = [arch for arch, flags in RUNNABLE.items() if FLAGS.issuperset(flags)]


def compiled(function: triton.JITFunction, types: dict[str, str], constants: dict[str, int], arch: str):
    """Returns the kernel, compiled for a CPU of LLVM."""
    signature = types | dict.fromkeys(constants, "constexpr")
    source = triton.compiler.ASTSource(function, signature, constants)
    return triton.compile(source, target=GPUTarget("cpu", arch, 1))


@triton.jit
def product(
    a, b, c, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, STEP: tl.constexpr,
    A_DOWN: tl.constexpr, B_DOWN: tl.constexpr,
):  # fmt: skip
    """c += a @ b in steps along K; sums have the type of c. A_DOWN, B_DOWN: its columns are contiguous."""
    z = tl.arange(0, B)[:, None, None]
    m, n = tl.arange(0, M), tl.arange(0, N)
    at = c + z * (M * N) + m[None, :, None] * N + n[None, None, :]
    total = tl.load(at)
    for start in range(0, K, STEP):
        k = start + tl.arange(0, STEP)
        left = m[None, :, None] * (1 if A_DOWN else K) + k[None, None, :] * (M if A_DOWN else 1)
        right = k[None, :, None] * (1 if B_DOWN else N) + n[None, None, :] * (K if B_DOWN else 1)
        if B == 1:
            x, y = tl.load(a + tl.reshape(left, (M, STEP))), tl.load(b + tl.reshape(right, (STEP, N)))
            partial = tl.dot(x, y, tl.reshape(total, (M, N)), out_dtype=total.dtype)
            total = tl.reshape(partial, (1, M, N))
        else:
            x, y = tl.load(a + z * (M * K) + left), tl.load(b + z * (K * N) + right)
            total = tl.dot(x, y, total, out_dtype=total.dtype)
    tl.store(at, total)


def sum_type(dtype: torch.dtype) -> torch.dtype:
    return torch.int32 if dtype == INT8 else torch.float32


def numbers(dtype: torch.dtype, *sizes: int) -> torch.Tensor:
    """Returns random numbers whose products have one right sum."""
    if dtype == INT8:
        return torch.randint(-128, 128, sizes, dtype=INT8)
    if dtype == torch.int32:  # sums wrap around
        return torch.randint(-(2**31), 2**31, sizes, dtype=torch.int64).to(torch.int32)
    return torch.randint(-4, 5, sizes).to(dtype)


def compiled_product(
    dtype: torch.dtype, sizes: tuple[int, int, int, int], arch: str, step: int = 0,
    down: tuple[bool, bool] = (False, False), *, total: torch.dtype | None = None,
) -> CompiledKernel:  # fmt: skip
    """Returns `product`, compiled for a CPU; `sizes` are B, M, N and K, `total` is the type of its sums."""
    constants = dict(zip("BMNK", sizes, strict=True)) | {"STEP": step or sizes[3]}
    constants |= {"A_DOWN": int(down[0]), "B_DOWN": int(down[1])}
    types = {"a": NAMES[dtype], "b": NAMES[dtype], "c": NAMES[total or sum_type(dtype)]}
    return compiled(product, types, constants, arch)


def down(matrix: torch.Tensor) -> torch.Tensor:
    return matrix.mT.contiguous()


class Matrices:
    """Operands, and the right result."""

    def __init__(self, dtype: torch.dtype, sizes: tuple[int, int, int, int], down_: tuple[bool, bool]) -> None:
        batches, m, n, k = sizes
        a, b = numbers(dtype, batches, m, k), numbers(dtype, batches, k, n)
        self.total = numbers(sum_type(dtype), batches, m, n)
        right = a.double() @ b.double() + self.total.double()
        wrapped = (right.long() + 2**31) % 2**32 - 2**31
        self.expected = (wrapped if dtype == INT8 else right).to(self.total.dtype)
        self.arguments = (down(a) if down_[0] else a, down(b) if down_[1] else b, self.total)


INSTRUCTIONS = ("tdpbf16ps", "tdpbssd", "tdpfp16ps", "vdpbf16ps", "vpdpbusd", "vpmaddwd", "pmaddwd", "vfmadd")


def units_in(kernel: CompiledKernel) -> list[str]:
    words = set(kernel.asm["asm"].split())
    return [name for name in INSTRUCTIONS if any(word.startswith(name) for word in words)]
