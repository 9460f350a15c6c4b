# SPDX-License-Identifier: Apache-2.0
"""Puts the functions under ``triton.language.core.builtin`` that a kernel calls into the kernel's key.

Triton's key of a kernel has the text of the kernel and of every ``@triton.jit`` function that it calls. Builtins it
leaves out, because its own are in its version's key. Those of others, which wrap the operations of a dialect, are
Python like any other: `fingerprint` describes them.
"""

from __future__ import annotations

from typing import Any

from ..patches.kernel_keys import add_to_keys


def follow_builtins() -> None:
    """From now on every kernel has them in its key; nothing where Triton is not imported yet, or not to the end.

    Raises:
        TritonExtError: Triton is not as expected.
    """
    add_to_keys(_key)


def _is_foreign_builtin(value: Any) -> bool:
    if not getattr(value, "__triton_builtin__", False):
        return False
    return str(getattr(value, "__module__", "")).partition(".")[0] != "triton"


def _key(value: Any) -> str | None:
    """A text that changes when the builtin may do something else; None for a value that is none of others' builtins.

    A kernel is compiled also where a builtin reads what is in no key; then the files of what it may reach are part of
    the text.
    """
    if not _is_foreign_builtin(value):
        return None
    from ..errors import PipelineError
    from .fingerprint import fingerprint

    try:
        return fingerprint(value)
    except PipelineError:
        return fingerprint(value, lenient=True)
