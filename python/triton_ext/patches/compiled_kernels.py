# SPDX-License-Identifier: Apache-2.0
"""``CompiledKernel``, which reads a kernel from Triton's cache: backends check it, Triton's tools learn its name."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .table import expected

_checks: dict[str, Callable[[Any], None]] = {}
_follows_names = False


def check_kernels(backend: str, check: Callable[[Any], None]) -> None:
    """From now on `check` is called with each ``CompiledKernel`` of the backend, when its files have been read.

    Raises:
        TritonExtError: Triton is not as expected.
    """
    _checks[backend] = check
    _wrap()


def follow_names() -> None:
    """From now on ``triton/tools/compile.py`` takes the name that the compiled kernel has.

    It writes C that loads the kernel by the name that the command line has for the Python function, which is another
    one if a pass renames the kernel. The tool has no place for the other one, but reads its arguments again after it
    has compiled. They are variables of a function of ``__main__`` that runs already when the first pipeline is entered,
    so nothing could be wrapped: this is the one patch that looks at a caller's frame.

    Raises:
        TritonExtError: Triton is not as expected.
    """
    global _follows_names  # noqa: PLW0603 - of the process
    _wrap()
    _follows_names = True


@functools.cache
def _wrap() -> None:
    from triton.compiler import compiler

    kernel: Any = expected("compiled_kernels", compiler, "CompiledKernel")
    make = expected("compiled_kernels", kernel, "__init__", ("self", "src", "metadata_group", "hash"))

    @functools.wraps(make)
    def make_and_tell(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        if check := _checks.get(self.metadata.target.backend):
            check(self)
        if _follows_names:
            tool = sys._getframe(1).f_back  # the first is triton.compile's
            if tool is not None and tool.f_code.co_name == "compile_kernel" and _is_tool(tool.f_code.co_filename):
                arguments = tool.f_locals.get("args")
                if arguments is not None and hasattr(arguments, "kernel_name"):
                    arguments.kernel_name = self.metadata.name

    kernel.__init__ = make_and_tell


def _is_tool(file: str) -> bool:
    return Path(file).parts[-3:] == ("triton", "tools", "compile.py")
