# SPDX-License-Identifier: Apache-2.0
"""Adds to the key of a kernel what the kernel refers to and Triton's key does not cover.

Triton's ``DependenciesFinder`` walks over the syntax tree of the kernel and hashes what it finds; two of its methods
are wrapped.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

_MARK = "triton_ext_follows_builtins"


def add_to_keys(key_of: Callable[[object], str | None]) -> None:
    """Has the key of each kernel contain the text ``key_of(value)`` for each value that the kernel refers to.

    Does nothing while Triton is not imported completely. A kernel whose hash has been computed before keeps it, because
    a table may already know the kernel by that hash.

    Args:
        key_of: returns None for a value that Triton's key covers.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """
    jit = sys.modules.get("triton.runtime.jit")
    if jit is None or getattr(jit.__spec__, "_initializing", False):
        return
    from .table import expected

    finder: Any = expected("kernel_keys", jit, "DependenciesFinder")
    if hasattr(finder, _MARK):
        return
    record = expected("kernel_keys", finder, "record_reference", ("self", "val"))
    visit_attribute = expected("kernel_keys", finder, "visit_Attribute", ("self", "node"))
    setattr(finder, _MARK, True)

    def add(self: Any, value: object) -> None:
        key = key_of(value)
        if key is not None:
            self.hasher.update(key.encode())

    def record_reference(self: Any, val: Any, *args: Any, **kwargs: Any) -> None:
        record(self, val, *args, **kwargs)
        add(self, val)

    def visit_any_attribute(self: Any, node: Any) -> Any:
        import triton.language as tl

        # Triton does not look into its own modules, and does not know the type of the object whose attribute it is.
        # A dialect may have added the attribute to one of these owners.
        for owner in (tl, tl.core, tl.tensor):
            add(self, vars(owner).get(node.attr))
        return visit_attribute(self, node)

    finder.record_reference, finder.visit_Attribute = record_reference, visit_any_attribute
