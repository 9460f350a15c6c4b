# SPDX-License-Identifier: Apache-2.0
"""The backends that Triton knows, which it looks for once, when it is imported."""

from __future__ import annotations

from typing import Any

from .table import differs, expected


def knows(name: str) -> bool:
    """Whether Triton knows a backend of this name.

    Raises:
        TritonExtError: Triton is not as expected.
    """
    return name in _known()


def register(name: str, compiler: type, driver: type) -> None:
    """Makes a backend one that Triton knows.

    Raises:
        TritonExtError: Triton is not as expected.
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
