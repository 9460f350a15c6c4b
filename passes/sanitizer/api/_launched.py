# SPDX-License-Identifier: Apache-2.0
"""Integers that wrap in launches of a compiled kernel, decided from their numbers, as `check_launch` does.

A launch only notes its numbers. Reading the report decides all launches of a kernel with different numbers at once: one
look suffices where nothing wraps with any integers between the least and the greatest ones, which is nearly always so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from triton_ext.probe._arguments import Parameters

from triton_ext.errors import TritonExtError

from . import _verdicts
from ._exact import counted
from ._expression import guessed
from ._finding import Finding
from ._first_size import first_sizes
from ._intervals import Interval
from ._launch import Launch, bound, integers_of, numbered, translated
from ._memory import is_tensor, memory_of
from ._search import Search
from ._uses import Use
from ._variables import of_access, of_masked_load, of_operation
from ._verdicts import Verdict
from ._wrapping import blamed, described
from ._wraps import overflow, search_of, varied, with_address, with_sizes

#: How many boxes a question about a launch may look at; fewer than of `check_launch`, because programs wait for it.
BUDGET = 1000
#: How many launches are decided one by one, where one look at all of them does not suffice.
MOST_ALONE = 64
#: How many decisions of a kernel are remembered.
_MOST_KNOWN = 4096

#: The grid and the integers of a launch.
Key = tuple[Any, ...]
#: What integers decide: those of these numbers, with the arguments by name.
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Wrapped:
    """An integer of a launch that wraps.

    Attributes:
        finding: about it, with the lanes of one launch.
        ways: the uses to which it matters, each with the search that has found it.
    """

    finding: Finding
    ways: tuple[tuple[Use, Search], ...]


@dataclass(frozen=True)
class Decided:
    """What is known of a launch."""

    wrapped: tuple[Wrapped, ...]
    verdicts: tuple[Verdict, ...]


class Launches:
    """The decisions about launches of one ``CompiledKernel``."""

    def __init__(self, kernel: Any) -> None:
        self._kernel, self._parameters = kernel, Parameters(kernel.src)
        self.name = str(kernel.metadata.name)
        self._translation: Any = None
        self._known: dict[Key, Decided] = {}
        self._shown: dict[Any, dict[str, Any] | None] = {}
        kinds = list(getattr(kernel.src, "signature", {}).values())
        passed = [kind for kind in kinds if kind != "constexpr"]
        # A launch can leave constants away.
        self._numbers = {len(some): [i for i, one in enumerate(some) if _has_numbers(one)] for some in (passed, kinds)}

    def key(self, grid: Sequence[int], arguments: Sequence[Any]) -> Key:
        """Returns the numbers on which it depends what wraps in a launch. Each launch asks."""
        numbers = [arguments[i] for i in self._numbers.get(len(arguments), range(len(arguments)))]
        return (*grid, *[one if type(one) is int else _number(one) for one in numbers])

    def values(self, arguments: Sequence[Any]) -> Values:
        """Returns all of a launch's arguments that a decision needs, without the tensors themselves."""
        return {name: _kept(one) for name, one in self._parameters.values(arguments).items()}

    def decided(self, launches: Mapping[Key, Values]) -> dict[Key, Decided]:
        """Returns what is known of each launch; the first three numbers of its key are the grid."""
        open_ = {key: values for key, values in launches.items() if key not in self._known}
        if open_:
            if len(self._known) > _MOST_KNOWN:
                self._known = {key: self._known[key] for key in launches if key in self._known}
            try:
                self._decide(open_)
            except TritonExtError as error:
                reason = self._verdict(None, str(error).partition("\n")[0])
                self._known |= dict.fromkeys(open_, Decided((), (reason,)))
        return {key: self._known[key] for key in launches}

    def variables(
        self, key: Key, values: Values, finding: Finding, offset: int | None, shape: tuple[int, ...]
    ) -> dict[str, Any] | None:
        """Returns the values of the variables on the line of a finding; None if it is not one of this launch.

        Args:
            key: of the launch.
            values: of the launch.
            finding: its program, its lane and its place matter.
            offset: of an access, as for `of_access`.
            shape: of the tile that the lane is one of.
        """
        place = finding.file, finding.line, finding.column, finding.program, finding.lane
        where = (key, finding.check, *place, offset, shape, finding.address is None)
        if where not in self._shown:
            if len(self._shown) > _MOST_KNOWN:
                self._shown.clear()
            try:
                found = (
                    self._variables(self._launch(key, values), finding, offset, shape) if self._is_of_python else None
                )
            except TritonExtError:
                found = None
            self._shown[where] = found
        return self._shown[where]

    @property
    def _is_of_python(self) -> bool:
        return hasattr(self._kernel.src, "fn")

    @staticmethod
    def _variables(
        launch: Launch, finding: Finding, offset: int | None, shape: tuple[int, ...]
    ) -> dict[str, Any] | None:
        if finding.check == "lanes":
            return of_masked_load(launch, finding)
        return of_operation(launch, finding, shape) if finding.check == "arith" else of_access(launch, finding, offset)

    def _verdict(self, use: Use | None, why: str, verdict: str = "unsupported") -> Verdict:
        kernel = self._kernel
        place = (use.place.file, use.place.line, use.place.column) if use else (_verdicts.file_of(kernel), 0, 0)
        return Verdict(str(kernel.metadata.name), *place, "overflow", verdict, why)

    def _decide(self, launches: Mapping[Key, Values]) -> None:
        if not self._is_of_python:
            raise TritonExtError("the kernel is not made of a function of Python")
        first = self._launch(*next(iter(launches.items())))
        proved = frozenset[int]()
        if len(launches) > 1:
            given = [integers_of(self._translation, self._arguments(values)) for values in launches.values()]
            proved = _proved_at_once(first, [key[:3] for key in launches], given)
        all_proved = len(proved) == sum(
            use.what == "unknown" or search_of(first, use) is not None for use in first.uses
        )
        for number, (key, values) in enumerate(launches.items()):
            launch = first if all_proved or number == 0 else self._launch(key, values)
            self._known[key] = self._decided_alone(launch, proved, is_last=number >= MOST_ALONE)

    def _decided_alone(self, launch: Launch, proved: frozenset[int], *, is_last: bool) -> Decided:
        """Returns what is known of a launch, in which the uses with the numbers `proved` are right."""
        verdicts: list[Verdict] = []
        found: dict[int, Wrapped] = {}
        for i, use in enumerate(launch.uses):
            if i in proved:
                verdicts.append(self._verdict(use, "", "proved"))
            elif use.what == "unknown":
                verdicts.append(self._verdict(use, f"{use.why} may access memory"))
            elif is_last and search_of(launch, use) is not None:
                verdicts.append(self._verdict(use, f"more than {MOST_ALONE} launches with different numbers"))
            else:
                verdicts += self._looked_at(launch, use, found)
        return Decided(tuple(self._with_first_sizes(launch, one) for one in found.values()), tuple(verdicts))

    def _arguments(self, values: Values) -> Mapping[str, Any]:
        """Returns all arguments of a launch by name, with the constants of the kernel."""
        source = self._kernel.src
        constants = {source.fn.arg_names[path[0]] for path in source.constants if len(path) == 1}
        (found,) = bound(source, (), {name: value for name, value in values.items() if name not in constants})
        return found

    def _launch(self, key: Key, values: Values) -> Launch:
        arguments = self._arguments(values)
        if self._translation is None:
            self._translation = translated(self._kernel.src, arguments, self._kernel.metadata.target, {})
        return numbered(self._translation, arguments, key[:3])

    def _looked_at(self, launch: Launch, use: Use, found: dict[int, Wrapped]) -> list[Verdict]:
        """Returns the verdict on a use, if it has one, and adds to what wraps, by its node."""
        answer, search = overflow(launch, use, BUDGET)
        if answer is None or search is None:
            return []
        if not answer.verdict:
            return [self._verdict(use, answer.why, "proved" if answer.verdict is False else "unsupported")]
        node = blamed(launch, use, search.at(answer.point))
        if node in found:
            found[node] = replace(found[node], ways=(*found[node].ways, (use, search)))
        else:
            lanes, programs = counted(search, launch, use.shape)
            finding = replace(described(launch, use, search, answer, node), lanes=lanes, programs=programs)
            found[node] = Wrapped(finding, ((use, search),))
        return [self._verdict(use, "", "checked")]

    def _with_first_sizes(self, launch: Launch, wrapped: Wrapped) -> Wrapped:
        """Says with which sizes the kernel breaks first. Of the grid only the numbers are known."""
        source = self._kernel.src
        names = varied(None, launch)
        constants = {name: launch.values[name] for name in launch.values if name not in launch.integers}
        plain = {name: value for name, value in constants.items() if type(value) is int}
        grid, text = guessed(launch.sizes, {name: launch.integers[name] for name in names}, plain)
        target = self._kernel.metadata.target
        sizes, _ = first_sizes(source.fn, launch, names, grid=grid, target=target, options={})
        told = {name: replace(size, grid=text) for name, size in sizes.items()}
        return replace(wrapped, finding=with_sizes(wrapped.finding, told))


