# SPDX-License-Identifier: Apache-2.0
"""What a kernel calls enters its key, as Triton walks over the syntax tree of the kernel to find out."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

_MARK = "triton_ext_follows_builtins"


def add_to_keys(key_of: Callable[[object], str | None]) -> None:
    """From now on the key of each kernel has the text ``key_of(value)`` for each value that the kernel refers to.

    `key_of` returns None for a value that Triton's key covers. Does nothing where Triton is not imported yet, or not to
    the end. A kernel of which somebody has asked the hash before keeps it, because a table may know the kernel by it.

    Raises:
        TritonExtError: Triton is not as expected.
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

        # Triton does not look into its own modules, and cannot know what has a method. Others may have put one there.
        for owner in (tl, tl.core, tl.tensor):
            add(self, vars(owner).get(node.attr))
        return visit_attribute(self, node)

    finder.record_reference, finder.visit_Attribute = record_reference, visit_any_attribute
