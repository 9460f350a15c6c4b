# SPDX-License-Identifier: Apache-2.0
"""What tells the arguments of launches apart, so that what is known of a launch is computed once.

A tensor is told by its memory, its shape and its type, which can all change in place, and never by the object: to keep
it would keep its memory.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

_PLAIN = frozenset((bool, float, str, type(None)))
#: The classes of tensors of torch, as far as launches have had some.
_tensors: set[type[Any]] = set()
_thread = threading.local()


def tokens_of(arguments: Sequence[Any]) -> tuple[Any, ...] | None:
    """Returns a value that is equal for equal arguments only; None if some argument is neither a tensor of torch nor
    a number.
    """
    found: list[Any] = []
    for value in arguments:
        kind = type(value)
        if kind in _tensors:
            size = value.untyped_storage().nbytes()
            found.append((value.data_ptr(), value.shape, value.stride(), value.dtype, value.storage_offset(), size))
        elif kind is int:
            found.append(value)
        elif kind in _PLAIN:
            found.append((kind, value))
        elif (kind.__module__, kind.__name__) in (("torch", "Tensor"), ("torch.nn.parameter", "Parameter")):
            _tensors.add(kind)
            return tokens_of(arguments)
        else:
            return None
    return tuple(found)


def hand_on(kernel: Any, tokens: tuple[Any, ...] | None) -> None:
    """Keeps the tokens of a launch for what launches the kernel next in this thread."""
    _thread.tokens = kernel, tokens


def handed_on(kernel: Any, arguments: Sequence[Any]) -> tuple[Any, ...] | None:
    """Returns the tokens of the arguments of a launch, which somebody may have handed on."""
    known = getattr(_thread, "tokens", None)
    _thread.tokens = None
    tokens: tuple[Any, ...] | None = known[1] if known and known[0] is kernel else tokens_of(arguments)
    return tokens
