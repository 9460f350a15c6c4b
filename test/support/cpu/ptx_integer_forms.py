# SPDX-License-Identifier: Apache-2.0
"""PTX instructions on integers and bits, and choices by predicates."""

from __future__ import annotations

from collections.abc import Callable

from support.cpu import ptx_models as m
from support.cpu.ptx_form import Forms, mask_of

M32, M64 = mask_of(32), mask_of(64)
FORMS = Forms()


def _s(x: int, width: int = 32) -> int:
    return m.signed(x, width)


for bits, mask in ((32, M32), (64, M64)):
    w = bits

    def wrapped(function: Callable[..., int], mask: int = mask) -> Callable[..., int]:
        return lambda *xs: function(*xs) & mask

    for name, function in (("and", lambda x, y: x & y), ("or", lambda x, y: x | y), ("xor", lambda x, y: x ^ y)):
        FORMS.add(f"{name}.b{w}", function, w, w, w)
    FORMS.add(f"not.b{w}", wrapped(lambda x: ~x), w, w)
    FORMS.add(f"cnot.b{w}", lambda x: int(x == 0), w, w)
    FORMS.add(f"shl.b{w}", wrapped(lambda x, n, w=w: x << n if n < w else 0), w, w, 32)
    FORMS.add(f"shr.u{w}", lambda x, n, w=w: x >> n if n < w else 0, w, w, 32)
    FORMS.add(f"shr.s{w}", wrapped(lambda x, n, w=w: _s(x, w) >> min(n, w)), w, w, 32)
    for sign in "us":
        FORMS.add(f"bfe.{sign}{w}", lambda x, p, n, w=w, s=sign: m.field(x, p, n, w, s == "s"), w, w, 32, 32)
        FORMS.add(
            f"bfind.{sign}{w}",
            lambda x, w=w, s=sign: ((x ^ (mask_of(w) if s == "s" and x >> (w - 1) else 0)).bit_length() - 1) & M32,
            32,
            w,
        )
    FORMS.add(f"bfi.b{w}", lambda x, y, p, n, w=w: m.inserted(x, y, p, n, w), w, w, w, 32, 32)
    FORMS.add(f"popc.b{w}", lambda x: x.bit_count(), 32, w)
    FORMS.add(f"clz.b{w}", lambda x, w=w: w - x.bit_length(), 32, w)
    FORMS.add(f"brev.b{w}", lambda x, w=w: int(f"{x:0{w}b}"[::-1], 2), w, w)
    FORMS.add(f"add.u{w}", wrapped(lambda x, y: x + y), w, w, w)
    FORMS.add(f"sub.s{w}", wrapped(lambda x, y: x - y), w, w, w)
    FORMS.add(f"mul.lo.u{w}", wrapped(lambda x, y: x * y), w, w, w)
    FORMS.add(f"mul.hi.u{w}", lambda x, y, w=w: x * y >> w, w, w, w)
    FORMS.add(f"mul.hi.s{w}", wrapped(lambda x, y, w=w: _s(x, w) * _s(y, w) >> w), w, w, w)
    FORMS.add(f"mad.lo.s{w}", wrapped(lambda x, y, z: x * y + z), w, w, w, w)
    FORMS.add(f"min.u{w}", min, w, w, w)
    FORMS.add(f"max.s{w}", lambda x, y, w=w: max(x, y, key=lambda v: _s(v, w)), w, w, w)
    FORMS.add(f"abs.s{w}", wrapped(lambda x, w=w: abs(_s(x, w))), w, w)
    FORMS.add(f"neg.s{w}", wrapped(lambda x: -x), w, w)
    FORMS.add(f"sad.s{w}", wrapped(lambda x, y, z, w=w: abs(_s(x, w) - _s(y, w)) + z), w, w, w, w)


def _clamped(x: int) -> int:
    return min(max(x, -(1 << 31)), (1 << 31) - 1) & M32


