# SPDX-License-Identifier: Apache-2.0
"""Triton's ahead-of-time compiler, ``triton/tools/compile.py``, writes C that loads the kernel by its name.

It takes the name that the command line has for the Python function, which is another one if a pass renames the kernel.
The tool has no place for the other one, but reads its arguments again after it has compiled.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any


@functools.cache
def follow_names() -> None:
    """From now on the tool takes the name that the compiled kernel has."""
    from triton.compiler.compiler import CompiledKernel

    make = CompiledKernel.__init__

    @functools.wraps(make)
    def make_and_tell(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        compiler = sys._getframe(1)
        tool = compiler.f_back
        if tool is not None and tool.f_code.co_name == "compile_kernel" and _is_tool(tool.f_code.co_filename):
            arguments = tool.f_locals.get("args")
            if arguments is not None and hasattr(arguments, "kernel_name"):
                arguments.kernel_name = self.metadata.name

    CompiledKernel.__init__ = make_and_tell


def _is_tool(file: str) -> bool:
    return Path(file).parts[-3:] == ("triton", "tools", "compile.py")
