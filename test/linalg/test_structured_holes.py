# SPDX-License-Identifier: Apache-2.0
"""What triton-shared is known not to do, or to do wrong, works by way of `tts`."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
import triton_ext.linalg

from support.linalg import execute

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("stock")]


@pytest.fixture(params=[False, True])
def through(request: pytest.FixtureRequest):
    """Executes kernels, with memory that ends, or begins, at a page without access rights."""
    with execute.through_linalg(at_end=request.param, via="structured"):
        yield


@triton.jit
def scalars(x, out, n):
    for i in range(16):
        tl.store(out + i, tl.load(x + i, mask=i < n, other=-1), mask=i < n + 1)


@pytest.mark.usefixtures("through")
def test_scalar_accesses_keep_their_mask() -> None:
    x, out = torch.arange(5, dtype=torch.int32), torch.full((6,), 9, dtype=torch.int32)
    scalars[(1,)](x, out, 5)
    assert out.tolist() == [0, 1, 2, 3, 4, -1]


@triton.jit
def everything(x, y, out, m, n, k, flip, M: tl.constexpr, N: tl.constexpr):  # noqa: PLR0917
    i, j = tl.arange(0, M), tl.arange(0, N)
    if flip > 0:  # noqa: SIM108 -- the shortest kernel with an scf.if
        p = x + (i % m)[:, None] * n + (j % n)[None, :]
    else:
        p = y + i[:, None] * n + (j % k)[None, :]
    outer = (i < m)[:, None] & (j < n)[None, :]
    if k > 1:
        inner = outer & (i > 0)[:, None] & (j < k)[None, :]
        tl.store(out + i[:, None] * N + j[None, :], tl.load(p, mask=inner, other=-1), mask=outer)


@pytest.mark.usefixtures("through")
@pytest.mark.parametrize("flip", [0, 1])
def test_modulos_pointers_of_a_branch_and_nested_masks(flip: int) -> None:
    m, n, k, rows, columns = 3, 5, 4, 4, 8
    x = torch.arange(m * n, dtype=torch.int32).reshape(m, n)
    y, out = x + 100, torch.full((rows, columns), 9, dtype=torch.int32)
    everything[(1,)](x, y, out, m, n, k, flip, M=rows, N=columns)
    expected = torch.full((rows, columns), 9, dtype=torch.int32)
    expected[:m, :n] = -1
    expected[1:m, :k] = (x if flip else y)[1:, :k]
    assert out.equal(expected)
    signature = "*i32, *i32, *i32, i32, i32, i32, i32, 4, 8"
    assert "linalg_ext.gather" not in triton_ext.linalg.compile(everything, signature, via="structured")


@triton.jit
def conjunction(a, b):
    return a & b


@triton.jit
def along(x, out, sums, N: tl.constexpr):
    i = tl.arange(0, N)
    values = tl.load(x + i)
    tl.store(out + i, tl.cumsum(values, reverse=True))
    tl.store(sums, tl.reduce(values, 0, conjunction))
    tl.store(sums + 1 + i % 4, tl.histogram(values % 4, 4).gather(i % 4, 0), mask=i < 4)


@pytest.mark.usefixtures("through")
def test_reductions_scans_histogram_and_gather() -> None:
    x = torch.tensor([7, 15, 23, 6, 14, 30, 31, 22], dtype=torch.int32)
    out, sums = torch.zeros(8, dtype=torch.int32), torch.zeros(5, dtype=torch.int32)
    along[(1,)](x, out, sums, N=8)
    assert out.equal(x.flip(0).cumsum(0).flip(0).to(torch.int32))
    assert sums.tolist() == [6, 0, 0, 4, 4]


@triton.jit
def exchange(x, old, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(old + i, tl.atomic_cas(x + i, i, i * 10))


@pytest.mark.usefixtures("through")
def test_compare_and_swap() -> None:
    x, old = torch.tensor([0, 1, 5, 3], dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
    exchange[(1,)](x, old, N=4)
    assert x.tolist() == [0, 10, 5, 30]
    assert old.tolist() == [0, 1, 5, 3]


@triton.jit
def halves(x, a: tl.float16, b: tl.bfloat16, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.device_print("a", a)
    tl.store(x + i, tl.load(x + i) * a + b)


@pytest.mark.usefixtures("through")
def test_scalars_of_16_bits_and_prints(capfd: pytest.CaptureFixture[str]) -> None:
    text = triton_ext.linalg.compile(halves, "*fp32, fp16, bf16, 16", via="structured")
    assert "%arg1: f16, %arg2: bf16" in text
    x = torch.arange(16, dtype=torch.float32)
    halves[(1,)](x, 1.7, 0.1, N=16)
    a, b = torch.tensor(1.7, dtype=torch.float16), torch.tensor(0.1, dtype=torch.bfloat16)
    torch.testing.assert_close(x, torch.arange(16) * a.float() + b.float(), rtol=1e-6, atol=0)
    assert capfd.readouterr().out == f"pid (0, 0, 0) idx () a: {a.item():f}\n"


@triton.jit
def scaled(a, sa, b, sb, out, N: tl.constexpr):  # noqa: PLR0917
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    s = i * (N // 32) + tl.arange(0, N // 32)[None, :]
    c = tl.dot_scaled(tl.load(a + i * N + j), tl.load(sa + s), "e5m2", tl.load(b + i * N + j), tl.load(sb + s), "e5m2")
    tl.store(out + i * N + j, c)


@pytest.mark.usefixtures("through")
def test_dot_scaled() -> None:
    a, b = (torch.randn(32, 32, generator=torch.Generator().manual_seed(seed)).to(torch.float8_e5m2) for seed in (0, 1))
    sa, sb = torch.arange(120, 152, dtype=torch.uint8), torch.arange(100, 132, dtype=torch.uint8)
    out = torch.zeros(32, 32)
    scaled[(1,)](a.view(torch.uint8), sa, b.view(torch.uint8), sb, out, N=32)
    left = a.to(torch.float64) * 2.0 ** (sa.to(torch.float64) - 127)[:, None]
    right = b.to(torch.float64) * 2.0 ** (sb.to(torch.float64) - 127)[None, :]
    torch.testing.assert_close(out, (left @ right).float(), rtol=1e-4, atol=1e-8)
