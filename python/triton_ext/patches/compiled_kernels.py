# SPDX-License-Identifier: Apache-2.0
"""Wraps ``CompiledKernel``, which reads a kernel from Triton's cache: backends check it, extensions follow it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .table import expected

_checks: dict[str, Callable[[Any], None]] = {}
_followers: list[Callable[[Any], None]] = []


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

    kernel.__init__ = make_and_tell
