# SPDX-License-Identifier: Apache-2.0
"""PTX's video instructions, and others on the parts of a word."""

from __future__ import annotations

from support.cpu import ptx_models as m
from support.cpu import ptx_video_models as v
from support.cpu.ptx_form import Forms, mask_of

M32 = mask_of(32)
FORMS = Forms()


def _dotted(*parts: str) -> list[str]:
    return [f".{part}" if part else "" for part in parts]


def _scalar(name: str, d: str = "", a: str = "", b: str = "", third: bool = False) -> None:
    """Adds an instruction on parts of words, with c if it has a `third` operand."""
    to, x, y = _dotted(d, a, b)
    text = f"{name} $0{to}, $1{x}, $2{y}{', $3' if third else ''};"
    shown = ", ".join(each for each in (d and f"d.{d}", a and f"a.{a}", b and f"b.{b}") if each)
    FORMS.add(
        name + (f" ({shown})" if shown else ""),
        v.of_parts(name, d, a, b),
        32,
        32,
        32,
        *([32] if third else []),
        text=text,
    )


def _lanes(name: str, mask: str = "", a: str = "", b: str = "") -> None:
    to, x, y = _dotted(mask, a, b)
    shown = ", ".join(each for each in (mask and f"d.{mask}", a and f"a.{a}", b and f"b.{b}") if each)
    FORMS.add(
        name + (f" ({shown})" if shown else ""), v.of_lanes(name, mask, a, b), 32, 32, 32, 32,
        text=f"{name} $0{to}, $1{x}, $2{y}, $3;",
    )  # fmt: skip


for opcode in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
    for types in ("u32.u32.u32", "s32.s32.s32", "s32.u32.s32", "u32.s32.u32"):
        _scalar(f"{opcode}.{types}")
        _scalar(f"{opcode}.{types}.sat")
    _scalar(f"{opcode}.s32.s32.s32", "", "b3", "h1")
    _scalar(f"{opcode}.s32.u32.u32", "h1", "b1", "b2", third=True)
    _scalar(f"{opcode}.u32.s32.u32.sat", "b2", "h0", "b0", third=True)
    for second in ("add", "min", "max"):
        _scalar(f"{opcode}.s32.s32.u32.sat.{second}", third=True)
    _scalar(f"{opcode}.s32.u32.u32.min", "", "h1", "b3", third=True)
_scalar("vadd.u32.u32.u32.add", third=True)
for extremum in ("min", "max"):
    _scalar(f"v{extremum}.s32.s32.s32.{extremum}", third=True)
    _scalar(f"v{extremum}.u32.u32.u32.{extremum}", third=True)
for compare in v.COMPARISONS:
    _scalar(f"vset.u32.s32.{compare}")
_scalar("vset.u32.u32.lt.add", third=True)
_scalar("vset.s32.u32.ge.max", third=True)
_scalar("vset.s32.s32.gt", "b3", "b0", "h1", third=True)
for shift in ("vshl", "vshr"):
    for mode in ("clamp", "wrap"):
        _scalar(f"{shift}.u32.u32.u32.{mode}")
        _scalar(f"{shift}.s32.s32.u32.{mode}", "", "h1", "b0")
    _scalar(f"{shift}.u32.u32.u32.clamp.add", third=True)
    _scalar(f"{shift}.u32.s32.u32.wrap", "h1", "h0", "b1", third=True)
_scalar("vshr.s32.s32.u32.sat.clamp", "b1", "h1", "b0", third=True)


def _multiply_add(name: str, a: str = "", b: str = "", minus: str = "") -> None:
    signs = ["-" if operand in minus else "" for operand in "abc"]
    x, y = _dotted(a, b)
    shown = ", ".join([f"{sign}{operand}{part}" for sign, operand, part in zip(signs, "abc", (x, y, ""), strict=True)])
    FORMS.add(
        name + (f" ({shown})" if a or b or minus else ""), v.multiply_add(name, a, b, minus), 32, 32, 32, 32,
        text=f"{name} $0, {signs[0]}$1{x}, {signs[1]}$2{y}, {signs[2]}$3;",
    )  # fmt: skip


for types in ("u32.u32.u32", "s32.s32.s32", "s32.u32.s32"):
    for modifiers in ("", ".sat", ".po", ".shr7", ".sat.shr15", ".po.sat.shr7"):
        _multiply_add(f"vmad.{types}{modifiers}")
    _multiply_add(f"vmad.{types}", "h1", "b2", minus="a")
    _multiply_add(f"vmad.{types}.sat.shr7", "h0", "h1", minus="c")
_multiply_add("vmad.s32.s32.u32.sat", minus="b")

for count, kind in ((2, "h"), (4, "b")):
    for opcode in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"):
        for types in ("u32.u32.u32", "s32.s32.s32", "s32.u32.s32"):
            for more in ("", ".sat", ".add"):
                _lanes(f"{opcode}{count}.{types}{more}")
    for compare in v.COMPARISONS:
        _lanes(f"vset{count}.u32.u32.{compare}")
    _lanes(f"vset{count}.s32.s32.lt")
    _lanes(f"vset{count}.s32.u32.ge.add")
    _lanes(f"vabsdiff{count}.u32.s32.s32.add", f"{kind}1")
    _lanes(f"vsub{count}.s32.s32.s32.sat", f"{kind}0")
_lanes("vadd2.s32.s32.s32", "h10", "h03", "h21")
_lanes("vadd4.u32.u32.u32", "b310", "b0246", "b7531")
_lanes("vset4.u32.s32.ne.add", "b20", "b7654", "b0123")

FORMS.add(
    "dp4a.u32.u32",
    lambda x, y, z: sum((x >> 8 * i & 255) * (y >> 8 * i & 255) for i in range(4)) + z & M32, 32, 32, 32, 32,
)  # fmt: skip
for half, at in (("lo", 0), ("hi", 2)):
    FORMS.add(
        f"dp2a.{half}.s32.u32",
        lambda x, y, z, at=at: sum(
            m.signed(x >> 16 * i & 0xFFFF, 16) * (y >> 8 * (at + i) & 255) for i in range(2)
        ) + z & M32,
        32, 32, 32, 32,
    )  # fmt: skip


def _field(position: int, length: int, wraps: bool) -> int:
    if wraps:
        position, length = position & 31, length & 31
    return sum(1 << i for i in range(32) if position <= i < position + length)


def _extended(x: int, length: int, wraps: bool, is_signed: bool) -> int:
    length = length & 31 if wraps else min(length, 32)
    low = x & mask_of(length)
    return (m.signed(low, length) if is_signed and length else low) & M32


for mode in ("clamp", "wrap"):
    FORMS.add(f"bmsk.{mode}.b32", lambda p, n, w=mode == "wrap": _field(p, n, w), 32, 32, 32)
    for sign in "us":
        FORMS.add(
            f"szext.{mode}.{sign}32",
            lambda x, n, w=mode == "wrap", s=sign == "s": _extended(x, n, w, s), 32, 32, 32,
        )  # fmt: skip
