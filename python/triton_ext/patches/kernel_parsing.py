# SPDX-License-Identifier: Apache-2.0
"""Has kernels parsed by one thread at a time.

CPython 3.11 counts the recursion depth of `ast.parse` in one variable for the whole process. If the interpreter
switches threads in the middle, `ast.parse` fails with "SystemError: AST constructor recursion depth mismatch".
"""

from __future__ import annotations

import functools
import threading
from typing import Any

from .table import expected


@functools.cache
def parse_one_at_a_time() -> None:
    """Wraps ``JITCallable.parse`` in a lock.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
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
