# SPDX-License-Identifier: Apache-2.0
"""Loads and stores: strides, gathers, masks, scalars, atomics, descriptors. Masked-off lanes touch no memory."""

from __future__ import annotations

import ctypes
import mmap
import os

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

pytestmark = pytest.mark.keeps_kernels

PAGE = mmap.PAGESIZE
_libc = ctypes.CDLL(None, use_errno=True)


class Guarded:
    """`size` bytes of memory that border on an inaccessible page, at their end (`at_end`) or at their beginning."""

    def __init__(self, size: int, dtype: type, *, at_end: bool) -> None:
        pages = -(-size // PAGE)
        self._map = mmap.mmap(-1, (pages + 2) * PAGE)
        base = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        for address in (base, base + (pages + 1) * PAGE):
            assert _libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(PAGE), 0) == 0, os.strerror(
                ctypes.get_errno()
            )
        offset = PAGE + (pages * PAGE - size if at_end else 0)
        self.array = np.frombuffer(self._map, dtype, size // np.dtype(dtype).itemsize, offset)


@triton.jit
def copy(x, out, n, before, BLOCK: tl.constexpr, EVERY: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) - before
    mask = (i >= 0) & (i < n) & (i % EVERY == 0)
    tl.store(out + i, tl.load(x + i, mask=mask), mask=mask)


@pytest.mark.slow
@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("every", [1, 3])
def test_masked_lanes_at_a_page_border(at_end: bool, dtype: type, every: int) -> None:
    for n in (1, 3, 16, 17, 100):
        size = n * np.dtype(dtype).itemsize
        x, out = (Guarded(size, dtype, at_end=at_end).array for _ in range(2))
        x[:] = np.arange(n)
        copy[(2,)](x, out, n, 13, BLOCK=128, EVERY=every)
        expected = np.where(np.arange(n) % every == 0, np.arange(n), 0).astype(dtype)
        np.testing.assert_array_equal(out, expected)


@triton.jit
def gather(x, index, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = tl.load(index + i, mask=i < n, other=2**30)
    tl.store(out + i, tl.load(x + at, mask=i < n, other=-1.0))


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.float64])
def test_gathered_lanes_that_are_off(dtype: type) -> None:
    x = Guarded(64 * np.dtype(dtype).itemsize, dtype, at_end=True).array
    x[:] = np.arange(64)
    index = np.random.default_rng(1).permutation(64).astype(np.int32)
    out = np.zeros(128, dtype)
    gather[(1,)](x, index, out, 64, BLOCK=128)
    np.testing.assert_array_equal(out[:64], x[index])
    assert (out[64:] == -1).all()


@triton.jit
def strided(x, out, rows, columns, sx0, sx1, so0, so1, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    mask = (i < rows) & (j < columns)
    value = tl.load(x + i * sx0 + j * sx1, mask=mask)
    tl.store(out + i * so0 + j * so1, value * 2, mask=mask)


@pytest.mark.sampled
@pytest.mark.parametrize("shape", [(1, 1), (2, 8), (8, 2), (16, 16), (3, 70), (70, 3), (33, 65)])
@pytest.mark.parametrize("layout", ["row", "column", "step", "reversed"])
def test_strides(shape: tuple[int, int], layout: str) -> None:
    rows, columns = shape
    big = torch.randn(3 * rows, 3 * columns)
    x = {
        "row": big[:rows, :columns],
        "column": big.t()[:columns, :rows].t(),
        "step": big[::3, ::3],
        "reversed": big[:rows, :columns],
    }[layout]
    out = torch.zeros(rows, columns)
    m, n = triton.next_power_of_2(rows), triton.next_power_of_2(columns)
    if layout == "reversed":
        strided[(1,)](x[-1, -1:], out, rows, columns, -x.stride(0), -x.stride(1), *out.stride(), M=m, N=n)
        assert torch.equal(out, 2 * x.flip(0, 1))
    else:
        strided[(1,)](x, out, rows, columns, *x.stride(), *out.stride(), M=m, N=n)
        assert torch.equal(out, 2 * x)


@triton.jit
def masked_load(x, out, flag, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < 3))
    tl.store(out + BLOCK + i, tl.load(x + i, mask=i < 3, other=7.0))
    tl.store(out + 2 * BLOCK, tl.load(x, mask=flag != 0))
    tl.store(out + 2 * BLOCK + 1, tl.load(x, mask=flag != 0, other=9.0))
    tl.store(out + 2 * BLOCK + 2, 1.0, mask=flag != 0)


def test_masked_off_is_zero() -> None:
    x = torch.tensor([1.0, 2, 3] + [float("nan")] * 13)
    out = torch.full((40,), 5.0)
    masked_load[(1,)](x, out, 0, BLOCK=16)
    assert out[:16].tolist() == [1, 2, 3] + [0] * 13
    assert out[16:32].tolist() == [1, 2, 3] + [7] * 13
    assert out[32:36].tolist() == [0, 9, 5, 5]


@triton.jit
def shift_in_place(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i + 1, tl.load(x + i))


@triton.jit
def swap_halves(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i)
    b = tl.load(y + i)
    tl.store(x + i, b)
    tl.store(y + i, a)


