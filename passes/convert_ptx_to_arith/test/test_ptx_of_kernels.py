# SPDX-License-Identifier: Apache-2.0
"""Kernels whose inline PTX has the idioms of Triton's own library, of its documentation, and of PyTorch's compiler."""

from __future__ import annotations

import pytest
import triton
import triton.language as tl
from triton.language.extra.cuda import utils

torch = pytest.importorskip("torch")
pytest.importorskip("triton_ext.backends.cpu.driver")

pytestmark = pytest.mark.usefixtures("on_cpu")


@triton.jit
def of_fp8e4b15(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, utils.convert_fp8e4b15_to_float16(tl.load(x + i).to(tl.float8e4b15, bitcast=True)))


@triton.jit
def to_fp8e4b15(x, out, N: tl.constexpr, HAS_MIN: tl.constexpr):
    i = tl.arange(0, N)
    found = utils.convert_float16_to_fp8e4b15(tl.load(x + i), HAS_MIN)
    tl.store(out + i, found.to(tl.uint8, bitcast=True))


def numbers() -> torch.Tensor:
    """Returns the numbers of fp8e4b15 in the order of their codes."""
    codes = torch.arange(256, dtype=torch.float64)
    size, sign = codes % 128, 1 - 2 * (codes >= 128).double()
    exponent, rest = size // 8, size % 8 / 8
    number = torch.where(exponent > 0, (1 + rest) * 2 ** (exponent - 15), rest * 2**-14)
    return (sign * number).to(torch.float16)


def test_tritons_conversion_from_fp8e4b15() -> None:
    out = torch.zeros(256, dtype=torch.float16)
    of_fp8e4b15[(1,)](torch.arange(256, dtype=torch.int16).to(torch.uint8), out, 256)
    assert torch.equal(out, numbers())


@pytest.mark.parametrize("has_min", [True, False])
def test_tritons_conversion_to_fp8e4b15(has_min: bool) -> None:
    """Every number of the format keeps its code; what is too large becomes 1.75, the code before the last."""
    x = torch.cat([numbers(), torch.full((256,), 1000.0, dtype=torch.float16)])
    out = torch.zeros(512, dtype=torch.uint8)
    to_fp8e4b15[(1,)](x, out, 512, has_min)
    wanted = torch.arange(256).to(torch.uint8)
    wanted[[127, 255]] -= 1  # 1.875 is more than the largest number that the conversion knows
    assert torch.equal(out[:256], wanted)
    assert (out[256:] == 126).all()


@triton.jit
def of_the_documentation(a, b, c, d, N: tl.constexpr):
    i = tl.arange(0, N)
    (integer, larger) = tl.inline_asm_elementwise(
        asm="""
        {
            // Unpack the bytes.
            .reg .b8 byte<4>;
            mov.b32 {byte0, byte1, byte2, byte3}, $8;
            cvt.u32.u8 $0, byte0;
            cvt.u32.u8 $1, byte1;
            cvt.u32.u8 $2, byte2;
            cvt.u32.u8 $3, byte3;
        }
        cvt.rn.f32.s32 $4, $0;
        cvt.rn.f32.s32 $5, $1;
        cvt.rn.f32.s32 $6, $2;
        cvt.rn.f32.s32 $7, $3;
        max.f32 $4, $4, $9;
        max.f32 $5, $5, $10;
        max.f32 $6, $6, $11;
        max.f32 $7, $7, $12;
        """,
        constraints="=r,=r,=r,=r,=r,=r,=r,=r,r,r,r,r,r",
        args=[tl.load(a + i), tl.load(b + i)],
        dtype=(tl.int32, tl.float32),
        is_pure=True,
        pack=4,
    )
    tl.store(c + i, integer)
    tl.store(d + i, larger)


def test_two_results_of_packs() -> None:
    a = torch.arange(256, dtype=torch.int16).to(torch.uint8).reshape(4, 64).T.reshape(-1).contiguous()
    b = torch.linspace(300, -20, 256)
    c, d = torch.zeros(256, dtype=torch.int32), torch.zeros(256)
    of_the_documentation[(1,)](a, b, c, d, 256)
    assert torch.equal(c, a.int())
    assert torch.equal(d, torch.maximum(a.float(), b))


@triton.jit
def with_pairs(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    found = tl.inline_asm_elementwise(
        """{ .reg .b64 x, y; mov.b64 x, {$2, $3}; mov.b64 y, {$4, $5};
        fma.rn.f32x2 x, x, y, y; mov.b64 {$0, $1}, x; }""",
        "=f,=f,f,f,f,f",
        [v, v + 1],
        dtype=tl.float32,
        is_pure=True,
        pack=2,
    )
    tl.store(out + i, found)


def test_two_floats_in_a_register() -> None:
    x, out = torch.arange(64.0), torch.zeros(64)
    with_pairs[(1,)](x, out, 64)
    assert torch.equal(out, x * (x + 1) + (x + 1))


@triton.jit
def scales(x, out, y, n, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    code = tl.inline_asm_elementwise(
        "cvt.rp.satfinite.ue8m0x2.f32 $0, 0.0, $1;", "=h,f", [v], dtype=tl.uint16, is_pure=True, pack=1
    )
    tl.store(out + i, code)
    # A scalar, and a loop around the assembly
    total = 0.0
    for k in range(n):
        total += tl.inline_asm_elementwise("sqrt.approx.ftz.f32 $0, $1;", "=f,f", [tl.load(x + k)], tl.float32, True, 1)
    tl.store(y, total)


def test_pytorchs_scales_and_scalars_in_a_loop() -> None:
    x = torch.tensor([1.0, 1.5, 4.0, 5.0, 0.25, 2.0**100, 3.0e38, 2.0**-127])
    out, y = torch.zeros(8, dtype=torch.int16), torch.zeros(1)
    scales[(1,)](x, out, y, 3, 8)
    assert out.tolist() == [127, 128, 129, 130, 125, 227, 254, 0]
    assert y.item() == pytest.approx(1 + 1.5**0.5 + 2)
