# SPDX-License-Identifier: Apache-2.0
"""Wraps ``CompiledKernel``, which reads a kernel from Triton's cache: backends check it, extensions follow it, Triton's
tool learns its name.

One case reads the frame of a caller: ``triton/tools/compile.py`` keeps the kernel's name in a local variable of its
``compile_kernel``. That function already runs, as a part of ``__main__``, when the first pipeline is entered, so it
cannot be wrapped. Nothing else that the tool calls tells it from a program that compiles the same kernel with
`triton.compile`.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .table import expected

_checks: dict[str, Callable[[Any], None]] = {}
_followers: list[Callable[[Any], None]] = []
_follows_names = False


def check_kernels(backend: str, check: Callable[[Any], None]) -> None:
    """Has `check` called with each ``CompiledKernel`` of the backend, after its files have been read.

    Args:
        backend: the ``backend`` of the kernel's ``GPUTarget``, e.g. ``cpu``.
        check: raises an exception if the kernel must not be used.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """
    _checks[backend] = check
    _wrap()


def follow_kernels(follower: Callable[[Any], None]) -> None:
    """Has `follower` called with each ``CompiledKernel`` of any backend, after its files have been read.

    A kernel from Triton's cache is told like a new one. A second call with the same function does nothing.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """
    if follower not in _followers:
        _followers.append(follower)
    _wrap()


def follow_names() -> None:
    """Has ``triton/tools/compile.py`` use the name that the compiled kernel has.

    The tool writes C code that loads the kernel by the name that the command line gives the Python function. A pass may
    have renamed the kernel; then the C code would not find it. The tool reads ``args.kernel_name`` again after it has
    compiled, so the name is written there.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
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
        for follower in _followers:
            follower(self)
        if _follows_names:
            tool = sys._getframe(1).f_back  # frame 1 is triton.compile
            if tool is not None and tool.f_code.co_name == "compile_kernel" and _is_tool(tool.f_code.co_filename):
                arguments = tool.f_locals.get("args")
                if arguments is not None and hasattr(arguments, "kernel_name"):
                    arguments.kernel_name = self.metadata.name

    kernel.__init__ = make_and_tell


def _is_tool(file: str) -> bool:
    return Path(file).parts[-3:] == ("triton", "tools", "compile.py")
