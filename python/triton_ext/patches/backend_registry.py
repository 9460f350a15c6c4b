# SPDX-License-Identifier: Apache-2.0
"""Adds backends to the dictionary of those that Triton knows, which Triton fills once, when it is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .table import differs, expected


def knows(name: str) -> bool:
    """Whether Triton knows a backend of this name.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """
    return name in _known()


def register(name: str, entry: Any) -> None:
    """Adds a backend under `name`.

    Args:
        name: the ``backend`` of its ``GPUTarget``.
        entry: has the attributes ``compiler`` and ``driver``, as Triton's entries do.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """
    _known()[name] = entry


def offer(entries: Callable[[], Mapping[str, Any]]) -> None:
    """Adds entries when the dictionary is first read; those that Triton has under the same names stay.

    Triton may be filling the dictionary now, because it imports us as one of its backends. Until it has stored the
    dictionary in its module, nobody else can reach it. So the module gets a class whose attribute ``backends`` takes
    precedence over the module's own: the first read adds the entries, and gives the module its class back.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """
    import triton.backends as module

    expected("backend_registry", module, "Backend", ("compiler", "driver"))
    own_class = type(module)

    def read(module: Any) -> Any:
        if "backends" not in vars(module):
            raise AttributeError(f"module '{module.__name__}' has no attribute 'backends' yet")
        module.__class__ = own_class
        known = _known()
        for name, entry in entries().items():
            known.setdefault(name, entry)
        return known

    if "backends" in vars(module):
        read(module)
    else:
        module.__class__ = type(own_class.__name__, (own_class,), {"backends": property(read)})


def _known() -> dict[str, Any]:
    import triton.backends

    known: Any = expected("backend_registry", triton.backends, "backends")
    if not isinstance(known, dict):
        raise differs("backend_registry", f"triton.backends.backends is {type(known).__name__}, expected dict")
    return known
