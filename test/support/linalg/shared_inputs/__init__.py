# SPDX-License-Identifier: Apache-2.0
"""Inputs that have what the inputs of triton-shared's tests have, in our own words.

Kernels have the arguments ``x``, ``idx``, ``out``, ``n``, ``m`` and ``s``: pointers to integers of 32 bits in the
middle of two buffers and at the beginning of indices, and three numbers. ``stands_for`` names the tests. Texts are IR
that is executed (texts.py), converted (forms.py) or refused (refused.py).
"""

from __future__ import annotations

from support.linalg.shared_inputs import (
    arithmetic,
    branches,
    casts,
    examples,
    loops,
    masks,
    pointers,
    reductions,
    tensors,
    text_functions,
    text_inputs,
    text_memrefs,
    text_pointers,
    texts,
)  # fmt: skip
from support.linalg.shared_inputs.forms import FORMS
from support.linalg.shared_inputs.inputs import INPUTS, NUMBERS, SIGNATURE, Input, run
from support.linalg.shared_inputs.refused import REFUSED
from support.linalg.shared_inputs.texts import TEXTS

__all__ = [
    "FORMS", "INPUTS", "NUMBERS", "REFUSED", "SIGNATURE", "TEXTS", "Input", "arithmetic", "branches", "casts",
    "examples", "loops", "masks", "pointers", "reductions", "run", "tensors", "text_functions", "text_inputs",
    "text_memrefs", "text_pointers", "texts",
]  # fmt: skip
