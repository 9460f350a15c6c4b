# SPDX-License-Identifier: Apache-2.0
"""Wraps ``CodeGenerator.visit_With``, which translates a ``with`` statement, and does not tell the context manager
which code generator calls it.
"""

from __future__ import annotations

import contextvars
import functools
from typing import Any

from .table import expected

_generator: contextvars.ContextVar[Any] = contextvars.ContextVar("triton_ext_with_statement", default=None)


def generator() -> Any:
    """Returns the code generator that is translating a ``with`` statement, the innermost such statement.

    Returns None if no ``with`` statement of a kernel is being translated: a builtin opens the block.
    """
    return _generator.get()


@functools.cache
def follow_with_statements() -> None:
    """Has `generator` know the code generators from now on.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """
    from triton.compiler import code_generator

    cls: Any = expected("with_statements", code_generator, "CodeGenerator")
    visit = expected("with_statements", cls, "visit_With", ("self", "node"))

    @functools.wraps(visit)
    def visit_and_tell(self: Any, node: Any) -> Any:
        token = _generator.set(self)
        try:
            return visit(self, node)
        finally:
            _generator.reset(token)

    cls.visit_With = visit_and_tell
