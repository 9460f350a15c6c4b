# SPDX-License-Identifier: Apache-2.0
"""Corrects what Triton's ``tools/compile.py`` does after it has compiled a kernel ahead of time.

The tool fills in the templates of C files that lie in ``extra/<backend>`` beside it. They load the kernel by the name
that the command line gives the Python function; if a pass has renamed the kernel, the C code would not find it. For a
backend without templates the tool would end successfully and write no file.

The tool finds and reads its templates through its global ``Path``, which is replaced once the tool has made a kernel.
Only the path of the tool itself becomes one of ours, and it makes those of the templates from it. The paths of the
files that it writes stay plain, because it returns them to a program that imports it.

Claim: the C code is for the kernel that this thread has made last. Reason: the tool makes the kernel with
``triton.compile``, which makes the kernel that it returns after all others, and compiles nothing before it reads the
templates. Example: the user's file may launch kernels when the tool imports it, which is before.

The tool is the main program or the imported module ``triton.tools.compile``. A program that runs it with `runpy` must
pass ``alter_sys=True``, because ``sys.modules`` does not show it otherwise.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Generator
from pathlib import Path, PosixPath
from typing import Any

from .compiled_kernels import follow_kernels
from .table import differs, expected

_NAME = "{triton_kernel_name}"
_thread = threading.local()  # `name` and `target` are those of the kernel that the thread has made last


def correct_c_code() -> None:
    """Has the tool write C code that loads the kernel by its own name, or refuse a target without templates.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """
    follow_kernels(_note)


def _note(kernel: Any) -> None:
    _thread.name, _thread.target = kernel.metadata.name, kernel.metadata.target
    for module in map(sys.modules.get, ("__main__", "triton.tools.compile")):
        file = getattr(module, "__file__", None) or ""
        if Path(file).parts[-3:] == ("triton", "tools", "compile.py"):
            expected("ahead_of_time", module, "Path")
            module.Path = functools.partial(_path, Path(file))  # type: ignore[union-attr]


def _path(tool: Path, *parts: Any) -> Path:
    """Returns the path that consists of `parts`: a `_Template`, from which others are made, if it is that of `tool`."""
    path = Path(*parts)
    return _Template(path) if path == tool else path


class _Template(PosixPath):
    """A path as the tool uses it: to the directory of the templates for a backend, or to one template."""

    def glob(self, pattern: str) -> Generator[_Template, None, None]:
        """Yields the templates in the directory.

        Raises:
            RuntimeError: it has none.
        """
        found = list(super().glob(pattern))
        if not found:
            extra = Path(self).parent
            others = " and ".join(sorted({file.parent.name for file in extra.glob(f"*/{pattern}")}))
            if not others:
                raise differs("ahead_of_time", f"no template of C code in {extra}")
            from triton.compiler import make_backend

            binary = make_backend(_thread.target).binary_ext
            raise RuntimeError(
                f"the kernel compiles, but Triton's tools/compile.py writes C code for {others}, not for {self.name}: "
                f'take the binary, triton.compile(...).asm["{binary}"], or name another target (--target cuda:90:32)'
            )
        yield from found

    def read_text(self, *args: Any, **kwargs: Any) -> str:
        """Returns the text with the name of the kernel filled in."""
        text = super().read_text(*args, **kwargs)
        if self.suffix == ".c" and _NAME not in text:
            raise differs("ahead_of_time", f"{self} does not contain {_NAME}")
        return str(text.replace(_NAME, _thread.name))
