# SPDX-License-Identifier: Apache-2.0
"""Finds races between the programs of a launch, byte by byte, from the list of everything that they touched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Touch:
    """A program touched bytes of a storage: a ``load``, a ``store`` or an ``atomic``, while it held some locks."""

    kind: str
    line: int
    argument: str | None
    program: tuple[int, int, int]
    storage: int
    bytes: tuple[int, ...]
    locks: frozenset[int] = frozenset()


def races(touched: Iterable[Touch]) -> list[dict[str, Any]]:
    """Returns for each pair of lines that race the lines, the programs and how many bytes."""
    of_byte: dict[tuple[int, int], dict[Touch, None]] = defaultdict(dict)
    for touch in touched:
        for byte in touch.bytes:
            of_byte[touch.storage, byte][replace(touch, bytes=())] = None
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for touches in of_byte.values():
        for one in touches:
            for other in touches:
                are_atomic = one.kind == other.kind == "atomic"
                if one.kind == "load" or one.program == other.program or are_atomic or one.locks & other.locks:
                    continue
                line, other_line, argument = one.line, other.line, one.argument
                key = (min(line, other_line), max(line, other_line))
                row = found.setdefault(
                    key, {"check": "race", "line": line, "other": other_line, "argument": argument, "lanes": []}
                )
                row["programs"] = sorted({*map(tuple, row.get("programs", [])), one.program, other.program})
    return list(found.values())
