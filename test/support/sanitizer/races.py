# SPDX-License-Identifier: Apache-2.0
"""Finds races between the programs of a launch, byte by byte, from the list of everything that they touched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Touch:
    """A program touched bytes of a storage: a ``load``, a ``store`` or an ``atomic``."""

    kind: str
    line: int
    argument: str | None
    program: tuple[int, int, int]
    storage: int
    bytes: tuple[int, ...]


def races(touched: Iterable[Touch]) -> list[dict[str, Any]]:
    """Returns for each pair of lines that race the lines, the programs and how many bytes."""
    of_byte: dict[tuple[int, int], dict[tuple[str, int, str | None, tuple[int, int, int]], None]] = defaultdict(dict)
    for touch in touched:
        for byte in touch.bytes:
            of_byte[touch.storage, byte][touch.kind, touch.line, touch.argument, touch.program] = None
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for touches in of_byte.values():
        writers = [touch for touch in touches if touch[0] != "load"]
        for kind, line, argument, program in writers:
            for other_kind, other_line, _, other_program in touches:
                if program == other_program or kind == other_kind == "atomic":
                    continue
                key = (min(line, other_line), max(line, other_line))
                row = found.setdefault(
                    key, {"check": "race", "line": line, "other": other_line, "argument": argument, "lanes": []}
                )
                row["programs"] = sorted({*map(tuple, row.get("programs", [])), program, other_program})
    return list(found.values())
