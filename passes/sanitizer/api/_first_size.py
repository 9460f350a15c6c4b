# SPDX-License-Identifier: Apache-2.0
"""The least value of an integer argument with which the integers of a kernel wrap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from triton_ext.errors import TritonExtError

from ._expression import Expression
from ._goals import changed, wraps
from ._launch import Launch, grid_of, prepared
from ._search import Search

_LAST = (1 << 31) - 1  # of the values for which the launcher takes i32


@dataclass(frozen=True)
class FirstSize:
    """The least value of an argument that breaks.

    Attributes:
        name: the name of the argument.
        value: the value with which integers wrap.
        is_first: whether all lesser values were shown to be right; otherwise only the one before was.
        others: the arguments that were as large as this one in the launch, and have this value, too.
        grid: what the grid was taken to be, because only its numbers were known, such as ``(cdiv(n, BLOCK),)``;
            empty if it was known.
    """

    name: str
    value: int
    is_first: bool
    others: tuple[str, ...] = ()
    grid: str = ""

    def __str__(self) -> str:
        text = f"{' = '.join((self.name, *self.others))} = {self.value:,} is the first that breaks"
        text = text if self.is_first else f"{text} of those that were tried, {self.value - 1:,} does not"
        return f"{text}, if the grid is {self.grid}" if self.grid else text


def first_sizes(
    kernel: Any, launch: Launch, names: Iterable[str], *, grid: Any, target: object, options: Mapping[str, Any]
) -> tuple[dict[str, FirstSize], dict[str, str]]:
    """Returns the first size of each argument that has one, and the reason for each other one.

    Sizes that are equal in the launch, such as a number of columns and a stride, grow together if one of them alone is
    no use, because the other one is still as large as in the launch.

    Args:
        kernel: as `check_launch` takes it.
        launch: the launch in which integers wrap.
        names: the names of the arguments.
        grid: the grid of the launch; it follows the arguments if it is a function.
        target: the target of the compilation.
        options: the options of the backend.
    """
    found, reasons = {}, {}
    for name in names:
        alike = tuple(
            other
            for other, value in launch.integers.items()
            if other != name and value == launch.integers[name] and other in launch.values
        )
        for others in dict.fromkeys(((), alike)):
            try:
                size = _first_size(kernel, launch, (name, *others), grid=grid, target=target, options=options)
            except TritonExtError as error:  # of a type that the kernel does not take
                reasons[name] = str(error)
                break
            if size is not None and size.value > 1:
                found[name] = size
                break
            reasons[name] = _reason(size, (name, *others), grid)
    return found, {name: reason for name, reason in reasons.items() if name not in found}


def _reason(size: FirstSize | None, names: Sequence[str], grid: Any) -> str:
    """Returns why there is no first size."""
    if size is None:
        return "the search found no value with which integers wrap"
    fixed = "" if callable(grid) else "; the grid stays as it is, and would follow if it were a function"
    return f"integers wrap for every value of {' = '.join(names)}, because of the other arguments{fixed}"


def _first_size(
    kernel: Any, launch: Launch, names: Sequence[str], *, grid: Any, target: object, options: Mapping[str, Any]
) -> FirstSize | None:
    """Returns the least value of arguments that are equal, up to that of the launch, with which integers wrap.

    Returns None if there is none. All other arguments stay as they are; the grid follows if it is a function. The
    search is exact if the function computes with ``+ - * //`` and `triton.cdiv`. Otherwise it tries values, and takes
    for granted that a larger value breaks if a smaller one does.
    """
    name = names[0]
    most = launch.integers[name]
    ranges = [(1, min(most, _LAST))] + ([(_LAST + 1, most)] if most > _LAST else [])
    for low, high in ranges:
        given = {**launch.values, **dict.fromkeys(names, high)}
        at_high = launch if high == most else prepared(kernel, given, grid, target, options)
        if len({at_high.graph.widths[at_high.names.index(one)] for one in names}) > 1:
            return None  # equal values of several types
        at_high = _joined(at_high, names)
        try:
            sizes = _followed(at_high, names, grid)
        except (TypeError, ValueError, TritonExtError):
            found = _tried(at_high, names, (low, high), grid)
        else:
            found = _searched(replace(at_high, graph=replace(at_high.graph, grid=sizes)), names, (low, high))
        if found is not None:
            return found
    return None


def _joined(launch: Launch, names: Sequence[str]) -> Launch:
    """Returns a launch whose kernel has the first of some arguments in the place of each of them."""
    first, *others = (launch.names.index(name) for name in names)
    nodes = [
        ["argument", first] if node[0] == "argument" and node[1] in others else node for node in launch.graph.nodes
    ]
    return replace(launch, graph=replace(launch.graph, nodes=nodes))


def _followed(launch: Launch, names: Sequence[str], grid: Any) -> list[int]:
    """Returns the nodes of the grid's sizes, as expressions of arguments that are equal."""
    graph = launch.graph
    if not callable(grid):
        return graph.grid
    argument = Expression(graph, graph.add("exact argument", launch.names.index(names[0])))
    sizes = grid({**launch.values, **dict.fromkeys(names, argument)})
    sizes = [*(sizes if isinstance(sizes, list | tuple) else [sizes]), 1, 1][:3]
    return [one.node if isinstance(one, Expression) else graph.add("constant", int(one)) for one in sizes]


def _searches(launch: Launch) -> list[Search]:
    found = []
    for use in launch.uses:
        if use.what in ("load", "store", "atomic"):
            roots = [node for node in (use.mask, use.offset) if node is not None]
            found.append(Search(launch.graph, use.reach, use.shape, roots=roots, goal=wraps(use.mask, use.offset)))
        elif use.what in ("loop", "if") and use.value is not None:
            found.append(Search(launch.graph, use.reach, use.shape, roots=[use.value], goal=changed(use.value)))
    return found


def _searched(launch: Launch, names: Sequence[str], within: tuple[int, int]) -> FirstSize | None:
    low, high = within
    best, is_first = None, True
    variable = ("argument", launch.names.index(names[0]))
    for search in _searches(launch):
        box = search.box({variable: (low, high)})
        answer = search.find(box)
        is_first = is_first and answer.verdict is not None
        if not answer.verdict or box is None:
            continue
        least, is_known = search.least(box, answer, variable)
        best, is_first, high = least, is_first and is_known, least - 1
        if high < low:
            break
    return None if best is None else FirstSize(names[0], best, is_first, tuple(names[1:]))


def _tried(launch: Launch, names: Sequence[str], within: tuple[int, int], grid: Any) -> FirstSize | None:
    """Bisects: the graph of a kernel is the same for all values of one type."""
    number = launch.names.index(names[0])

    def breaks(value: int) -> bool:
        graph = launch.graph
        numbers = grid_of(grid, {**launch.values, **dict.fromkeys(names, value)})
        changed_graph = replace(
            graph,
            arguments={**graph.arguments, number: value},
            grid=[graph.add("constant", size) for size in numbers],
        )
        return any(one.find(one.box()).verdict for one in _searches(replace(launch, graph=changed_graph)))

    low, high = within
    if not breaks(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if breaks(middle) else (middle + 1, high)
    return FirstSize(names[0], high, high == within[0], tuple(names[1:]))
