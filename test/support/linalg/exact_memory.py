# SPDX-License-Identifier: Apache-2.0
"""Launches whose memory begins and ends where the kernel's accesses do, beside a page without access rights."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import torch

from support.linalg import execute


def run(
    function: Any, memory: Sequence[tuple[torch.Tensor, int]], scalars: Sequence[Any], *, grid: int, at_end: bool
) -> None:
    """Calls a compiled kernel for all programs of the grid.

    Args:
        function: takes pointers, then `scalars`, which are C's, then the grid and the place in it.
        memory: for each pointer, all elements that may be accessed, and how many elements the first one lies behind
            the one that the pointer points at. The kernel writes to these elements.
        at_end: whether the memory ends before a page without access rights, or begins after one.
    """
    guarded = [execute.Guarded(elements, at_end=at_end) for elements, _ in memory]
    addresses = (
        one.address - first * elements.element_size() for one, (elements, first) in zip(guarded, memory, strict=True)
    )
    execute.run_programs(function, [*map(ctypes.c_int64, addresses), *scalars], (grid,))
    for one in guarded:
        one.copy_back()
