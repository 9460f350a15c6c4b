# SPDX-License-Identifier: Apache-2.0
"""Puts the functions under ``triton.language.core.builtin`` that a kernel calls into the kernel's key.

Triton's key of a kernel has the text of the kernel and of every ``@triton.jit`` function that it calls. Builtins it
leaves out, because its own are in its version's key. Those of others, which wrap the operations of a dialect, are
Python like any other: `fingerprint` describes them.
"""

from __future__ import annotations

import sys
from typing import Any


def follow_builtins() -> None:
    """From now on every kernel has them in its key; nothing where Triton is not imported yet, or not to the end.

    A kernel of which somebody has asked the hash before keeps it, because a table may know the kernel by it.
    """
    finder: Any = getattr(sys.modules.get("triton.runtime.jit"), "DependenciesFinder", None)
    if finder is None or hasattr(finder, "triton_ext_follows_builtins"):
        return
    finder.triton_ext_follows_builtins = True
    record, visit_attribute = finder.record_reference, finder.visit_Attribute

    def record_reference(self: Any, val: Any, *args: Any, **kwargs: Any) -> None:
        record(self, val, *args, **kwargs)
        if _is_foreign_builtin(val):
            self.hasher.update(_key(val).encode())

    def visit_any_attribute(self: Any, node: Any) -> Any:
        import triton.language as tl

        # Triton does not look into its own modules, and cannot know what has a method. Others may have put one there.
        for owner in (tl, tl.core, tl.tensor):
            if _is_foreign_builtin(vars(owner).get(node.attr)):
                self.hasher.update(_key(vars(owner)[node.attr]).encode())
        return visit_attribute(self, node)

    finder.record_reference, finder.visit_Attribute = record_reference, visit_any_attribute


def _is_foreign_builtin(value: Any) -> bool:
    if not getattr(value, "__triton_builtin__", False):
        return False
    return str(getattr(value, "__module__", "")).partition(".")[0] != "triton"


def _key(builtin: Any) -> str:
    """A text that changes when the function may do something else.

    A kernel is compiled also where a builtin reads what is in no key; then the files of what it may reach are part of
    the text.
    """
    from .errors import PipelineError
    from .fingerprint import fingerprint

    try:
        return fingerprint(builtin)
    except PipelineError:
        return fingerprint(builtin, lenient=True)
