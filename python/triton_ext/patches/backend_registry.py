# SPDX-License-Identifier: Apache-2.0
"""Adds backends to the dictionary of those that Triton knows, which Triton fills once, when it is imported."""

from __future__ import annotations

from typing import Any

from .table import differs, expected


def knows(name: str) -> bool:
    """Whether Triton knows a backend of this name.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """
    return name in _known()


def register(name: str, compiler: type, driver: type) -> None:
    """Adds a backend under `name`.

    Args:
        name: the ``backend`` of its ``GPUTarget``.
        compiler: its subclass of ``BaseBackend``.
        driver: its subclass of ``DriverBase``.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """
    import triton.backends

    make = expected("backend_registry", triton.backends, "Backend", ("compiler", "driver"))
    _known()[name] = make(compiler, driver)


def _known() -> dict[str, Any]:
    import triton.backends

    known: Any = expected("backend_registry", triton.backends, "backends")
    if not isinstance(known, dict):
        raise differs("backend_registry", f"triton.backends.backends is {type(known).__name__}, expected dict")
    return known
