# SPDX-License-Identifier: Apache-2.0
"""Replaces ``specialize_impl``, by which the binder that Triton generates for a kernel finds the types of arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .table import differs, expected

_NAME = "specialize_impl"


def specialize_by(specialize: Callable[..., Any], is_for: Callable[[Any], bool]) -> None:
    """Has the binders of kernels call `specialize` instead of Triton's ``specialize_impl``.

    Args:
        specialize: takes what ``specialize_impl`` takes.
        is_for: tells, given a backend, whether kernels for it are meant.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """
    from triton.runtime import jit

    original = expected("kernel_arguments", jit, "create_function_from_signature", ("sig", "kparams", "backend"))

    @functools.wraps(original)
    def create(sig: Any, kparams: Any, backend: Any) -> Any:
        function = original(sig, kparams, backend)
        if is_for(backend):
            if _NAME not in function.__globals__:
                raise differs("kernel_arguments", f"the function that binds arguments has no global {_NAME}")
            function.__globals__[_NAME] = specialize
        return function

    jit.create_function_from_signature = create
