# SPDX-License-Identifier: Apache-2.0
"""PTX arithmetic of floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from support.cpu import ptx_models as m
from support.cpu.ptx_form import Forms, mask_of

M32 = mask_of(32)
FORMS = Forms()


# Floats
for kind in ("f32", "f64", "f16", "bf16"):
    w = m.WIDTHS[kind]
    for name in ("add", "sub", "mul"):
        FORMS.add(f"{name}.rn.{kind}", m.arithmetic(name, kind), w, w, w, kind=kind)
    FORMS.add(f"fma.rn.{kind}", m.arithmetic("fma", kind), w, w, w, w, kind=kind)
    FORMS.add(f"min.{kind}", m.extremum(False, kind), w, w, w, kind=kind)
    FORMS.add(f"max.{kind}", m.extremum(True, kind), w, w, w, kind=kind)
    FORMS.add(f"abs.{kind}", lambda x, w=w: x & mask_of(w - 1), w, w)
    FORMS.add(f"neg.{kind}", lambda x, w=w: x ^ 1 << (w - 1), w, w)
for kind in ("f16", "bf16"):
    for name in ("add", "mul"):
        FORMS.add(f"{name}.{kind}x2", m.lanes(m.arithmetic(name, kind)), 32, 32, 32, kind=kind, lanes=2)
    FORMS.add(f"fma.rn.{kind}x2", m.lanes(m.arithmetic("fma", kind)), 32, 32, 32, 32, kind=kind, lanes=2)
    FORMS.add(f"min.{kind}x2", m.lanes(m.extremum(False, kind)), 32, 32, 32, kind=kind, lanes=2)
    FORMS.add(f"max.NaN.{kind}x2", m.lanes(m.extremum(True, kind, True)), 32, 32, 32, kind=kind, lanes=2)
FORMS.add("fma.rn.f32x2", m.lanes(m.arithmetic("fma", "f32"), 32), 64, 64, 64, 64, kind="f32", lanes=2)
FORMS.add("max.NaN.f32", m.extremum(True, "f32", True), 32, 32, 32, kind="f32")
for mode in ("rz", "rm", "rp"):
    for name in ("add", "mul"):
        FORMS.add(f"{name}.{mode}.f32", m.arithmetic(name, "f32", mode), 32, 32, 32, kind="f32")
    FORMS.add(f"fma.{mode}.f32", m.arithmetic("fma", "f32", mode), 32, 32, 32, 32, kind="f32")
for name in ("add", "mul"):
    FORMS.add(f"{name}.ftz.f32", m.arithmetic(name, "f32", ftz=True), 32, 32, 32, kind="f32")
FORMS.add("copysign.f32", lambda x, y: x & 1 << 31 | y & M32 >> 1, 32, 32, 32)


def real(function: Callable[[float], float], ftz: bool = False) -> Callable[[int], int]:
    """Returns the model of a function of f32, which is computed as f64."""

    def model(bits: int) -> int:
        value = float(m.decode(m.flushed(bits, "f32") if ftz else bits, "f32"))
        if value == 0 and bits >> 31:
            value = -0.0
        with np.errstate(all="ignore"):
            found = float(function(np.float64(value)))
        result = m.encode(Fraction(found) if math.isfinite(found) else found, "f32", "rn", math.copysign(1, found) < 0)
        return m.flushed(result, "f32") if ftz else result

    return model


FORMS.add("rcp.rn.f32", real(lambda x: 1 / x), 32, 32, kind="f32")
FORMS.add("rcp.approx.ftz.f32", real(lambda x: 1 / x, True), 32, 32, kind="f32")
FORMS.add("sqrt.rn.f32", real(np.sqrt), 32, 32, kind="f32")
FORMS.add("sqrt.approx.f32", real(np.sqrt), 32, 32, kind="f32")
for suffix in ("", ".ftz"):
    FORMS.add(f"ex2.approx{suffix}.f32", real(np.exp2, bool(suffix)), 32, 32, kind="f32", bound=2)
    FORMS.add(f"lg2.approx{suffix}.f32", real(np.log2, bool(suffix)), 32, 32, kind="f32", bound=2)
    FORMS.add(f"rsqrt.approx{suffix}.f32", real(lambda x: 1 / np.sqrt(x), bool(suffix)), 32, 32, kind="f32", bound=2)
for name in ("sin", "cos"):
    FORMS.add(f"{name}.approx.f32", real(getattr(np, name)), 32, 32, kind="f32", bound=2)
FORMS.add("tanh.approx.f32", real(np.tanh), 32, 32, kind="f32", bound=4)
