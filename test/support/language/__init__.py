# SPDX-License-Identifier: Apache-2.0
"""Kernels that call DSL functions: compiled, looked at, refused."""

from __future__ import annotations

import re
from typing import Any

import pytest
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.errors import CompilationError

import triton_ext as tx

TARGETS = {
    "cuda": GPUTarget("cuda", 90, 32),
    "hip": GPUTarget("hip", "gfx942", 64),
    "cpu": GPUTarget("cpu", "x86-64", 0),
}


def source(kernel: Any, signature: str) -> ASTSource:
    """The kernel with a type or a number for each argument, e.g. ``"*fp32 128"``."""
    kinds = dict(zip(kernel.arg_names, signature.split(), strict=True))
    constants = {name: int(kind) for name, kind in kinds.items() if kind.isdigit()}
    return ASTSource(kernel, {n: "constexpr" if n in constants else k for n, k in kinds.items()}, constants)


def built(kernel: Any, signature: str = "*fp32 *fp32 128") -> str:
    """The module that the kernel is translated to, before any pass."""
    compiled = tx.trace(kernel, target="cuda:90", signature=signature.replace(" ", ", "))
    return str(compiled.stages[0].source)


def lines(text: str, pattern: str = r'"?tally\.') -> list[str]:
    """The lines with `pattern`, without locations."""
    found = [re.sub(r" loc\(.*\)$", "", line.strip()) for line in text.splitlines()]
    return [line for line in found if re.search(pattern, line)]


def problem(kernel: Any, signature: str = "*fp32") -> CompilationError:
    """The error with which the kernel is refused."""
    with pytest.raises(CompilationError) as caught:
        triton.compile(source(kernel, signature), target=TARGETS["cuda"])
    return caught.value
