# SPDX-License-Identifier: Apache-2.0
"""Products that wait for several iterations of their loop over K, and are multiplied at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl
from triton.compiler.compiler import CompiledKernel

from support.cpu import emulated_units
from support.cpu.dots import BF16, E4M3, FP16, FP32, HERE, INT8, NAMES, Matrices, compiled, numbers, sum_type, units_in

pytestmark = pytest.mark.keeps_kernels


@triton.jit
def product(
    a, b, c, steps, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, STEP: tl.constexpr,
    A_DOWN: tl.constexpr, B_DOWN: tl.constexpr,
):  # fmt: skip
    """c += a @ b, in `steps` steps along K. A_DOWN and B_DOWN: the matrix has its columns one behind the other."""
    z = tl.arange(0, B)[:, None, None]
    m, n = tl.arange(0, M)[None, :, None], tl.arange(0, N)[None, None, :]
    at = c + z * (M * N) + m * N + n
    total = tl.load(at)
    for step in range(tl.load(steps)):
        k = step * STEP + tl.arange(0, STEP)
        x = tl.load(a + z * (M * K) + m * (1 if A_DOWN else K) + k[None, None, :] * (M if A_DOWN else 1))
        y = tl.load(b + z * (K * N) + k[None, :, None] * (1 if B_DOWN else N) + n * (K if B_DOWN else 1))
        total = tl.dot(x, y, total, out_dtype=total.dtype)
    tl.store(at, total)


def compiled_product(
    dtype: torch.dtype, sizes: tuple[int, int, int, int], step: int, arch: str, down: tuple[bool, bool] = (False,) * 2
) -> CompiledKernel:
    """Returns `product`, compiled for a CPU; `sizes` are B, M, N and K."""
    constants = dict(zip("BMNK", sizes, strict=True)) | {"STEP": step}
    constants |= {"A_DOWN": int(down[0]), "B_DOWN": int(down[1])}
    types = {"a": NAMES[dtype], "b": NAMES[dtype], "c": NAMES[sum_type(dtype)], "steps": "*i32"}
    return compiled(product, types, constants, arch)


def arguments(matrices: Matrices, steps: int) -> tuple[torch.Tensor, ...]:
    return (*matrices.arguments, torch.tensor([steps], dtype=torch.int32))


def cases(
    dtype: torch.dtype, arch: str, loop: tuple[int, int], shapes: Sequence[tuple[int, int, int]], directory: Path
) -> Iterator[tuple[tuple[int, int, int], Matrices, CompiledKernel, Path]]:
    """Yields each of `shapes`, in the one layout and the other, with its matrices, its kernel and an empty directory.

    The sizes of a shape are B, M and N; `loop` is the size of a step and the number of steps.
    """
    step, steps = loop
    for number, (sizes, is_down) in enumerate(zip(shapes, (False, True), strict=True)):
        here = directory / str(number)
        here.mkdir()
        whole, layout = (*sizes, max(1, steps) * step), (is_down, is_down)
        matrices = Matrices(dtype, whole, layout)
        if not steps:
            matrices.expected = matrices.total.clone()
        yield sizes, matrices, compiled_product(dtype, whole, step, arch, layout), here


#: The size of a step, and how many there are: none, fewer than wait, as many, one more, and several times as many.
#: Slots that are used again have old words in them.
STEPS = [(32, 0), (32, 1), (32, 3), (32, 8), (32, 9), (32, 17), (64, 6), (128, 5), (16, 17), (8, 19), (4, 3), (256, 2)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "arch"),
    [
        (BF16, "sapphirerapids"),
        (INT8, "sapphirerapids"),
        (E4M3, "sapphirerapids"),
        (FP16, "sapphirerapids"),
        (FP16, "graniterapids"),
    ],
    ids=str,
)
@pytest.mark.parametrize(("step", "steps"), STEPS)
def test_tiles(dtype: torch.dtype, arch: str, step: int, steps: int, tmp_path: Path) -> None:
    """Each sum is loaded once for several steps; a last tile that is not full ends with zeros."""
    # A single tile of columns of fp16 is multiplied by FMA.
    first = (1, 16, 32) if (dtype, arch) == (FP16, "sapphirerapids") else (1, 32, 16)
    for sizes, matrices, kernel, here in cases(dtype, arch, (step, steps), (first, (2, 16, 32)), tmp_path):
        emulator = emulated_units.run_emulated(kernel, here, 1, arguments(matrices, steps))
        assert emulator.problems == []
        assert torch.equal(matrices.total, matrices.expected)
        elements = 128 * (4 if dtype == INT8 else 2)
        if step < elements:
            assert emulator.calls["tilestored64"] == 2 * sizes[0] * -(-step * steps // elements)
            # The tiles of the right operand do not stay in the first cache.
            assert (emulator.calls["tileloaddt164"] > 0) == (steps > 0)


@pytest.mark.sampled
@pytest.mark.parametrize("arch", HERE)
@pytest.mark.parametrize("dtype", [FP32, BF16, FP16, INT8, E4M3], ids=str)
@pytest.mark.parametrize(("step", "steps"), STEPS)
def test_on_this_machine(arch: str, dtype: torch.dtype, step: int, steps: int, tmp_path: Path) -> None:
    for _, matrices, kernel, here in cases(dtype, arch, (step, steps), ((1, 32, 64), (2, 4, 8)), tmp_path):
        emulated_units.run(kernel, here, 1, arguments(matrices, steps))
        assert torch.equal(matrices.total, matrices.expected)


def test_a_short_k_takes_the_tiles_of_amx() -> None:
    """AMX multiplies bytes in steps of 64 along K; steps of 32 are joined."""
    assert units_in(compiled_product(INT8, (1, 16, 16, 128), 32, "sapphirerapids")) == ["tdpbssd"]


# Sums that do not wait


@triton.jit
def watched(a, b, c, out, STEPS: tl.constexpr, HOW: tl.constexpr):
    """Steps of a product whose sum something else in the loop needs."""
    i, j = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
    total = tl.load(c + i * 16 + j)
    for step in range(STEPS):
        x, y = tl.load(a + step * 256 + i * 16 + j), tl.load(b + step * 256 + i * 16 + j)
        if HOW == 0:  # the old sum
            tl.store(out + step * 256 + i * 16 + j, total)
            total = tl.dot(x, y, total)
        elif HOW == 1:  # the new sum
            total = tl.dot(x, y, total)
            tl.store(out + step * 256 + i * 16 + j, total)
        elif HOW == 2:  # the sum is scaled
            total = tl.dot(x, y, total * 2)
        elif HOW == 3:  # an operand is the sum
            total = tl.dot(total.to(tl.bfloat16), y, total)
        elif HOW == 4 and step % 2 == 0:  # every second step adds
            total = tl.dot(x, y, total)
    tl.store(c + i * 16 + j, total)


@pytest.mark.parametrize("how", range(5))
@pytest.mark.parametrize("arch", HERE)
def test_a_sum_that_the_loop_needs(how: int, arch: str, tmp_path: Path) -> None:
    steps = 5
    a, b = numbers(BF16, steps, 16, 16), numbers(BF16, steps, 16, 16)
    c, out = numbers(torch.float32, 16, 16), torch.zeros(steps, 16, 16)
    if how == 3:
        a, b, c = a.sign(), torch.eye(16, dtype=BF16).expand(steps, 16, 16).contiguous(), c.sign()
    total, seen = c.double(), torch.zeros(steps, 16, 16, dtype=torch.float64)
    for step in range(steps):
        x, y = a[step].double(), b[step].double()
        if how == 0:
            seen[step] = total
        if how == 2:
            total = total * 2
        if how == 3:
            x = total
        if how != 4 or step % 2 == 0:
            total = total + x @ y
        if how == 1:
            seen[step] = total
    types = {"a": "*bf16", "b": "*bf16", "c": "*fp32", "out": "*fp32"}
    kernel = compiled(watched, types, {"STEPS": steps, "HOW": how}, arch)
    emulated_units.run(kernel, tmp_path, 1, (a, b, c, out))
    assert torch.equal(c.double(), total)
    assert torch.equal(out.double(), seen)


@triton.jit
def rounding(a, b, c, STEPS: tl.constexpr):
    """A sum of f32 that is rounded to f16 in each step, where the target has no sums of f16."""
    i, j = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
    total = tl.zeros((16, 16), tl.float16)
    for step in range(STEPS):
        x, y = tl.load(a + step * 256 + i * 16 + j), tl.load(b + step * 256 + i * 16 + j)
        total = tl.dot(x, y, total, out_dtype=tl.float16)
    tl.store(c + i * 16 + j, total)


def test_a_sum_of_f16_is_rounded_in_each_step(tmp_path: Path) -> None:
    steps = 4
    a, b = (torch.randint(1, 40, (steps, 16, 16)).to(FP16) for _ in range(2))
    expected = torch.zeros(16, 16, dtype=FP16)
    for step in range(steps):
        expected = (expected.double() + a[step].double() @ b[step].double()).to(FP16)
    c = torch.zeros(16, 16, dtype=FP16)
    kernel = compiled(
        rounding, {"a": "*fp16", "b": "*fp16", "c": "*fp16"}, {"STEPS": steps}, "graniterapids;-avx512fp16"
    )
    emulator = emulated_units.run_emulated(kernel, tmp_path, 1, (a, b, c))
    assert emulator.problems == []
    assert torch.equal(c, expected)
