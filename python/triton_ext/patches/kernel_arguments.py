# SPDX-License-Identifier: Apache-2.0
"""The types of a kernel's arguments, which a function that Triton generates finds out with ``specialize_impl``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .table import differs, expected

_NAME = "specialize_impl"


def specialize_by(specialize: Callable[..., Any], is_for: Callable[[Any], bool]) -> None:
    """Has kernels for the backends that `is_for` accepts call `specialize` in the place of Triton's function.

    Raises:
        TritonExtError: Triton is not as expected.
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
