# SPDX-License-Identifier: Apache-2.0
"""Keeps hints about arguments (`tl.multiple_of` and the like), which Triton drops, in the kernel for the pass."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import triton.language as tl

import triton_ext as tx
from triton_ext.language import attr
from triton_ext.patches.hints import follow_hints


@tx.language.op("probe.promise")
def _promise(
    value: tl.tensor,
    mark: attr.string,  # type: ignore[valid-type]
    numbers: attr.dense(attr.i64),  # type: ignore[valid-type]
) -> None:
    """Carries a mark for a value that has no operation of its own."""


#: Says to a DSL function that no ``with`` statement calls it.
_NO_GENERATOR = object()


@functools.cache
def keep_hints(wants: Callable[[], bool]) -> None:
    """Has kernels that are translated while `wants` returns true contain the promises about their arguments.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """

    def keep(semantic: Any, value: Any, mark: str, numbers: Sequence[int]) -> None:
        if wants():
            _promise(value, mark, list(numbers), _semantic=semantic, _generator=_NO_GENERATOR)

    follow_hints(keep)