@triton.jit
def transpose_in_place(x, y, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(y + i * N + j, tl.trans(tl.load(x + i * N + j)))


def test_a_load_happens_before_later_stores() -> None:
    x = torch.arange(65.0)
    shift_in_place[(1,)](x, BLOCK=64)
    assert x.tolist() == [0.0, *range(64)]
    a, b = torch.arange(64.0), torch.arange(64.0) + 100
    swap_halves[(1,)](a, b, BLOCK=64)
    assert a[0] == 100 and b[0] == 0 and a[63] == 163 and b[63] == 63
    square = torch.randn(32, 32)
    expected = square.t().clone()
    transpose_in_place[(1,)](square, square, N=32)
    assert torch.equal(square, expected)


@triton.jit
def atomics(x, out, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    if OP == "add":
        tl.atomic_add(out + i % 7, v, mask=i < n)
    elif OP == "max":
        tl.atomic_max(out + i % 7, v, mask=i < n)
    elif OP == "min":
        tl.atomic_min(out + i % 7, v, mask=i < n)
    elif OP == "and":
        tl.atomic_and(out + i % 7, v, mask=i < n)
    elif OP == "or":
        tl.atomic_or(out + i % 7, v, mask=i < n)
    else:
        tl.static_assert(OP == "xor")
        tl.atomic_xor(out + i % 7, v, mask=i < n)


@pytest.mark.sampled
@pytest.mark.parametrize("op", ["add", "max", "min", "and", "or", "xor"])
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.float32, torch.float64], ids=str)
def test_atomics(op: str, dtype: torch.dtype) -> None:
    if dtype.is_floating_point and op in ("and", "or", "xor"):
        return
    n = 1000
    x = torch.randint(-50, 50, (n,)).to(dtype)
    out = torch.zeros(7, dtype=dtype)
    atomics[(16,)](x, out, n, OP=op, BLOCK=64)
    reduce = {
        "add": np.add,
        "max": np.maximum,
        "min": np.minimum,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
    }[op]
    expected = [reduce.reduce(np.concatenate([[0], x[k::7].numpy()]).astype(x.numpy().dtype)) for k in range(7)]
    assert out.tolist() == expected


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_atomic_add_of_narrow_floats(dtype: torch.dtype) -> None:
    x = torch.randint(-4, 5, (200,)).to(dtype)
    out = torch.zeros(7, dtype=dtype)
    atomics[(4,)](x, out, 200, OP="add", BLOCK=64)
    assert out.tolist() == [x[k::7].float().sum().item() for k in range(7)]


@triton.jit
def lock(mutex, total, n):
    for _ in range(n):
        while tl.atomic_cas(mutex, 0, 1) == 1:
            pass
        tl.store(total, tl.load(total) + 1)
        tl.atomic_xchg(mutex, 0)


@triton.jit
def old_values(counter, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.atomic_add(counter + i * 0, 1))


def test_compare_and_swap() -> None:
    mutex, total = torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    lock[(8,)](mutex, total, 100)
    assert total.item() == 800
    counter, out = torch.zeros(1, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
    old_values[(1,)](counter, out, BLOCK=64)
    assert counter.item() == 64 and sorted(out.tolist()) == list(range(64))


@triton.jit
def descriptors(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN])
    target = tl.make_tensor_descriptor(out, [M, N], [N, 1], [BM, BN])
    at = [tl.program_id(0) * BM, tl.program_id(1) * BN]
    target.store(at, source.load(at) * 2)


@triton.jit
def host_descriptor(source, target, BM: tl.constexpr, BN: tl.constexpr):
    at = [tl.program_id(0) * BM, tl.program_id(1) * BN]
    target.store(at, source.load(at) + 1)


@triton.jit
def descriptor_rows(source, rows, out, ROWS: tl.constexpr, BN: tl.constexpr):
    i = tl.load(rows + tl.arange(0, ROWS))
    block = source.gather(i, 0)
    tl.store(out + tl.arange(0, ROWS)[:, None] * BN + tl.arange(0, BN)[None, :], block)


@pytest.mark.slow
def test_descriptors() -> None:
    x = torch.randn(50, 36)
    out = torch.zeros_like(x)
    descriptors[(4, 3)](x, out, 50, 36, BM=16, BN=16)
    assert torch.equal(out, 2 * x)
    out = torch.zeros_like(x)
    pair = (TensorDescriptor.from_tensor(t, [16, 16]) for t in (x, out))
    host_descriptor[(4, 3)](*pair, BM=16, BN=16)
    assert torch.equal(out, x + 1)
    rows = torch.tensor([3, 1, 49, 7, 0, 2, 30, 11], dtype=torch.int32)
    out = torch.zeros(8, 16)
    descriptor_rows[(1,)](TensorDescriptor.from_tensor(x, [1, 16]), rows, out, ROWS=8, BN=16)
    assert torch.equal(out, x[rows.long(), :16])


@triton.jit
def remainders(x, out, shift, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, (i - 32) % 32)
    tl.store(out + N + i, (i - shift) % 32)
    tl.store(out + 2 * N + i, tl.load(x + (tl.program_id(0) * N + i) % n))
    tl.store(out + 3 * N + i, (i * 3 - 64) // 16)


@pytest.mark.parametrize("n", [16, 48, 50, 7])
def test_remainders_have_the_sign_of_the_dividend(n: int) -> None:
    x, out = torch.arange(64, dtype=torch.int32), torch.zeros(256, dtype=torch.int32)
    remainders[(1,)](x, out, 48, n, N=64)
    i = torch.arange(64)
    expected = [torch.fmod(i - 32, 32), torch.fmod(i - 48, 32), i % n, torch.div(i * 3 - 64, 16, rounding_mode="trunc")]
    assert torch.equal(out.long(), torch.cat(expected))
