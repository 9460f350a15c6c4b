# SPDX-License-Identifier: Apache-2.0
"""``tx.cpu``: kernels as a shared library with a C header, which need neither Python nor Triton."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from triton_ext.backends.cpu import _ahead_of_time  # type: ignore[import-untyped]

__all__ = ["compile_library"]


def compile_library(
    kernels: Mapping[str, tuple[Any, str | Mapping[str, object]]],
    output: str | os.PathLike[str],
    *,
    header: str | os.PathLike[str],
    arch: Sequence[str] = _ahead_of_time.CPUS,
    options: Mapping[str, Any] | None = None,
) -> None:
    """Compiles kernels to a shared library with a C header, as ``triton-ext compile-cpu`` does.

    Args:
        kernels: for each C function, by its name, the kernel and the type or value of each of its arguments:
            ``{"add": (add, "*fp32:16, *fp32:16, i32, 64")}``. A kernel may also be ``"FILE.py:kernel"``.
        output: the library to write.
        header: the header to write.
        arch: LLVM's names of CPUs. The library has code for each, and chooses when a function is first called.
        options: options of the backend, e.g. ``{"debug": True}`` for ``tl.device_assert``.

    Raises:
        TritonExtError: a kernel cannot be compiled, a signature does not fit, C has no type for an argument, LLVM does
            not know a CPU, or a file cannot be written. Then neither file is changed.
    """
    listed = [_ahead_of_time.Kernel(kernel, signature, name) for name, (kernel, signature) in kernels.items()]
    _ahead_of_time.compile_library(listed, Path(output), Path(header), arch, options)
