# SPDX-License-Identifier: Apache-2.0
"""Conversions of ``fp8e4b15``. MLIR has no type for it, so Triton's compiler treats it as a byte.

An ``fp8e4b15`` is an fp16 without the seven lowest bits of the mantissa and the highest bit of the exponent. It has
neither infinity nor NaN. As on NVIDIA's GPUs, a number beyond 1.75 or -1.75 becomes that number, NaN becomes 1.75 with
its sign, and ties round away from zero.
"""

from __future__ import annotations

from typing import Any

from triton import language as tl
from triton._C.libtriton import ir


def _to_half(bits: Any, semantic: Any) -> Any:
    wide = bits.to(tl.uint16, _semantic=semantic)
    sign = wide.__and__(0x80, _semantic=semantic).__lshift__(8, _semantic=semantic)
    magnitude = wide.__and__(0x7F, _semantic=semantic).__lshift__(7, _semantic=semantic)
    return sign.__or__(magnitude, _semantic=semantic).to(tl.float16, bitcast=True, _semantic=semantic)


def _from_half(value: Any, toward_zero: bool, semantic: Any) -> Any:
    wide = value.to(tl.uint16, bitcast=True, _semantic=semantic)
    sign = wide.__rshift__(8, _semantic=semantic).__and__(0x80, _semantic=semantic)
    magnitude = tl.minimum(wide.__and__(0x7FFF, _semantic=semantic), 0x3F00, _semantic=semantic)
    if not toward_zero:
        magnitude = magnitude.__add__(0x40, _semantic=semantic)
    magnitude = magnitude.__rshift__(7, _semantic=semantic)
    return sign.__or__(magnitude, _semantic=semantic).to(tl.uint8, _semantic=semantic)


@tl.core.builtin  # type: ignore[untyped-decorator]
def convert_fp8e4b15(arg: Any, dst_ty: Any, fp_downcast_rounding: Any = None, _semantic: Any = None) -> Any:
    """Converts `arg` from or to ``fp8e4b15``; Triton's frontend calls it for every such conversion."""
    if arg.type.scalar.is_fp8e4b15():
        half = _to_half(arg.to(tl.uint8, bitcast=True, _semantic=_semantic), _semantic)
        return half.to(dst_ty, _semantic=_semantic)
    if not arg.type.scalar.is_floating() or arg.type.scalar.is_bf16():
        arg = arg.to(tl.float32, _semantic=_semantic)
    if arg.type.scalar.primitive_bitwidth > 16:
        # Truncate: rounding to the nearest could turn a number just below a tie into the tie, which then rounds up.
        arg = arg.to(tl.float16, fp_downcast_rounding="rtz", _semantic=_semantic)
    elif arg.type.scalar.primitive_bitwidth < 16:
        arg = arg.to(tl.float16, _semantic=_semantic)
    bits = _from_half(arg, fp_downcast_rounding == ir.ROUNDING_MODE.RTZ, _semantic)
    return bits.to(tl.float8e4b15, bitcast=True, _semantic=_semantic)
