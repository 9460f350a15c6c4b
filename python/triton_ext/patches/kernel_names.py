# SPDX-License-Identifier: Apache-2.0
"""Triton's ahead-of-time compiler, ``triton/tools/compile.py``, writes C that loads the kernel by its name.

It takes the name that the command line has for the Python function, which is another one if a pass renames the kernel.
The tool has no place for the other one, but reads its arguments again after it has compiled. They are variables of a
function of ``__main__`` that runs already when the first pipeline is entered, so nothing could be wrapped: this is the
one patch that looks at a caller's frame.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

from .table import expected


@functools.cache
def follow_names() -> None:
    """From now on the tool takes the name that the compiled kernel has.

    Raises:
        TritonExtError: Triton is not as expected.
    """
    from triton.compiler import compiler

    kernel: Any = expected("kernel_names", compiler, "CompiledKernel")
    make = expected("kernel_names", kernel, "__init__", ("self", "src", "metadata_group", "hash"))

    @functools.wraps(make)
    def make_and_tell(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        tool = sys._getframe(1).f_back  # the first is triton.compile's
        if tool is not None and tool.f_code.co_name == "compile_kernel" and _is_tool(tool.f_code.co_filename):
            arguments = tool.f_locals.get("args")
            if arguments is not None and hasattr(arguments, "kernel_name"):
                arguments.kernel_name = self.metadata.name

    kernel.__init__ = make_and_tell


def _is_tool(file: str) -> bool:
    return Path(file).parts[-3:] == ("triton", "tools", "compile.py")
