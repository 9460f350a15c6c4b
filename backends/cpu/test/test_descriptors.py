# SPDX-License-Identifier: Apache-2.0
"""Tensor descriptors that are made on the host or in the kernel: every access and every reduction, at the borders."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

pytestmark = pytest.mark.keeps_kernels

DTYPES = {
    torch.uint8: 64,  # the least number of columns of a gather
    torch.int16: 16,
    torch.float16: 16,
    torch.bfloat16: 16,
    torch.int32: 8,
    torch.float32: 8,
}


@triton.jit
def made(x, M, N, STRIDE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, HOST: tl.constexpr, PAD: tl.constexpr):
    """Returns the descriptor that the host has made, or makes one from a pointer."""
    if HOST:
        return x
    else:
        return tl.make_tensor_descriptor(x, [M, N], [STRIDE, 1], [BM, BN], padding_option=PAD)


def argument(x: torch.Tensor, block: list[int], host: bool, padding: str = "zero") -> object:
    return TensorDescriptor.from_tensor(x, block, padding) if host else x


@triton.jit
def gather_rows(
    x, rows, out, column, M, N, STRIDE: tl.constexpr, ROWS: tl.constexpr, BN: tl.constexpr, HOST: tl.constexpr
):
    source = made(x, M, N, STRIDE, 1, BN, HOST, "zero")
    block = source.gather(tl.load(rows + tl.arange(0, ROWS)), column)
    tl.store(out + tl.arange(0, ROWS)[:, None] * BN + tl.arange(0, BN)[None, :], block)


@triton.jit
def scatter_rows(
    x, rows, values, column, M, N, STRIDE: tl.constexpr, ROWS: tl.constexpr, BN: tl.constexpr, HOST: tl.constexpr
):
    target = made(x, M, N, STRIDE, 1, BN, HOST, "zero")
    block = tl.load(values + tl.arange(0, ROWS)[:, None] * BN + tl.arange(0, BN)[None, :])
    target.scatter(block, tl.load(rows + tl.arange(0, ROWS)), column)


def any_values(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    return torch.randn(shape).to(dtype) if dtype.is_floating_point else torch.randint(0, 100, shape).to(dtype)


@pytest.mark.sampled
@pytest.mark.parametrize("host", [True, False], ids=["host", "device"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("index", [torch.int16, torch.int32], ids=str)
@pytest.mark.parametrize("column", [0, 8, 40])
def test_gather(host: bool, dtype: torch.dtype, index: torch.dtype, column: int) -> None:
    m, n, wide = 50, 48, DTYPES[dtype]
    x = any_values(dtype, m, n)
    rows = torch.randint(0, m, (16,)).to(index)
    rows[3], rows[7] = 1000, -1  # rows outside are loaded as zeros
    out = torch.ones(16, wide).to(dtype)
    gather_rows[(1,)](argument(x, [1, wide], host), rows, out, column, m, n, STRIDE=n, ROWS=16, BN=wide, HOST=host)
    padded = torch.zeros(m, n + wide).to(dtype)
    padded[:, :n] = x
    expected = padded[rows.long().clamp(0, m - 1), column : column + wide]
    expected[3] = expected[7] = 0
    assert torch.equal(out, expected)


@pytest.mark.sampled
@pytest.mark.parametrize("host", [True, False], ids=["host", "device"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("column", [0, 8, 40])
def test_scatter(host: bool, dtype: torch.dtype, column: int) -> None:
    m, n, wide = 50, 48, DTYPES[dtype]
    x = any_values(dtype, m, n)
    values = any_values(dtype, 16, wide)
    rows = torch.randperm(m)[:16].to(torch.int32)
    expected = x.clone()
    for k, row in enumerate(rows.tolist()):
        if k not in (3, 7):
            expected[row, column : column + wide] = values[k, : n - column]
    rows[3], rows[7] = 1000, -1  # rows outside are not stored
    scatter_rows[(1,)](argument(x, [1, wide], host), rows, values, column, m, n, STRIDE=n, ROWS=16, BN=wide, HOST=host)
    assert torch.equal(x, expected)


@triton.jit
def reduce_tile(
    x, values, M, N, BM: tl.constexpr, BN: tl.constexpr, OP: tl.constexpr, STRIDE: tl.constexpr, HOST: tl.constexpr
):
    target = made(x, M, N, STRIDE, BM, BN, HOST, "zero")
    at = [tl.program_id(0) // 2 * BM, tl.program_id(1) * BN]
    block = tl.load(values + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :])
    if OP == "add":
        target.atomic_add(at, block)
    elif OP == "min":
        target.atomic_min(at, block)
    elif OP == "max":
        target.atomic_max(at, block)
    elif OP == "and":
        target.atomic_and(at, block)
    elif OP == "or":
        target.atomic_or(at, block)
    else:
        tl.static_assert(OP == "xor")
        target.atomic_xor(at, block)


REDUCTIONS = {
    "add": (torch.int32, torch.uint32, torch.uint64, torch.float32, torch.float16, torch.bfloat16),
    "min": (torch.int32, torch.uint32, torch.int64, torch.uint64),
    "max": (torch.int32, torch.uint32, torch.int64, torch.uint64),
    "and": (torch.int32, torch.uint32, torch.int64, torch.uint64),
    "or": (torch.int32, torch.uint32, torch.int64, torch.uint64),
    "xor": (torch.int32, torch.uint32, torch.int64, torch.uint64),
}
NUMPY = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


@pytest.mark.sampled
@pytest.mark.parametrize("host", [True, False], ids=["host", "device"])
@pytest.mark.parametrize(("op", "dtype"), [(op, dtype) for op in REDUCTIONS for dtype in REDUCTIONS[op]], ids=str)
def test_reduce(host: bool, op: str, dtype: torch.dtype) -> None:
    """Two programs update each tile, and some tiles extend beyond the tensor."""
    m, n = 20, 24
    if dtype.is_floating_point:
        x, values = torch.randint(-9, 9, (m, n)).to(dtype), torch.randint(-9, 9, (16, 16)).to(dtype)
    else:
        # Sums wrap around, and the maximum of signed numbers must not compare their bits as unsigned.
        x, values = (torch.randint(-(2**31), 2**31, shape).to(dtype) for shape in ((m, n), (16, 16)))
        if dtype.itemsize == 8:
            x = x * 3
    wide = x.double() if dtype.is_floating_point else x
    tile = (values.double() if dtype.is_floating_point else values).numpy()
    expected = wide.numpy().copy()
    for row in (0, 16):
        for column in (0, 16):
            part = expected[row : row + 16, column : column + 16]
            for _ in range(2):
                part[:] = NUMPY[op](part, tile[: part.shape[0], : part.shape[1]])
    reduce_tile[(4, 2)](argument(x, [16, 16], host), values, m, n, BM=16, BN=16, OP=op, STRIDE=n, HOST=host)
    result = x.double() if dtype.is_floating_point else x
    np.testing.assert_array_equal(result.numpy(), expected)


@triton.jit
def copy_tile(
    x, out, M, N, row, column, BM: tl.constexpr, BN: tl.constexpr, PAD: tl.constexpr, STRIDE: tl.constexpr,
    HOST: tl.constexpr,
):  # fmt: skip
    source = made(x, M, N, STRIDE, BM, BN, HOST, PAD)
    tl.store(
        out + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :],
        source.load([row, column]),
    )


@pytest.mark.sampled
@pytest.mark.parametrize("host", [True, False], ids=["host", "device"])
@pytest.mark.parametrize("padding", ["zero", "nan"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
@pytest.mark.parametrize("at", [(0, 0), (-4, -8), (17, 16), (100, 0)], ids=str)
def test_padding(host: bool, padding: str, dtype: torch.dtype, at: tuple[int, int]) -> None:
    m, n = 20, 24
    x, out = torch.randn(m, n).to(dtype), torch.ones(8, 16).to(dtype)
    copy_tile[(1,)](argument(x, [8, 16], host, padding), out, m, n, *at, BM=8, BN=16, PAD=padding, STRIDE=n, HOST=host)
    around = torch.full((m + 200, n + 200), float("nan") if padding == "nan" else 0.0).to(dtype)
    around[100 : 100 + m, 100 : 100 + n] = x
    expected = around[100 + at[0] : 108 + at[0], 100 + at[1] : 116 + at[1]]
    torch.testing.assert_close(out, expected, atol=0, rtol=0, equal_nan=True)


@triton.jit
def copy_of_rank(source, target, RANK: tl.constexpr):
    p = tl.program_id(0) * 4
    if RANK == 1:
        target.store([p], source.load([p]) * 2)
    elif RANK == 3:
        target.store([0, p, 0], source.load([0, p, 0]) * 2)
    elif RANK == 4:
        target.store([0, 0, p, 0], source.load([0, 0, p, 0]) * 2)
    else:
        target.store([0, 0, 0, p, 0], source.load([0, 0, 0, p, 0]) * 2)


@pytest.mark.parametrize("rank", [1, 3, 4, 5])
def test_ranks(rank: int) -> None:
    shape, block = ([13], [4]) if rank == 1 else ([3] * (rank - 2) + [10, 8], [4] * (rank - 2) + [4, 8])
    x = torch.randn(shape)
    out = torch.zeros_like(x)
    pair = (TensorDescriptor.from_tensor(t, block) for t in (x, out))
    copy_of_rank[(4,)](*pair, RANK=rank)
    assert torch.equal(out, 2 * x)


@triton.jit
def multiply_tf32(x, out):
    i = tl.arange(0, 16)
    tl.store(out + i[:, None] * 16 + i[None, :], x.load([0, 0]))


def test_rounding_to_tf32() -> None:
    """If the host's descriptor asks for tf32, loaded elements keep 10 bits of mantissa."""
    x, out = torch.randn(16, 16), torch.zeros(16, 16)
    multiply_tf32[(1,)](TensorDescriptor.from_tensor(x, [16, 16], round_f32_to_tf32=True), out)
    bits = out.view(torch.int32)
    assert (bits & 0x1FFF == 0).all()
    assert ((out - x).abs() <= x.abs() * 2.0**-11).all()
