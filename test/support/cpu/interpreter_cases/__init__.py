# SPDX-License-Identifier: Apache-2.0
"""The kernels of test_against_interpreter.py: each gives the same results compiled and in Triton's interpreter.

``TRITON_INTERPRET=1 PYTHONPATH=test python -m support.cpu.interpreter_cases OUT.npz`` runs all kernels in the
interpreter and saves their results. Results must be equal bit for bit unless a case gives a tolerance. The interpreter
is known to differ from a GPU in these points, which the cases avoid or allow for:

- It keeps bf16 in a ``uint16``, adds these integers, and converts integers and f64 to them. So the cases convert bf16
  only from and to f32. The conversion from f32 truncates, while hardware rounds to nearest even, so the cases allow one
  unit in the last place.
- Its conversions to 8-bit floats round ties away from zero and do not saturate. So the cases convert only numbers that
  8-bit floats represent exactly.
- Its results for floats too large for an integer, and for division by zero, are those of NumPy on this processor. There
  are no such cases.
- ``tl.argmax`` of NaN, atomic exchanges of floats, external functions, inline assembly and ``map_elementwise`` differ
  or are missing in it. There are no such cases.
- It sums pairwise with NumPy and multiplies matrices with BLAS, in another order. So the cases have a tolerance for
  floats.
"""

from __future__ import annotations

from support.cpu.interpreter_cases import elementwise, memory, products, programs, reductions, shapes
from support.cpu.interpreter_cases.cases import CASES, results

__all__ = [
    "CASES",
    "elementwise",
    "memory",
    "products",
    "programs",
    "reductions",
    "results",
    "shapes",
]
