# SPDX-License-Identifier: Apache-2.0
"""Sums up by source line what the probes see that the pass `instrument` inserts.

The fields of a row of `table`:

- ``file``, ``line``, ``source``: the line and its text, empty if the file cannot be read; ``kernel``.
- ``programs``: how many programs have begun, at the line of the kernel.
- ``calls``: how often the line's memory operations and matrix products have run, summed over them.
- ``loaded``, ``stored``, ``atomic``: bytes, of lanes that were on; each lane of an atomic operation counts once.
- ``lanes``, ``off``: lanes of memory operations, and how many of them a mask has turned off.
- ``loops``, ``iterations``: how often the line's loops have begun, and their iterations.
- ``nans``: lanes in which the line's operations have made or loaded a NaN.
- ``time``: nanoseconds of the line's loops and matrix products, and at the line of the kernel those of its programs;
  summed over programs. The time of a loop includes that of what is in it.

A number that was not asked for is 0.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from triton_ext.support.columns import aligned

from . import _regions
from ._decode import Seen
from ._layout import COUNT, SUM
from ._sites import Site

BYTES = ("loaded", "stored", "atomic")
NUMBERS = ("programs", "calls", *BYTES, "lanes", "off", "loops", "iterations", "nans", "time")


def table(seen: Seen) -> Any:
    """Returns a structured array with a row for each source line, by file and line."""
    rows: dict[tuple[str, int], dict[str, int]] = {}
    kernels: dict[tuple[str, int], str] = {}
    for site in seen.lines:
        place = site.file, site.line
        numbers = rows.setdefault(place, dict.fromkeys((*NUMBERS, "on"), 0))
        kernels.setdefault(place, site.kernel)
        for name, value in _numbers(seen, site):
            numbers[name] += value
    for site, cost in _regions.costs_of(seen).items():
        rows[site.file, site.line]["time"] += round(cost.total)
    found = []
    for place in sorted(rows):
        numbers = rows[place]
        numbers["off"] = numbers["lanes"] - numbers.pop("on")
        found.append((*place, linecache.getline(*place).strip(), kernels[place], *numbers.values()))
    texts = [max((len(row[i]) for row in found), default=1) or 1 for i in (0, 2, 3)]
    head = [("file", f"U{texts[0]}"), ("line", np.int32), ("source", f"U{texts[1]}"), ("kernel", f"U{texts[2]}")]
    return np.array(found, np.dtype([*head, *((name, np.int64) for name in NUMBERS)]))


def _numbers(seen: Seen, site: Site) -> Iterator[tuple[str, int]]:
    """Yields what one probe adds to the row of its line: a field and a number."""
    count = seen.sum(site, COUNT)
    for rule in () if site.kind == "region" else site.rules:
        yield rule, count * site.weight if rule in BYTES else count * site.lanes if rule == "on" else count
        if rule == "calls":
            yield "lanes", count * site.lanes
        if rule == "loops" and site.kind == "stats":
            yield "iterations", sum(int(line.view(np.float64)[SUM]) for line in seen.lines[site])


def nans(seen: Seen) -> Any:
    """Returns the NaNs that were recorded, as a structured array, in the order in which programs have found them."""
    head = [("x", np.uint32), ("y", np.uint32), ("z", np.uint32), ("lane", np.int32), ("value", np.float64)]
    chosen = [one for one in seen.records if "nans" in one.site.rules]
    texts = [
        max((len(getattr(one.site, name)) for one in chosen), default=1) or 1
        for name in ("file", "name", "tensor", "kernel")
    ]
    file, *others = zip(("file", "name", "tensor", "kernel"), (f"U{size}" for size in texts), strict=True)
    places = [file, ("line", np.int32), *others]
    out = np.zeros(sum(len(one.lanes) for one in chosen), np.dtype([*places, *head]))
    start = 0
    for one in chosen:
        part = out[start : start + len(one.lanes)]
        start += len(one.lanes)
        for name in ("file", "line", "name", "tensor", "kernel"):
            part[name] = getattr(one.site, name)
        part["x"], part["y"], part["z"] = one.programs
        part["lane"], part["value"] = one.lanes, one.values[0]
    return out


def text(lines: Any, share: tuple[str, Sequence[str]] | None = None) -> list[str]:
    """Returns `lines` of `table` as lines of text; columns that are 0 everywhere are left out.

    Args:
        lines: rows of `table`.
        share: the head and the texts of a further column.
    """
    if not len(lines):
        return []
    head, texts = ([share[0]], [[one] for one in share[1]]) if share else ([], [[] for _ in lines])
    shown = [name for name in NUMBERS if lines[name].any()]
    rows = [("line", *head, *("time ns" if name == "time" else name for name in shown), "source")]
    rows += [
        (f"{Path(row['file']).name}:{row['line']}", *more, *(_shown(name, row) for name in shown), str(row["source"]))
        for row, more in zip(lines, texts, strict=True)
    ]
    return aligned(rows, right=range(1, len(rows[0]) - 1))


def _shown(name: str, row: Any) -> str:
    value = int(row[name])
    if not value:
        return ""
    return f"{value / int(row['lanes']):.1%}" if name == "off" else str(value)
