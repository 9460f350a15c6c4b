# SPDX-License-Identifier: Apache-2.0
"""Findings of a launch that did not run: where they are, in which program and lane, and with which values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ._finding import Finding
from ._intervals import FALSE
from ._launch import Launch
from ._operations import Value
from ._search import Point
from ._uses import Place, Use
from ._variables import merged, of_line


def program_of(point: Point) -> tuple[int, int, int]:
    """Returns the program ids of a point; those on which nothing depends are 0."""
    return point.get(("program", 0), 0), point.get(("program", 1), 0), point.get(("program", 2), 0)


def lane_of(point: Point, shape: Sequence[int]) -> int:
    """Returns the lane of a point, row-major in its tile; -1 for a scalar."""
    if not shape:
        return -1
    lane = 0
    for i, size in enumerate(shape):
        lane = lane * size + point.get(("lane", i), 0)
    return lane


def shown_at(launch: Launch, use: Use, point: Point, place: Place) -> dict[str, Any]:
    """Returns what the reader needs to follow a finding: the iterations of the loops, the integer arguments, and the
    variables on the line.
    """
    iterations = [point.get(("iteration", loop), 0) for loop in use.reach.loops]
    shown = {**({"iteration": iterations} if iterations else {}), "grid": tuple(launch.sizes), **launch.integers}
    box = {variable: (at, at) for variable, at in point.items()}
    return merged(shown, of_line(launch, use, place.file, place.line, box))


def located(launch: Launch, use: Use, check: str, *, point: Point, message: str, values: Mapping[str, Any]) -> Finding:
    """Returns a finding at an operation."""
    return Finding(
        check, launch.kernel, use.place.file, use.place.line, use.place.column, message,
        program=program_of(point), lane=lane_of(point, use.shape),
        values={**values, **shown_at(launch, use, point, use.place)},
        access=use.what if use.what in ("load", "store", "atomic") else "",
    )  # fmt: skip


def of_access(
    launch: Launch,
    use: Use,
    check: str,
    *,
    point: Point,
    values: Mapping[int, Value],
    limits: tuple[int, int] | None,
    exact: bool,
    is_first: bool,
) -> Finding:
    """Returns the finding that an access is outside of a tensor, or of its view.

    Args:
        launch: the launch.
        use: the access.
        check: ``bounds`` or ``view``.
        point: where it happens.
        values: the values of all nodes at the point.
        limits: the bytes that may be accessed, counted from the tensor's first element; None if the access is between
            the elements of the tensor.
        exact: whether the exact address is meant.
        is_first: whether no earlier program does it.
    """
    assert use.offset is not None
    assert use.argument is not None
    name = launch.names[use.argument]
    memory = launch.memories[name]
    at = values[use.offset].exact if exact else values[use.offset].actual
    low = at[0] * use.bytes
    distance, where = None, "between the elements of its view"
    if limits is not None:
        distance = low - limits[0] if low < limits[0] else low + use.bytes - limits[1]
        where = f"{distance:,} bytes behind the end" if distance > 0 else f"{-distance:,} bytes before the start"
        where += " of its view, but inside of its storage" if check == "view" else " of its memory"
    coordinates = memory.coordinates(low)
    element = f"{name}[{', '.join(map(str, coordinates))}]" if coordinates is not None else f"element {at[0]} of {name}"
    verb = {"load": "loads", "store": "stores", "atomic": "changes"}[use.what]
    first = "" if is_first else "; an earlier program may do so, too"
    return Finding(
        check, launch.kernel, use.place.file, use.place.line, use.place.column,
        f"{verb} {element}, {where} (shape {memory.shape}){first}",
        name, memory.shape, memory.strides, memory.dtype, coordinates, distance, program_of(point),
        lane_of(point, use.shape), access=use.what, values={"offset": at[0], **shown_at(launch, use, point, use.place)},
        suggestion=_suggestion(use, values), severity="warning" if check == "view" else "error",
    )  # fmt: skip


def _suggestion(use: Use, values: Mapping[int, Value]) -> str:
    if use.mask is None:
        return "add a mask that is false for lanes outside of the tensor"
    if values[use.mask].exact != FALSE:
        return "the mask is true there: compare with the size of this tensor along each dimension"
    return ""


def at_argument(launch: Launch) -> Iterator[Finding]:
    """Yields the findings about arguments whose value breaks what the kernel was specialised on."""
    for name, divisor in launch.hints.items():
        memory = launch.memories.get(name)
        value = memory.address if memory is not None else launch.integers.get(name)
        if value is None or value % divisor == 0:
            continue
        what = "the address of this tensor" if memory is not None else str(value)
        rest = f" (it is {value % divisor} modulo {divisor})" if memory is not None else ""
        shape, strides, kind = (memory.shape, memory.strides, memory.dtype) if memory is not None else (None, None, "")
        yield Finding(
            "hints", launch.kernel, launch.place.file, launch.place.line, 0,
            f"the kernel was compiled for a '{name}' that is a multiple of {divisor}; {what} is not{rest}",
            name, shape, strides, kind, values={name: value} if memory is None else {},
            suggestion=f"compile the kernel without ':{divisor}' for '{name}', or pass an aligned value",
        )  # fmt: skip
