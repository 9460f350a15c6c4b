# SPDX-License-Identifier: Apache-2.0
"""The arguments that Triton passes to a DSL function: constants, tensors, and tuples of both."""

from __future__ import annotations

import inspect
from typing import Any

import triton.language as tl
from triton.runtime import KernelInterface

from ..support.shown import shown
from .errors import LanguageError


def type_of(value: Any, where: object) -> Any:
    """Returns the type of a tensor.

    Raises:
        LanguageError: `value` is something else; the message begins with `where`.
    """
    if not isinstance(value, tl.core.base_value) or isinstance(value, tl.constexpr):
        raise LanguageError(f"{where}: the result has the type of {shown_value(value)}, which is not a tensor")
    return value.type


def constant(value: Any) -> Any:
    """Returns `value` with the constants in it as plain Python."""
    value = plain(value)
    if isinstance(value, tl.tuple):
        value = tuple(value)
    if isinstance(value, list | tuple):
        return type(value)(map(constant, value)) if type(value) in (list, tuple) else tuple(map(constant, value))
    return value


def plain(value: Any) -> Any:
    """Returns the Python value of a ``tl.constexpr``, and any other value as it is."""
    return value.value if isinstance(value, tl.constexpr) else value


def holds_value(value: Any) -> bool:
    """Returns whether `value` is, or contains, a value that is computed in the kernel."""
    if isinstance(value, list | tuple):
        return any(map(holds_value, value))
    return isinstance(value, tl.core.base_value)


def shown_value(value: Any) -> str:
    """Returns `value` for a message."""
    if isinstance(value, tl.core.base_value) and not isinstance(value, tl.constexpr):
        return f"a {type(value).__name__} of type {value.type}"
    return shown(plain(value))


def is_kernel_function(value: object) -> bool:
    """Whether `value` is what ``@triton.jit`` makes, compiled or interpreted."""
    return isinstance(value, KernelInterface) and inspect.isfunction(getattr(value, "fn", None))
