# SPDX-License-Identifier: Apache-2.0
"""Applies ``TRITON_EXT_CPU_CHECK`` before the first kernel of a process: launches raise for accesses out of bounds."""

from __future__ import annotations

import os
from typing import Any

import triton_ext as tx
from triton_ext.errors import TritonExtError


def start(value: str) -> None:
    """Begins to check the bounds of each access, by the sanitizer, which masks a lane off that is out of bounds.

    Args:
        value: the value of the variable: ``1``, or ``0`` for no checks.

    Raises:
        TritonExtError: `value` is neither, or the sanitizer is not there.
    """
    if value not in ("0", "1"):
        raise TritonExtError(f"TRITON_EXT_CPU_CHECK is '{value[:40]}', expected 0 or 1")
    # A choice of checks for the process is the user's, and has more of them.
    if value == "0" or os.environ.get("TRITON_EXT_SANITIZE", "0").strip() not in ("", "0"):
        return
    fix = "triton-ext build sanitizer, or unset TRITON_EXT_CPU_CHECK"
    try:
        sanitize: Any = tx.sanitize
        sanitize("bounds", action="suppress", raises=True).__enter__()
    except (AttributeError, TritonExtError) as error:
        raise TritonExtError(f"TRITON_EXT_CPU_CHECK=1 needs the sanitizer: {error}", fix=fix) from None
