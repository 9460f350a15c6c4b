# SPDX-License-Identifier: Apache-2.0
"""The places of a kernel where integers matter: accesses, loops, branches and promises, each with when it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ._search import Reach
from ._values import Loop


@dataclass(frozen=True)
class Place:
    """A place in the source: the file, the line and the column; empty and 0 if it is unknown."""

    file: str = ""
    line: int = 0
    column: int = 0


@dataclass(frozen=True)
class Use:
    """One operation, with the numbers of its nodes.

    Attributes:
        what: ``load``, ``store``, ``loop``, ``if``, ``hint``, ``assume`` or ``unknown``.
        place: where it is.
        reach: when it runs.
        shape: the shape of the use's tensor; empty for a scalar.
        mask: the mask of an access; None if all lanes are active.
        argument: the number of the argument that the address of an access comes from; None if it is not known.
        offset: the offset of the address, in elements.
        bytes: the bytes of an element.
        value: the trip count of a loop, the condition of a branch or an assumption, the value of a hint.
        hints: what is promised: ``divisibility``, ``contiguity`` and ``constancy``.
        why: the reason why an operation is unknown.
    """

    what: str
    place: Place
    reach: Reach
    shape: tuple[int, ...] = ()
    mask: int | None = None
    argument: int | None = None
    offset: int | None = None
    bytes: int = 0
    value: int | None = None
    hints: tuple[tuple[str, tuple[int, ...]], ...] = ()
    why: str = ""


def place_of(text: str) -> Place:
    """Returns the place that is written as ``file:line:column``."""
    parts = text.rsplit(":", 2)
    return Place(parts[0], int(parts[1]), int(parts[2])) if len(parts) == 3 else Place()


def loops_of(items: Sequence[Mapping[str, Any]]) -> dict[int, Loop]:
    """Returns the bounds of all loops of a kernel."""
    found = {}
    for item in items:
        if item["what"] == "loop":
            found[item["loop"]] = Loop(item["lower"], item["upper"], item["step"], item["unsigned"])
        for part in ("body", "then", "else", "before", "after"):
            found |= loops_of(item.get(part, ()))
    return found


def uses_of(
    items: Sequence[Mapping[str, Any]], add: Any, strides: Mapping[int, Sequence[int]], reach: Reach | None = None
) -> Iterator[Use]:
    """Yields the uses of a kernel in order.

    Args:
        items: the tree that the pass `intensity` writes.
        add: `Graph.add`, for nodes that the tree does not have.
        strides: the strides of each descriptor that is an argument, as far as they are known.
        reach: when the items run.
    """
    reach = reach or Reach()
    for item in items:
        what = item["what"]
        place = replace(place_of(f"{item['line']}:{item['column']}"))
        if what in ("load", "store"):
            at = _element(item, add, strides) if "given" in item else item.get("element", item)
            yield Use(
                what, place, reach, tuple(item["shape"]), item.get("mask"), at.get("argument"), at.get("offset"),
                item["bytes"], why="descriptor" if "given" in item else "",
            )  # fmt: skip
        elif what == "loop":
            yield Use(what, place, reach, value=add("trips", item["loop"]))
            yield from uses_of(item["body"], add, strides, replace(reach, loops=(*reach.loops, item["loop"])))
        elif what == "if":
            condition = item["condition"]
            yield Use(what, place, reach, value=condition)
            for part, wanted in (("then", True), ("else", False)):
                yield from uses_of(
                    item[part], add, strides, replace(reach, conditions=(*reach.conditions, (condition, wanted)))
                )
        elif what == "while":
            yield from uses_of(item["before"], add, strides, reach)
            why = reach.unknown or f"the while loop in line {place.line} may not run"
            yield from uses_of(item["after"], add, strides, replace(reach, unknown=why))
        elif what == "times":
            yield from uses_of(item["body"], add, strides, reach)
        elif what == "hint":
            hints = tuple(
                (name, tuple(item[name])) for name in ("divisibility", "contiguity", "constancy") if name in item
            )
            yield Use(what, place, reach, tuple(item["shape"]), value=item["value"], hints=hints)
        elif what == "assume":
            yield Use(what, place, reach, value=item["condition"])
        elif what == "unknown" and item["of"] == "all":
            yield Use(what, place, reach, why=item["why"])


def _element(item: Mapping[str, Any], add: Any, strides: Mapping[int, Sequence[int]]) -> dict[str, int]:
    """Returns the argument and the offset of an element of a descriptor that is an argument."""
    number = item["given"]
    if number not in strides:
        return {}
    offset = add("constant", 0)
    for i, (index, stride) in enumerate(zip(item["at"], strides[number], strict=True)):
        at = add("addi", 64, index, add("lane", i))
        offset = add("addi", 64, offset, add("muli", 64, at, add("constant", stride)))
    return {"argument": number, "offset": offset}


def distinct(uses: Iterator[Use]) -> list[Use]:
    """Returns each use once: an atomic operation, which loads and stores, as ``atomic``."""
    found: dict[Use, str] = {}
    for use in uses:
        key = replace(use, what="access") if use.what in ("load", "store") else use
        found[key] = "atomic" if key in found and found[key] != use.what else use.what
    return [replace(use, what=what) for use, what in found.items()]
