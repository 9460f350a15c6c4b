# SPDX-License-Identifier: Apache-2.0
"""Kernels of every family of operations, each with the results of NumPy or torch.

A case launches kernels and yields triples: the result, the expected result, and the tolerance. ``TRITON_INTERPRET=1
PYTHONPATH=test python -m support.linalg.kernels`` runs all cases in Triton's interpreter.
"""

from __future__ import annotations

from support.linalg.kernels import addresses, atomics, control_flow, elementwise, reductions, shapes, tutorials
from support.linalg.kernels.cases import CASES, NOT_INTERPRETED, Pairs, check

__all__ = [
    "CASES",
    "NOT_INTERPRETED",
    "Pairs",
    "addresses",
    "atomics",
    "check",
    "control_flow",
    "elementwise",
    "reductions",
    "shapes",
    "tutorials",
]
