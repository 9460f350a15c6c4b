# SPDX-License-Identifier: Apache-2.0
"""Applies ``TRITON_EXT_SANITIZE`` before the first kernel of a process."""

from __future__ import annotations

import warnings


def start(value: str) -> None:
    """Begins to check the kernels of this process.

    Args:
        value: the value of the variable; ``0`` for no checks.
    """
    if value.strip() == "0":
        return
    from triton import knobs
    from triton_ext.sanitize import _process, _settings

    settings = _settings.parse(value)
    if knobs.runtime.interpret:
        warnings.warn("TRITON_INTERPRET=1: the interpreter runs no passes, so nothing is checked", stacklevel=2)
        return
    _process.start(settings)
