# SPDX-License-Identifier: Apache-2.0
"""Accesses between the elements of a view, such as the end of the rows of ``x[:, :20]``: decided at a launch.

The kernel compares addresses with the first and the last byte of a view. What is between the elements is found on the
host, from the numbers of the launch, as `check_launch` does. It is asked only for launches with such views, and once
for equal numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from triton_ext.probe._arguments import signature_values

from triton_ext.errors import TritonExtError

from ._bounds import between_elements, is_inside
from ._check_launch import overflow
from ._finding import Finding
from ._launch import Launch, bound, prepared
from ._located import of_access
from ._memory import is_tensor, memory_of
from ._search import Search

#: How many different launches of a kernel are looked at.
MOST_LAUNCHES = 32
#: How many programs, iterations and lanes of an access are counted, one by one.
_MOST_POINTS = 2**13


class Gaps:
    """What launches of one kernel access between the elements of views."""

    def __init__(self, kernel: Any) -> None:
        """Looks at a ``CompiledKernel``."""
        self._source = kernel.src
        self._target = kernel.metadata.target
        self._known: dict[Any, tuple[Finding, ...]] = {}

    def found(self, grid: Sequence[int], arguments: Sequence[Any]) -> tuple[Finding, ...]:
        """Returns the findings of a launch; none where nothing can be known.

        Args:
            grid: of the launch.
            arguments: of the kernel, as the launch passes them.
        """
        if not hasattr(self._source, "fn") or not any(_has_gaps(one) for one in _parts(arguments)):
            return ()
        values = signature_values(self._source, arguments)
        key = (tuple(grid), *(_numbers(value) for value in values.values()))
        if key not in self._known:
            self._known[key] = self._decided(grid, values) if len(self._known) < MOST_LAUNCHES else ()
        return tuple(replace(one) for one in self._known[key])  # the report counts each object once

    def _decided(self, grid: Sequence[int], values: Mapping[str, Any]) -> tuple[Finding, ...]:
        constants = {path[0] for path in self._source.constants if len(path) == 1}
        names = self._source.fn.arg_names
        given = {name: value for name, value in values.items() if names.index(name) not in constants}
        try:
            (bound_values,) = bound(self._source, (), given)
            return tuple(_findings(prepared(self._source, bound_values, tuple(grid), self._target, {})))
        except TritonExtError:
            return ()


def _parts(values: Sequence[Any]) -> Iterator[Any]:
    """Yields the values, and those in tuples."""
    for value in values:
        if isinstance(value, tuple):
            yield from _parts(value)
        else:
            yield value


def _has_gaps(value: Any) -> bool:
    """Whether an argument is a tensor with memory between its elements. Quick for others, because each launch asks."""
    if hasattr(value, "is_contiguous"):
        return not value.is_contiguous() and memory_of(value).has_holes
    flags = getattr(value, "flags", None)
    return flags is not None and not flags["C_CONTIGUOUS"] and memory_of(value).has_holes


def _numbers(value: Any) -> Any:
    """Returns what the addresses of a launch depend on: of a tensor all but its address."""
    if isinstance(value, tuple):
        return tuple(map(_numbers, value))
    if not is_tensor(value):
        return value if isinstance(value, int | float | bool) else None
    try:
        return replace(memory_of(value), address=0)
    except TritonExtError:
        return None


def _findings(launch: Launch) -> Iterator[Finding]:
    for use in launch.uses:
        if use.what not in ("load", "store", "atomic") or use.offset is None or use.argument is None:
            continue
        memory = launch.memories.get(launch.names[use.argument])
        if memory is None or not memory.has_holes or not is_inside(launch, use, memory):
            continue
        answer, _ = overflow(launch, use)
        search = between_elements(launch, use, memory) if answer is not None and answer.verdict is False else None
        box = search.box() if search is not None else None
        if search is None or box is None:
            continue
        answer = search.find(box)
        if not answer.verdict:
            continue
        point, is_first = search.first(box, answer)
        found = of_access(
            launch, use, "view", point=point, values=search.at(point), limits=None, exact=False, is_first=is_first
        )
        lanes, programs, is_all = _counted(search, launch, use.shape)
        yield replace(found, lanes=lanes, programs=programs, at_least=not is_all)


def _counted(search: Search, launch: Launch, shape: Sequence[int]) -> tuple[int, int, bool]:
    """Returns in how many lanes, and in how many programs, the goal holds, and whether all were counted."""
    box = search.box()
    assert box is not None
    each = 1
    for axis, size in enumerate(launch.sizes):
        each *= 1 if ("program", axis) in box else size
    same = 1
    for dimension, size in enumerate(shape):
        same *= 1 if ("lane", dimension) in box else size
    lanes, programs = 0, set()
    ranges = [range(low, high + 1) for low, high in box.values()]
    points = itertools.product(*ranges)
    for at in itertools.islice(points, _MOST_POINTS):
        point = dict(zip(box, at, strict=True))
        if search.holds_at(point):
            lanes += same
            programs.add(tuple(value for variable, value in point.items() if variable[0] == "program"))
    return lanes * each, len(programs) * each, next(points, None) is None
