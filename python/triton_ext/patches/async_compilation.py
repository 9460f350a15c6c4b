# SPDX-License-Identifier: Apache-2.0
"""Wraps ``AsyncCompileMode.submit``, which has kernels compiled in other threads.

Triton finds a kernel that is being compiled by a key without the part of the hook. So our part is added to that key.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .table import expected

#: Takes the function that compiles. Returns the text to add to the key, and the function to run in the other thread.
Carry = Callable[[Callable[[], Any]], tuple[str, Callable[[], Any]]]


def carry_to_threads(carry: Carry) -> None:
    """Has `carry` called for each compilation that is submitted, in the thread that asks for the kernel.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """
    from triton.runtime import _async_compile

    mode: Any = expected("async_compilation", _async_compile, "AsyncCompileMode")
    submit = expected("async_compilation", mode, "submit", ("self", "key", "compile_fn"))

    @functools.wraps(submit)
    def submit_here(self: Any, key: str, compile_fn: Callable[[], Any], *rest: Any) -> Any:
        more, compile_there = carry(compile_fn)
        return submit(self, key + more, compile_there, *rest)

    mode.submit = submit_here
