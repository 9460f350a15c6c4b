# SPDX-License-Identifier: Apache-2.0
"""PTX conversions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from support.cpu import ptx_models as m
from support.cpu.ptx_float_forms import real
from support.cpu.ptx_form import Forms, mask_of

M32 = mask_of(32)
FORMS = Forms()


def _s(x: int, width: int = 32) -> int:
    return m.signed(x, width)


# Conversions
for sign in "us":
    for w in (8, 16, 32, 64):
        FORMS.add(f"cvt.rzi.{sign}{w}.f32", m.to_integer("f32", w, sign == "s", "rzi"), max(w, 32), 32)
    for mode in ("rni", "rmi", "rpi"):
        FORMS.add(f"cvt.{mode}.{sign}32.f32", m.to_integer("f32", 32, sign == "s", mode), 32, 32)
    FORMS.add(f"cvt.rni.{sign}32.f64", m.to_integer("f64", 32, sign == "s", "rni"), 32, 64)
    for mode in ("rn", "rz", "rm", "rp"):
        FORMS.add(
            f"cvt.{mode}.f32.{sign}32",
            lambda x, s=sign, mode=mode: m.encode(Fraction(_s(x) if s == "s" else x), "f32", mode),
            32, 32, kind="f32",
        )  # fmt: skip
    FORMS.add(
        f"cvt.rn.f16.{sign}64",
        lambda x, s=sign: m.encode(Fraction(_s(x, 64) if s == "s" else x), "f16"), 16, 64, kind="f16",
    )  # fmt: skip
FORMS.add("cvt.u32.u8", lambda x: x & 255, 32, 32)
FORMS.add("cvt.s32.s8", lambda x: _s(x & 255, 8) & M32, 32, 32)
FORMS.add("cvt.sat.s8.s32", lambda x: min(max(_s(x), -128), 127) & M32, 32, 32)
FORMS.add("cvt.sat.u8.s32", lambda x: min(max(_s(x), 0), 255), 32, 32)
FORMS.add("cvt.sat.u32.s32", lambda x: max(_s(x), 0), 32, 32)
FORMS.add("cvt.sat.s32.u32", lambda x: min(x, M32 >> 1), 32, 32)


def _to(x: int, source: str, kind: str, mode: str = "rn", finite: bool = False, relu: bool = False) -> int:
    value = m.decode(x, source)
    negative = bool(x >> (m.WIDTHS[source] - 1))
    if relu and not m.is_nan(value) and negative:
        value, negative = Fraction(0), False
    found = m.encode(value, kind, mode, negative)
    infinity = m.encode(float("inf"), kind)
    if finite and found & mask_of(m.WIDTHS[kind] - 1) == infinity:
        found -= 1
    return found


for kind in ("f16", "bf16"):
    for mode in ("rn", "rz"):
        FORMS.add(f"cvt.{mode}.{kind}.f32", lambda x, k=kind, o=mode: _to(x, "f32", k, o), 16, 32, kind=kind)
        for more in ("", ".relu", ".satfinite"):
            FORMS.add(
                f"cvt.{mode}{more}.{kind}x2.f32",
                lambda x, y, k=kind, o=mode, e=more: (
                    _to(y, "f32", k, o, "sat" in e, "relu" in e) | _to(x, "f32", k, o, "sat" in e, "relu" in e) << 16
                ),
                32, 32, 32, kind=kind, lanes=2,
            )  # fmt: skip
    FORMS.add(f"cvt.f32.{kind}", lambda x, k=kind: _to(x, k, "f32"), 32, 16, kind="f32")
for mode in ("rn", "rz", "rm", "rp"):
    FORMS.add(f"cvt.{mode}.f32.f64", lambda x, o=mode: _to(x, "f64", "f32", o), 32, 64, kind="f32")


def _tf32(x: int) -> int:
    return x if x & 0x7F800000 == 0x7F800000 else (x + 0x1000 & ~0x1FFF) & M32


FORMS.add("cvt.rna.tf32.f32", _tf32, 32, 32, kind="f32")
FORMS.add("cvt.rni.f32.f32", real(np.rint), 32, 32, kind="f32")


def _small(x: int, source: str, kind: str, relu: bool = False) -> int:
    """Returns the code of the nearest number in a table of all numbers; of two, the even one."""
    value, negative = m.decode(x, source), bool(x >> (m.WIDTHS[source] - 1))
    nan, largest, bias, fraction, sign = {
        "e4m3": (0x7F, 0x7E, 7, 3, 0x80), "e5m2": (0x7F, 0x7B, 15, 2, 0x80), "e2m1": (0x7, 0x7, 1, 1, 0x8),
    }[kind]  # fmt: skip
    if m.is_nan(value):
        return nan
    if relu and negative:
        return 0

    def number(code: int) -> Fraction:
        exponent, rest = code >> fraction, Fraction(code & (1 << fraction) - 1, 1 << fraction)
        return (rest + bool(exponent)) * Fraction(2) ** (max(exponent, 1) - bias)

    size = number(largest) if isinstance(value, float) else min(abs(value), number(largest))
    best = min(range(largest + 1), key=lambda code: (abs(number(code) - size), code % 2))
    return best | (sign if negative else 0)


for kind in ("e4m3", "e5m2"):
    for more in ("", ".relu"):
        FORMS.add(
            f"cvt.rn.satfinite{more}.{kind}x2.f32",
            lambda x, y, k=kind, r=bool(more): _small(y, "f32", k, r) | _small(x, "f32", k, r) << 8,
            16, 32, 32, kind=f"{kind}x2",
        )  # fmt: skip
    FORMS.add(
        f"cvt.rn.satfinite.{kind}x2.f16x2",
        lambda x, k=kind: _small(x & 0xFFFF, "f16", k) | _small(x >> 16, "f16", k) << 8, 16, 32, kind=f"{kind}x2",
    )  # fmt: skip


def _of_small(code: int, kind: str) -> int:
    fraction, bias, nans, width = {
        "e4m3": (3, 7, (0x7F,), 8), "e5m2": (2, 15, (0x7D, 0x7E, 0x7F), 8), "e2m1": (1, 1, (), 4),
    }[kind]  # fmt: skip
    size, sign = code & mask_of(width - 1), code >> (width - 1)
    if size in nans:
        return 0x7FFF
    exponent, rest = size >> fraction, Fraction(size & (1 << fraction) - 1, 1 << fraction)
    value: float | Fraction = (rest + bool(exponent)) * Fraction(2) ** (max(exponent, 1) - bias)
    if kind == "e5m2" and size == 0x7C:
        value = float("inf")
    return m.encode(value, "f16") | sign << 15


for kind in ("e4m3", "e5m2"):
    FORMS.add(
        f"cvt.rn.f16x2.{kind}x2",
        lambda x, k=kind: _of_small(x & 255, k) | _of_small(x >> 8, k) << 16, 32, 16, kind="f16", lanes=2,
    )  # fmt: skip
FORMS.add(
    "cvt.rn.satfinite.e2m1x2.f32",
    lambda x, y: _small(y, "f32", "e2m1") | _small(x, "f32", "e2m1") << 4, 32, 32, 32,
    text="{ .reg .b8 t; cvt.rn.satfinite.e2m1x2.f32 t, $1, $2; cvt.u32.u8 $0, t; }",
)  # fmt: skip
FORMS.add(
    "cvt.rn.f16x2.e2m1x2",
    lambda x: _of_small(x & 15, "e2m1") | _of_small(x >> 4 & 15, "e2m1") << 16, 32, 32, kind="f16", lanes=2,
    text="{ .reg .b8 a, b, c, d; mov.b32 {a, b, c, d}, $1; cvt.rn.f16x2.e2m1x2 $0, a; }",
)  # fmt: skip


def _scale(x: int, up: bool) -> int:
    size = m.decode(x & M32 >> 1, "f32")
    if m.is_nan(size):
        return 255
    if isinstance(size, float):
        return 254
    codes = [code for code in range(255) if (Fraction(2) ** (code - 127) >= size) == up or code == (254 if up else 0)]
    exact = [code for code in range(255) if Fraction(2) ** (code - 127) == size]
    return exact[0] if exact else min(codes) if up else max(codes)


for mode in ("rz", "rp"):
    FORMS.add(
        f"cvt.{mode}.satfinite.ue8m0x2.f32",
        lambda x, y, u=mode == "rp": _scale(y, u) | _scale(x, u) << 8, 16, 32, 32,
    )  # fmt: skip
FORMS.add(
    "cvt.pack.sat.s8.s32.b32",
    lambda x, y, z: (
        (min(max(_s(y), -128), 127) & 255) | (min(max(_s(x), -128), 127) & 255) << 8 | (z & 0xFFFF) << 16
    ),
    32, 32, 32, 32,
)  # fmt: skip
