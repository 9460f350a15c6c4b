# SPDX-License-Identifier: Apache-2.0
"""Decides accesses of a launch that is about to run, as `check_launch` does, and counts their lanes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from triton_ext.errors import TritonExtError

from ._bounds import first_finding
from ._finding import Finding
from ._launch import Launch, bound, prepared
from ._search import Search
from ._uses import Use

#: How many programs, iterations and lanes of an access are counted, one by one.
_MOST_POINTS = 2**13


def launch_of(kernel: Any, grid: Sequence[int], values: Mapping[str, Any]) -> Launch | None:
    """Returns a launch of a ``CompiledKernel``; None if it is not understood.

    Args:
        kernel: the kernel.
        grid: the grid of the launch.
        values: the values of the kernel's parameters, by name; those of constants do not matter.
    """
    source = kernel.src
    if not hasattr(source, "fn"):
        return None
    constants = {source.fn.arg_names[path[0]] for path in source.constants if len(path) == 1}
    given = {name: value for name, value in values.items() if name not in constants}
    try:
        (all_values,) = bound(source, (), given)
        return prepared(source, all_values, tuple(grid), kernel.metadata.target, {})
    except TritonExtError:
        return None


def decided(
    launch: Launch, use: Use, check: str, search: Search, limits: tuple[int, int] | None
) -> Finding | bool | None:
    """Returns the finding that an access is where `search` looks; False if it is not, None if nobody knows.

    Args:
        launch: the launch.
        use: the access.
        check: the name of the check.
        search: the search.
        limits: as for `of_access`.
    """
    answer, found = first_finding(launch, use, check, search=search, limits=limits)
    if found is None:
        return answer.verdict
    lanes, programs = counted(search, launch, use.shape)
    return replace(found, lanes=lanes, programs=programs)


def counted(search: Search, launch: Launch, shape: Sequence[int]) -> tuple[int, int]:
    """Returns in how many lanes, and in how many programs, the goal holds; 0 if that is not known."""
    box = search.box()
    assert box is not None
    each = 1
    for axis, size in enumerate(launch.sizes):
        each *= 1 if ("program", axis) in box else size
    same = 1
    for dimension, size in enumerate(shape):
        same *= 1 if ("lane", dimension) in box else size
    lanes, programs = 0, set()
    if math.prod(high + 1 - low for low, high in box.values()) > _MOST_POINTS:
        return 0, 0
    for at in itertools.product(*(range(low, high + 1) for low, high in box.values())):
        point = dict(zip(box, at, strict=True))
        holds = search.holds_at(point)
        if holds is None:
            return 0, 0
        if holds:
            lanes += same
            programs.add(tuple(value for variable, value in point.items() if variable[0] == "program"))
    return lanes * each, len(programs) * each