def _proved_at_once(
    first: Launch, grids: Sequence[Sequence[int]], given: Sequence[tuple[Mapping[int, int], Mapping[Any, int]]]
) -> frozenset[int]:
    """Returns the numbers of the uses in which nothing wraps, whatever the integers and the grids between those are.

    Args:
        first: one of the launches.
        grids: the grids of all launches.
        given: the integers and the sizes of descriptors of all launches.
    """
    if any(sizes != first.graph.sizes for _, sizes in given):
        return frozenset()
    graph = replace(first.graph, nodes=[*first.graph.nodes], grid=[])
    graph.grid = [graph.add("exact argument", -1 - axis) for axis in range(3)]
    box: dict[tuple[str, int], Interval] = {
        ("argument", -1 - axis): _hull([grid[axis] for grid in grids]) for axis in range(3)
    }
    for number in first.graph.arguments:
        box["argument", number] = _hull([integers[number] for integers, _ in given])
    whole = replace(first, graph=graph)
    found = set()
    for i, use in enumerate(first.uses):
        search = search_of(whole, use, BUDGET)
        if search is not None and with_address(search.find(search.box(box)), use).verdict is False:
            found.add(i)
    return frozenset(found)


def _hull(numbers: Sequence[int]) -> Interval:
    return min(numbers), max(numbers)


def _has_numbers(kind: Any) -> bool:
    """Whether an argument of this type is an integer or has some."""
    return not isinstance(kind, str) or (kind != "constexpr" and not kind.startswith(("*", "fp", "bf", "f")))


def _number(value: Any) -> Any:
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, tuple):
        return tuple(map(_number, value))
    if hasattr(value, "block_shape"):
        return (*value.shape, *value.strides)
    return None


def _kept(value: Any) -> Any:
    """Returns an argument without its memory."""
    if isinstance(value, tuple):
        parts = [_kept(one) for one in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, np.generic):  # which has a shape, as a tensor does
        return value.item()
    if hasattr(value, "block_shape"):
        base = _kept(value.base)
        return SimpleNamespace(base=base, shape=value.shape, strides=value.strides, block_shape=value.block_shape)
    if is_tensor(value):
        try:
            return memory_of(value)
        except TritonExtError:
            return None
    return value if isinstance(value, int | float | bool | str) else None
