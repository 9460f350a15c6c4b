# SPDX-License-Identifier: Apache-2.0
"""Kernels are parsed by one thread at a time.

CPython 3.11 keeps one count for the whole process of how deep it is in the syntax tree that it converts. Where another
thread gets a turn in the middle, `ast.parse` fails with "SystemError: AST constructor recursion depth mismatch".
"""

from __future__ import annotations

import functools
import threading
from typing import Any

from .table import expected


@functools.cache
def parse_one_at_a_time() -> None:
    """Makes it so for every kernel of Triton.

    Raises:
        TritonExtError: Triton is not as expected.
    """
    from triton.runtime import jit

    callable_: Any = expected("kernel_parsing", jit, "JITCallable")
    parse = expected("kernel_parsing", callable_, "parse", ("self",))
    lock = threading.Lock()

    @functools.wraps(parse)
    def parse_alone(self: Any) -> Any:
        with lock:
            return parse(self)

    callable_.parse = parse_alone
