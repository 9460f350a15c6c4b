# SPDX-License-Identifier: Apache-2.0
"""Wraps the functions behind ``tl.multiple_of`` and the like, which drop a hint about an argument of a function.

Triton puts a hint on the operation that computes the value, and no operation computes an argument.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .table import expected

#: The methods, and the attribute that each one sets.
_MARKS = {"multiple_of": "tt.divisibility", "max_contiguous": "tt.contiguity", "max_constancy": "tt.constancy"}


_paused: contextvars.ContextVar[bool] = contextvars.ContextVar("triton_ext_hints_paused", default=False)


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Has no follower called within the block, for a kernel that is translated as it is."""
    token = _paused.set(True)
    try:
        yield
    finally:
        _paused.reset(token)


@functools.cache
def follow_hints(follower: Callable[[Any, Any, str, Sequence[int]], None]) -> None:
    """Has `follower` called with each hint about an argument: a function's, or one that a loop carries.

    Args:
        follower: takes Triton's ``TritonSemantic``, the value, the name of the attribute, and its numbers.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """
    from triton._C.libtriton import ir
    from triton.language import semantic

    cls: Any = expected("hints", semantic, "TritonSemantic")
    argument: Any = expected("hints", ir, "block_argument")
    for name, mark in _MARKS.items():
        setattr(cls, name, _wrapped(expected("hints", cls, name, ("self", "x", "values")), mark, argument, follower))


def _wrapped(hint: Callable[..., Any], mark: str, argument: type, follower: Callable[..., None]) -> Callable[..., Any]:
    @functools.wraps(hint)
    def hint_and_tell(self: Any, x: Any, values: Sequence[int]) -> Any:
        result = hint(self, x, values)
        is_triton = type(self).__module__ == hint.__module__  # Gluon's semantic inherits it, and has no stage ttir
        if is_triton and isinstance(x.handle, argument) and not _paused.get():
            follower(self, x, mark, values)
        return result

    return hint_and_tell
