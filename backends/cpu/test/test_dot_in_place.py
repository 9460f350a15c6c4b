# SPDX-License-Identifier: Apache-2.0
"""Left operands of f32 that products read where they are in memory: results are those of packed ones."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl
from triton.compiler.compiler import CompiledKernel

from support.cpu import emulated_units
from support.cpu.dots import HERE, compiled, numbers

pytestmark = pytest.mark.keeps_kernels


@triton.jit
def product(
    a, b, c, steps, bound, HOW: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, LDA: tl.constexpr
):
    """A tile of rows of a @ b for each program. HOW says which elements of a it reads, and what writes to a."""
    pid = tl.program_id(0)
    i, j, k = pid * M + tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    total = tl.zeros((M, N), tl.float32)
    carried = a + i % bound * LDA + k[None, :]
    for step in range(steps):
        down, along = step * K + k[:, None], step * K + k[None, :]
        at = i * LDA + along
        if HOW == "wrapped":
            at = i % bound * LDA + along
        if HOW == "around":
            at = i * LDA + along % bound
        if HOW == "strided":
            at = i * LDA + along * 2
        if HOW == "stride":
            at = i * LDA + along * bound
        if HOW == "transposed":
            at = i + along * LDA
        if HOW == "backwards":
            at = (bound - i) * LDA + along
        if HOW == "columns":
            x = tl.load(a + at, mask=along < bound, other=2.0)
        elif HOW == "rows":
            x = tl.load(a + at, mask=i < bound, other=0.0)
        elif HOW == "lower":
            x = tl.load(a + at, mask=i >= bound, other=0.0)
        elif HOW == "both":
            x = tl.load(a + at, mask=(i < bound) & (along < bound * 9), other=0.0)
        elif HOW == "triangle":
            x = tl.load(a + at, mask=along < bound - i, other=0.0)
        elif HOW == "carried":
            x = tl.load(carried)
            carried += K
        elif HOW == "even":
            x = tl.load(a + at, mask=along % 2 < bound, other=0.0)
        else:
            x = tl.load(a + at)
        if HOW == "between":
            tl.store(a + at, x + 1)
        y = tl.load(b + down * N + j)
        if HOW == "sum":
            x += 1
        total = tl.dot(x, y, total)
        if HOW == "ahead":
            tl.store(a + at + K, x)
    tl.store(c + i * N + j, total)


#: What `bound` is for each way.
WAYS = {
    "plain": 1, "wrapped": 13, "carried": 13, "around": 112, "strided": 1, "stride": 2, "transposed": 1,
    "backwards": 40, "columns": 150, "rows": 13, "lower": 7, "both": 15, "triangle": 140, "even": 1,
    "between": 1, "sum": 1, "ahead": 1,
}  # fmt: skip


class Work:
    """The operands of `product`. `offset` is the distance in elements from a to c if they share memory, else None."""

    def __init__(self, how: str, sizes: tuple[int, int, int], *, steps: int = 3, offset: int | None = None) -> None:
        self.how, self.steps, self.programs = how, steps, 5
        self.M, self.N, self.K = sizes
        depth = steps * self.K
        self.lda, self.bound = 2 * depth + 5, WAYS[how]
        size = self.lda * max(64, 2 * depth)
        self.place = size if offset is None else offset
        self.memory = torch.zeros(max(size, self.place + self.programs * self.M * self.N))
        self.a = self.memory[:size]
        self.a[:] = numbers(torch.float32, size)
        self.b = numbers(torch.float32, depth, self.N)
        self.c = self.memory[self.place :]

    def kernel(self, arch: str) -> CompiledKernel:
        types = {"a": "*fp32", "b": "*fp32", "c": "*fp32", "steps": "i32", "bound": "i32"}
        return compiled(product, types, {"HOW": self.how, "M": self.M, "N": self.N, "K": self.K, "LDA": self.lda}, arch)

    def run(self, arch: str, directory: Path) -> None:
        arguments = (self.a, self.b, self.c, self.steps, self.bound)
        directory.mkdir(exist_ok=True)
        emulated_units.run(self.kernel(arch), directory, self.programs, arguments)

    def model(self) -> torch.Tensor:
        """Returns the memory of a and c after all programs, which run one after the other."""
        memory, bound = self.memory.clone(), self.bound
        for pid in range(self.programs):
            i = torch.arange(pid * self.M, (pid + 1) * self.M)[:, None]
            total = torch.zeros(self.M, self.N, dtype=torch.float64)
            for step in range(self.steps):
                along = torch.arange(step * self.K, (step + 1) * self.K)[None, :]
                places = {
                    "wrapped": i % bound * self.lda + along,
                    "carried": i % bound * self.lda + along,
                    "around": i * self.lda + along % bound,
                    "strided": i * self.lda + along * 2,
                    "stride": i * self.lda + along * bound,
                    "transposed": i + along * self.lda,
                    "backwards": (bound - i) * self.lda + along,
                }.get(self.how, i * self.lda + along)
                mask = {
                    "columns": along < bound,
                    "rows": i < bound,
                    "lower": i >= bound,
                    "both": (i < bound) & (along < bound * 9),
                    "triangle": along < bound - i,
                    "even": along % 2 < bound,
                }.get(self.how, along >= 0)
                x = memory[places].where(mask, torch.tensor(2.0 if self.how == "columns" else 0.0))
                if self.how == "between":
                    memory[places] = x + 1
                if self.how == "sum":
                    x = x + 1
                total += x.double() @ self.b[along[0]].double()
                if self.how == "ahead":
                    memory[places + self.K] = x
            memory[self.place + i * self.N + torch.arange(self.N)] = total.float()
        return memory


ARCHES = [arch for arch in ("haswell", "cascadelake") if arch in HERE]


@triton.jit
def product_of_every(a, b, c, EVERY: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """A tile of rows for each program. Of a, it reads the elements whose distance is EVERY."""
    i, j, k = tl.program_id(0) * M + tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    total = tl.zeros((M, N), tl.float32)
    for step in range(3):
        x = tl.load(a + (i * 3 * K + step * K + k[None, :]) * EVERY)
        total = tl.dot(x, tl.load(b + (step * K + k[:, None]) * N + j), total)
    tl.store(c + i * N + j, total)


@pytest.mark.parametrize(("dtype", "every"), [(torch.float16, 2), (torch.bfloat16, 2), (torch.float8_e5m2, 4)], ids=str)
@pytest.mark.parametrize("arch", ARCHES)
def test_narrow_floats_are_converted(dtype: torch.dtype, every: int, arch: str, tmp_path: Path) -> None:
    """They are multiplied as f32, and their addresses are as far apart as those of neighbouring f32."""
    rows, N, K = 16, 128, 64
    a, b, c = numbers(dtype, rows * 3 * K * every), numbers(dtype, 3 * K, N), torch.zeros(rows, N)
    element = {torch.float16: "fp16", torch.bfloat16: "bf16", torch.float8_e5m2: "fp8e5"}[dtype]
    types = {"a": f"*{element}", "b": f"*{element}", "c": "*fp32"}
    kernel = compiled(product_of_every, types, {"EVERY": every, "M": 8, "N": N, "K": K}, arch)
    emulated_units.run(kernel, tmp_path, rows // 8, (a, b, c))
    wanted = a.double().reshape(rows, -1)[:, ::every] @ b.double()
    torch.testing.assert_close(c, wanted.float(), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("arch", ARCHES)
def test_results_are_right(how: str, arch: str, tmp_path: Path) -> None:
    """Steps of 64 do not wait, those of 16 do."""
    for number, sizes in enumerate([(4, 16, 64), (8, 128, 64), (4, 16, 16)]):
        work = Work(how, sizes)
        expected = work.model()
        work.run(arch, tmp_path / str(number))
        assert torch.equal(work.memory, expected), sizes


@pytest.mark.parametrize("seed", range(8))
def test_random_tiles(seed: int, tmp_path: Path) -> None:
    chosen = random.Random(seed)
    torch.manual_seed(seed)
    sizes = (2 ** chosen.randrange(4), 2 ** chosen.randrange(2, 8), 2 ** chosen.randrange(4, 9))
    work = Work(chosen.choice(list(WAYS)), sizes, steps=chosen.randrange(4))
    expected = work.model()
    work.run(chosen.choice(ARCHES), tmp_path)
    assert torch.equal(work.memory, expected), (work.how, sizes, work.steps)


@pytest.mark.parametrize("offset", [0, 4 * 389, 9 * 389 + 5])
def test_the_result_is_written_to_the_left_operand(offset: int, tmp_path: Path) -> None:
    """A program reads what those before it have stored."""
    work = Work("plain", (4, 16, 64), offset=offset)
    expected = work.model()
    work.run("haswell", tmp_path)
    assert torch.equal(work.memory, expected)


@pytest.mark.parametrize("arch", ARCHES)
def test_results_have_the_bits_of_packed_operands(arch: str, tmp_path: Path) -> None:
    """A stride of 1 that is not known is tested. With a bound of 2, the mask of `even` is on, but it is not tested."""
    found = []
    a, b = torch.randn(20 * 389), torch.randn(3 * 64, 32)
    for how, bound in (("plain", 1), ("stride", 1), ("even", 2)):
        work = Work(how, (4, 32, 64))
        work.a[: len(a)], work.b[:], work.bound = a, b, bound
        work.run(arch, tmp_path / how)
        found.append(work.c.clone())
    assert torch.equal(found[0], found[2])
    assert torch.equal(found[1], found[2])
    assert found[0].any()


@triton.jit
def batched(a, b, c, steps):
    """Products of two batches, side by side along rows."""
    z = tl.arange(0, 2)[:, None, None]
    i, j, k = tl.arange(0, 4)[None, :, None], tl.arange(0, 16)[None, None, :], tl.arange(0, 64)
    total = tl.zeros((2, 4, 16), tl.float32)
    for step in range(steps):
        x = tl.load(a + z * 10000 + i * 1000 + step * 64 + k[None, None, :])
        total = tl.dot(x, tl.load(b + z * 10000 + (step * 64 + k[None, :, None]) * 16 + j), total)
    tl.store(c + z * 64 + i * 16 + j, total)


def test_batches(tmp_path: Path) -> None:
    steps = 3
    a, b, c = numbers(torch.float32, 2, 10, 1000), numbers(torch.float32, 2, 625, 16), torch.zeros(2, 4, 16)
    kernel = compiled(batched, {"a": "*fp32", "b": "*fp32", "c": "*fp32", "steps": "i32"}, {}, "haswell")
    emulated_units.run(kernel, tmp_path, 1, (a, b, c, steps))
    assert torch.equal(c.double(), a[:, :4, : steps * 64].double() @ b[:, : steps * 64].double())


@triton.jit
def astray(a, b, c, offset):
    i, j = tl.arange(0, 4)[:, None], tl.arange(0, 16)[None, :]
    total = tl.zeros((4, 16), tl.float32)
    for step in range(2):
        k = step * 64 + tl.arange(0, 64)
        x = tl.load(a + offset + i * 128 + k[None, :])  # ASTRAY
        y = tl.load(b + k[:, None] * 16 + j)
        total = tl.dot(x, y, total)
    tl.store(c + i * 16 + j, total)


def test_a_fault_names_the_line_of_the_load() -> None:
    a, b, c = torch.ones(4, 128), torch.ones(128, 16), torch.zeros(4, 16)
    astray[(1,)](a, b, c, 0)
    assert torch.equal(c, a @ b)
    lines = Path(__file__).read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if text.endswith("# ASTRAY"))
    with pytest.raises(RuntimeError, match=rf"^{__file__}:{line}: SIGSEGV in the kernel 'astray'"):
        astray[(1,)](a, b, c, 1 << 40)
