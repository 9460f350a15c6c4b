# SPDX-License-Identifier: Apache-2.0
"""What a grid is in terms of the arguments of a launch: as expressions, and guessed from its numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ._launch import UNLIMITED
from ._values import Graph

#: A size of a grid: its text, and the function of the arguments that computes it.
_Size = tuple[str, Callable[[Mapping[str, Any]], Any]]


class Expression:
    """An integer of Python that depends on arguments; a function that computes the grid is called with it."""

    def __init__(self, graph: Graph, node: int) -> None:
        self._graph, self.node = graph, node

    def _apply(self, kind: str, a: object, b: object) -> Expression:
        nodes = [one.node if isinstance(one, Expression) else self._constant(one) for one in (a, b)]
        return Expression(self._graph, self._graph.add(kind, UNLIMITED, *nodes))

    def _constant(self, value: object) -> int:
        if not isinstance(value, int):
            raise TypeError(f"an integer is expected, found {value}")
        return self._graph.add("constant", int(value))

    def __add__(self, other: object) -> Expression:
        return self._apply("addi", self, other)

    def __radd__(self, other: object) -> Expression:
        return self._apply("addi", other, self)

    def __sub__(self, other: object) -> Expression:
        return self._apply("subi", self, other)

    def __rsub__(self, other: object) -> Expression:
        return self._apply("subi", other, self)

    def __mul__(self, other: object) -> Expression:
        return self._apply("muli", self, other)

    def __rmul__(self, other: object) -> Expression:
        return self._apply("muli", other, self)

    def __floordiv__(self, other: object) -> Expression:
        return self._apply("floordivsi", self, other)

    def __rfloordiv__(self, other: object) -> Expression:
        return self._apply("floordivsi", other, self)

    def __neg__(self) -> Expression:
        return self._apply("subi", 0, self)

    def __bool__(self) -> bool:
        raise TypeError("the grid depends on a comparison")

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise TypeError("the grid depends on a comparison")


def guessed(
    grid: Sequence[int], integers: Mapping[str, int], constants: Mapping[str, int]
) -> tuple[Callable[[Mapping[str, Any]], Any], str]:
    """Returns a function of the arguments that gives these sizes of a grid, and its text.

    Each size is an argument, an argument divided by a constant and rounded up, a product of two of these, or a number.

    Args:
        grid: the sizes.
        integers: the arguments by name, without those that are constants.
        constants: the constants of the kernel.
    """
    values = {**integers, **constants}
    sizes = [_size_of(size, integers, constants, values) for size in grid]
    while len(sizes) > 1 and sizes[-1][0] == "1":
        sizes.pop()
    text = ", ".join(text for text, _ in sizes)
    return lambda meta: tuple(compute(meta) for _, compute in sizes), f"({text}{',' * (len(sizes) == 1)})"


def _size_of(size: int, integers: Mapping[str, int], constants: Mapping[str, int], values: Mapping[str, int]) -> _Size:
    if size > 1:
        plain = list(_terms(integers, constants))
        products = (_product(*pair) for pair in itertools.combinations(plain, 2))
        for text, compute in itertools.chain(plain, products):
            if compute(values) == size:
                return text, compute
    return str(size), lambda _: size


def _terms(integers: Mapping[str, int], constants: Mapping[str, int]) -> Iterator[_Size]:
    for name, value in integers.items():
        if value > 1:
            yield name, lambda meta, name=name: meta[name]  # type: ignore[misc]
    for name, value in integers.items():
        for by, block in constants.items():
            if value > 1 and block > 1:
                yield (
                    f"cdiv({name}, {by})",
                    lambda meta, name=name, block=block: (meta[name] + block - 1) // block,  # type: ignore[misc]
                )


def _product(a: _Size, b: _Size) -> _Size:
    return f"{a[0]} * {b[0]}", lambda meta: a[1](meta) * b[1](meta)
