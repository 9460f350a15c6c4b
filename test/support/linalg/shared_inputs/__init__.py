# SPDX-License-Identifier: Apache-2.0
"""Kernels that exercise what the tests of triton-shared exercise, in our own words.

All have the arguments ``x``, ``idx``, ``out``, ``n``, ``m`` and ``s``: pointers to integers of 32 bits in the middle of
two buffers and at the beginning of indices, and three numbers. ``stands_for`` names the tests.
"""

from __future__ import annotations

from support.linalg.shared_inputs import branches, elsewhere, loops, masks, pointers
from support.linalg.shared_inputs.inputs import INPUTS, NUMBERS, SIGNATURE, Input, run

__all__ = ["INPUTS", "NUMBERS", "SIGNATURE", "Input", "branches", "elsewhere", "loops", "masks", "pointers", "run"]
