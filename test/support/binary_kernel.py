# SPDX-License-Identifier: Apache-2.0
"""Kernels for one and for several operations of two operands.

The tests of the CPU backend (test_elementwise.py, support.cpu.interpreter_cases) and of linalg (support.linalg.kernels)
compare it with torch and with Triton's interpreter.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def binary(x, y, out, n, OP: tl.constexpr, BLOCK: tl.constexpr):  # noqa: PLR0917
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    a = tl.load(x + i, mask=m, other=1)
    b = tl.load(y + i, mask=m, other=1)
    if OP == "add":
        r = a + b
    elif OP == "sub":
        r = a - b
    elif OP == "mul":
        r = a * b
    elif OP == "div":
        r = a / b
    elif OP == "floordiv":
        r = a // b
    elif OP == "mod":
        r = a % b
    elif OP == "and":
        r = a & b
    elif OP == "or":
        r = a | b
    elif OP == "xor":
        r = a ^ b
    elif OP == "shl":
        r = a << (b & 7)
    elif OP == "shr":
        r = a >> (b & 7)
    elif OP == "min":
        r = tl.minimum(a, b)
    elif OP == "max":
        r = tl.maximum(a, b)
    elif OP == "max_nan":
        r = tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
    elif OP == "compare":
        r = (a < b).to(tl.int8) | (a <= b).to(tl.int8) << 1 | (a > b).to(tl.int8) << 2
        r = r | (a >= b).to(tl.int8) << 3 | (a == b).to(tl.int8) << 4 | (a != b).to(tl.int8) << 5
    elif OP == "umulhi":
        r = tl.umulhi(a, b)
    elif OP == "div_rn":
        r = tl.div_rn(a, b)
    elif OP == "fma":
        r = tl.fma(a, b, a)
    elif OP == "clamp":
        r = tl.clamp(a, b, b + 2)
    elif OP == "where":
        r = tl.where(a < b, a, b)
    elif OP == "lt":
        r = a < b
    elif OP == "eq":
        r = a == b
    else:
        tl.static_assert(OP == "ne")
        r = a != b
    tl.store(out + i, r.to(out.dtype.element_ty), mask=m)


@triton.jit
def binaries(x, ys, outs, n, OPS: tl.constexpr, BLOCK: tl.constexpr):  # noqa: PLR0917
    """Each operation, with a second operand and a result of its own: one compilation instead of many."""
    for k in tl.static_range(len(OPS)):
        binary(x, ys[k], outs[k], n, OPS[k], BLOCK)
