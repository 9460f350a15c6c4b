# SPDX-License-Identifier: Apache-2.0
"""Adds the builtins of dialects that a kernel calls to the key of the kernel.

Triton's key has the text of the kernel and of every ``@triton.jit`` function that it calls. It leaves out functions
under ``triton.language.core.builtin``, because Triton's own change only with its version, which is part of the key.
Builtins of others, e.g. those that make the operations of a dialect, are ordinary Python functions: `fingerprint`
describes them.
"""

from __future__ import annotations

from typing import Any

from ..patches.kernel_keys import add_to_keys


def follow_builtins() -> None:
    """Has the key of every kernel cover them. Does nothing while Triton is not imported completely.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """
    add_to_keys(_key)


def _is_foreign_builtin(value: Any) -> bool:
    if not getattr(value, "__triton_builtin__", False):
        return False
    return str(getattr(value, "__module__", "")).partition(".")[0] != "triton"


def _key(value: Any) -> str | None:
    """Returns a text that changes when the builtin `value` may behave differently; None for any other value.

    A builtin may read something that no key covers. The kernel is compiled nevertheless, and the text then has the
    files of all modules that the builtin may reach.
    """
    if not _is_foreign_builtin(value):
        return None
    from ..errors import PipelineError
    from .fingerprint import fingerprint

    try:
        return fingerprint(value)
    except PipelineError:
        return fingerprint(value, lenient=True)