FORMS.add("bfind.shiftamt.u32", lambda x: 32 - x.bit_length() if x else M32, 32, 32)
FORMS.add("add.sat.s32", lambda x, y: _clamped(_s(x) + _s(y)), 32, 32, 32)
FORMS.add("sub.sat.s32", lambda x, y: _clamped(_s(x) - _s(y)), 32, 32, 32)
FORMS.add("mul.wide.u32", lambda x, y: x * y, 64, 32, 32)
FORMS.add("mul.wide.s32", lambda x, y: _s(x) * _s(y) & M64, 64, 32, 32)
FORMS.add("mad.wide.u32", lambda x, y, z: x * y + z & M64, 64, 32, 32, 64)
FORMS.add("mad.hi.u32", lambda x, y, z: (x * y >> 32) + z & M32, 32, 32, 32, 32)
FORMS.add("mul24.lo.u32", lambda x, y: (x & 0xFFFFFF) * (y & 0xFFFFFF) & M32, 32, 32, 32)
FORMS.add(
    "dp4a.s32.u32",
    lambda x, y, z: sum(_s(x >> 8 * i & 255, 8) * (y >> 8 * i & 255) for i in range(4)) + z & M32,
    32, 32, 32, 32,
)  # fmt: skip
FORMS.add("max.relu.s32", lambda x, y: max(_s(x), _s(y), 0), 32, 32, 32)
FORMS.add("add.u16x2", m.lanes(lambda x, y: x + y & 0xFFFF), 32, 32, 32)
FORMS.add("min.s16x2", m.lanes(lambda x, y: min(x, y, key=lambda v: _s(v, 16))), 32, 32, 32)
for mode, limit in (("clamp", lambda n: min(n, 32)), ("wrap", lambda n: n & 31)):
    FORMS.add(f"shf.l.{mode}.b32", lambda a, b, n, f=limit: (a | b << 32) << f(n) >> 32 & M32, 32, 32, 32, 32)
    FORMS.add(f"shf.r.{mode}.b32", lambda a, b, n, f=limit: (a | b << 32) >> f(n) & M32, 32, 32, 32, 32)
for table in (0x96, 0xEA, 0xF8, 0xCA, 0x1D, 0x40, 0x00, 0xFF):
    FORMS.add(
        f"lop3.b32 (0x{table:02x})",
        lambda a, b, c, t=table: sum(
            (t >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1) & 1) << i for i in range(32)
        ),
        32, 32, 32, 32, text=f"lop3.b32 $0, $1, $2, $3, 0x{table:02x};",
    )  # fmt: skip
for mode in ("", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
    dotted = f".{mode}" if mode else ""
    FORMS.add(f"prmt.b32{dotted}", lambda a, b, s, mode=mode: m.permuted(a, b, s, mode), 32, 32, 32, 32)

# Comparisons, choices and moves
for compare, function in (
    ("lt", lambda x, y: x < y),
    ("neu", lambda x, y: x != y),
    ("geu", lambda x, y: not x < y),
):
    FORMS.add(
        f"setp.{compare}.f32, selp.b32",
        lambda x, y, f=function: x if f(m.decode(x, "f32"), m.decode(y, "f32")) else y, 32, 32, 32,
        text=f"{{ .reg .pred p; setp.{compare}.f32 p, $1, $2; selp.b32 $0, $1, $2, p; }}",
    )  # fmt: skip
FORMS.add("set.le.u32.s32", lambda x, y: M32 if _s(x) <= _s(y) else 0, 32, 32, 32)
FORMS.add("slct.b32.s32", lambda x, y, z: x if _s(z) >= 0 else y, 32, 32, 32, 32)
FORMS.add(
    "@!p",
    lambda x, y: x + y & M32 if x >= y else y, 32, 32, 32,
    text="{ .reg .pred p, q; setp.lt.u32 p|q, $1, $2; mov.b32 $0, $2; @!p add.u32 $0, $1, $2; }",
)  # fmt: skip
FORMS.add(
    "testp.subnormal.f32",
    lambda x: int(0 < x & M32 >> 1 < 1 << 23), 32, 32,
    text="{ .reg .pred p; testp.subnormal.f32 p, $1; selp.u32 $0, 1, 0, p; }",
)  # fmt: skip
FORMS.add(
    "mov.b32 {…}",
    lambda x: (x & 0xFFFF) << 16 | x >> 16, 32, 32,
    text="{ .reg .b16 low, high; mov.b32 {low, high}, $1; mov.b32 $0, {high, low}; }",
)  # fmt: skip
