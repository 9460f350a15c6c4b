# SPDX-License-Identifier: Apache-2.0
"""The arithmetic intensity of a kernel: expressions, and their values for a launch."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, cast

from triton_ext.errors import TritonExtError

from ._amount import EXACT, UNKNOWN, UPPER_BOUND, Amount, Flops, add_up, evaluate, holds, ranges_of
from ._costs import FLOPS, LOADS, STORES, Cost
from ._evaluate import Evaluator
from ._expression import Poly, Symbol, poly
from ._graph import programs
from ._roofline import Device, Roofline, device_named
from ._unique import Access, bounded, different_bytes

Grid = Sequence[int] | int | Callable[[dict[str, Any]], Sequence[int]]


class Intensity:
    """The memory traffic and the FLOPs of a kernel as expressions. ``print`` shows a table with the lines.

    The expressions depend on the arguments of the kernel, and on the grid, ``grid0`` to ``grid2``.

    Attributes:
        kernel: the name of the kernel.
        costs: one for each operation.
        constants: the constexprs, by name.
    """

    def __init__(  # noqa: PLR0917
        self,
        kernel: str,
        costs: tuple[Cost, ...],
        arguments: Sequence[str],
        types: Sequence[str],
        constants: Mapping[str, object],
        sample: Mapping[str, object],
    ) -> None:
        self.kernel = kernel
        self.costs = costs
        self.constants = dict(constants)
        self._types = dict(zip(arguments, types, strict=True))
        self._sample = dict(sample)

    def bytes(self, *, grid: Grid | None = None, **arguments: object) -> Amount:
        """Returns the bytes that a launch requests from memory: loads and stores.

        Args:
            grid: the grid of the launch: one to three sizes, or a function of the arguments and constexprs, as for
                Triton.
            arguments: the integers among the kernel's arguments, and the sizes of descriptors. Those on which nothing
                depends may be missing, and may be anything.

        Raises:
            TritonExtError: an argument is missing, or does not fit its type.
        """
        return self._evaluated((LOADS, STORES), grid, arguments)

    def loads(self, *, grid: Grid | None = None, **arguments: object) -> Amount:
        """Returns the bytes that a launch loads; see `bytes`."""
        return self._evaluated((LOADS,), grid, arguments)

    def stores(self, *, grid: Grid | None = None, **arguments: object) -> Amount:
        """Returns the bytes that a launch stores; see `bytes`."""
        return self._evaluated((STORES,), grid, arguments)

    def unique(self, *, grid: Grid | None = None, **arguments: object) -> Amount:
        """Returns how many different bytes a launch loads, plus how many it stores; see `bytes`.

        The number is exact if the addresses are affine in the program, the iterations and the lane, and masks, loops
        and branches are ranges of them. Otherwise it is an upper bound: the bytes between the first and the last
        address that is accessed below an argument, or the requested ones if they are fewer or addresses are not known.
        Tensors of two arguments are taken to be different memory.
        """
        numbers = self._numbers(grid, arguments)
        amounts = [self._unique(self._of(quantity), numbers) for quantity in (LOADS, STORES)]
        return add_up(amounts)

    def flops(self, *, grid: Grid | None = None, **arguments: object) -> Flops:
        """Returns the FLOPs of a launch by kind and type; see `bytes`."""
        keys = dict.fromkeys((cost.kind, cost.type) for cost in self.costs if cost.quantity == FLOPS)
        numbers = self._numbers(grid, arguments)
        return Flops(
            {key: self._value([c for c in self._of(FLOPS) if (c.kind, c.type) == key], numbers) for key in keys}
        )

    def intensity(self, *, grid: Grid | None = None, **arguments: object) -> float:
        """Returns the FLOPs for each byte of a launch, requested as `bytes` counts them.

        Raises:
            TritonExtError: one of both numbers is not known.
        """
        moved = int(self.bytes(grid=grid, **arguments))
        computed = int(self.flops(grid=grid, **arguments).total)
        return computed / moved if moved else math.inf

    def expression(self, quantity: str) -> Poly | None:
        """Returns ``loads``, ``stores`` or ``flops`` as an expression; None if it is not known."""
        amounts = [cost.amount for cost in self._of(quantity)]
        if None in amounts:
            return None
        return sum((amount for amount in amounts if amount is not None), poly(0))

    def mark(self, quantity: str) -> str:
        """Returns whether ``loads``, ``stores`` or ``flops`` is ``exact``, an ``upper bound`` or ``unknown``."""
        costs = self._of(quantity)
        if any(cost.amount is None for cost in costs):
            return UNKNOWN
        return UPPER_BOUND if any(cost.reasons for cost in costs) else EXACT

    def roofline(
        self, device: str | Device, *, requested: bool = False, grid: Grid | None = None, **arguments: object
    ) -> Roofline:
        """Returns the least time that a launch takes on a device, and what limits it.

        Args:
            device: a name, such as ``H200``, or measured numbers as a `Device`.
            requested: whether all bytes of `bytes` come from memory; default: those of `unique`, as if each byte were
                moved once and caches kept it.
            grid: see `bytes`.
            arguments: see `bytes`.

        Raises:
            TritonExtError: the device or its throughput for a type is not known, or a number is not.
        """
        chip = device_named(device) if isinstance(device, str) else device
        flops = {key: int(amount) for key, amount in self.flops(grid=grid, **arguments).by_kind.items()}
        moved = self.bytes if requested else self.unique
        return Roofline.of(self.kernel, chip, int(moved(grid=grid, **arguments)), flops)

    def plot(
        self,
        path: str | os.PathLike[str],
        device: str | Device,
        *,
        measured: Sequence[tuple[str, float]] = (),
        requested: bool = False,
        grid: Grid | None = None,
        **arguments: object,
    ) -> None:
        """Draws the roofline of a device and the kernel in it, as SVG or PNG by the suffix of `path`.

        Args:
            path: the file.
            device: see `roofline`.
            measured: launches with these arguments, each a label and its seconds.
            requested: see `roofline`.
            grid: see `bytes`.
            arguments: see `bytes`.

        Raises:
            TritonExtError: as for `roofline`; or matplotlib is not installed.
        """
        from ._plot import plot

        limit = self.roofline(device, requested=requested, grid=grid, **arguments)
        plot(path, [limit.point(label, seconds) for label, seconds in measured] or [limit.point(self.kernel)])

    def _of(self, *quantities: str) -> list[Cost]:
        return [cost for cost in self.costs if cost.quantity in quantities]

    def _evaluated(self, quantities: tuple[str, ...], grid: Grid | None, arguments: Mapping[str, object]) -> Amount:
        return self._value(self._of(*quantities), self._numbers(grid, arguments))

    def _numbers(self, grid: Grid | None, arguments: Mapping[str, object]) -> dict[Symbol, int]:
        values = {**self._sample, **arguments}
        sizes: Any = grid({**self.constants, **values}) if callable(grid) else grid
        numbers: dict[Symbol, int] = {}
        if sizes is not None:
            sizes = (sizes,) if isinstance(sizes, (int, float, Integral)) else tuple(sizes)
            found = [_integer(size) for size in sizes]
            if not 1 <= len(found) <= 3 or any(size is None or size < 0 for size in found):
                raise TritonExtError(f"the grid is {sizes}", fix="one to three integers, none of them negative")
            for axis in range(3):
                numbers[programs(axis)] = int(sizes[axis]) if axis < len(sizes) else 1
        for name, value in self._elements(values):
            if name in self.constants:
                if value != self.constants[name]:
                    raise TritonExtError(f"'{name}' is {self.constants[name]} in this kernel, not {value}")
            elif isinstance(value, float) and self._types.get(name, "")[:1] in ("i", "u"):
                raise TritonExtError(f"'{name}' is {value}, which is not an integer")
            elif (number := _integer(value)) is not None:
                numbers[Symbol(name)] = _checked(name, number, self._types.get(name, ""))
            # A descriptor of the host is one argument, or one for each size, as Triton names them.
            for dimension, size in enumerate(getattr(value, "shape", ())):
                numbers[Symbol(f"{name}.shape.{dimension}")] = int(size)
        return numbers

    def _elements(self, values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
        """Yields the arguments by name; of a tuple its elements, which are called as in the IR: ``pair.0``."""
        for name, value in values.items():
            if isinstance(value, tuple) and name not in self.constants:
                yield from self._elements({f"{name}.{i}": element for i, element in enumerate(value)})
            else:
                yield name, value

    def _value(self, costs: list[Cost], numbers: Mapping[Symbol, int]) -> Amount:
        if any(numbers.get(programs(axis)) == 0 for axis in range(3)):
            return Amount(0)  # there is no launch
        evaluator = Evaluator()
        return add_up([evaluate(cost, numbers, evaluator) for cost in costs])

    def _unique(self, costs: list[Cost], numbers: Mapping[Symbol, int]) -> Amount:
        amounts: list[Amount] = []
        below: dict[str, list[Access]] = {}
        requested = Evaluator()
        for cost in costs:
            amount = evaluate(cost, numbers, requested)
            ranges = ranges_of(cost, numbers)
            place = cost.place
            if amount.value == 0:
                continue
            if place is None or ranges is None or not all(holds(check, ranges) for check in place.checks):
                amounts.append(bounded(amount, cost.line, "addresses that are not known"))
            else:
                below.setdefault(place.argument, []).append(Access(cost.line, amount, place, ranges))
        return add_up([*amounts, *map(different_bytes, below.values())])

    def __str__(self) -> str:
        from ._table import table

        return table(self)


def _integer(value: object) -> int | None:
    """Returns an integer or a truth value, also one of NumPy; None for anything else."""
    is_integer = isinstance(value, Integral) or type(value).__name__ in ("bool", "bool_")
    return int(cast("int", value)) if is_integer else None


def _checked(name: str, value: int, kind: str) -> int:
    """Returns the argument as the signed number that the kernel's integers are, if its type can hold it."""
    if kind[:1] not in ("i", "u") or not kind[1:].isdecimal() or kind == "i1":
        return value
    half = 1 << (int(kind[1:]) - 1)
    low, high = (0, 2 * half) if kind[0] == "u" else (-half, half)
    if not low <= value < high:
        raise TritonExtError(f"'{name}' is {value}, which its type {kind} cannot hold")
    # A larger unsigned number has the sign bit set. Unsigned operations on it are unknown, see `Graph.checks`.
    return value - 2 * half if value >= half else value
