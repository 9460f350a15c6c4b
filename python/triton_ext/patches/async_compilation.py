# SPDX-License-Identifier: Apache-2.0
"""Compilations that ``AsyncCompileMode`` gives to other threads.

It finds kernels that are under way by a key which the hook has no part in, so that key gets a part of ours.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .table import expected

#: Takes the function that compiles; returns what to add to the key, and the function to run in the other thread.
Carry = Callable[[Callable[[], Any]], tuple[str, Callable[[], Any]]]


def carry_to_threads(carry: Carry) -> None:
    """Has each compilation that is submitted go through `carry`, in the thread that asks for the kernel.

    Raises:
        TritonExtError: Triton is not as expected.
    """
    from triton.runtime import _async_compile

    mode: Any = expected("async_compilation", _async_compile, "AsyncCompileMode")
    submit = expected("async_compilation", mode, "submit", ("self", "key", "compile_fn"))

    @functools.wraps(submit)
    def submit_here(self: Any, key: str, compile_fn: Callable[[], Any], *rest: Any) -> Any:
        more, compile_there = carry(compile_fn)
        return submit(self, key + more, compile_there, *rest)

    mode.submit = submit_here
