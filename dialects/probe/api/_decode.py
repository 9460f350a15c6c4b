# SPDX-License-Identifier: Apache-2.0
"""Reads what probes have written to a buffer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._firsts import First
from ._layout import (
    CHUNK_KEY,
    CHUNK_MASK,
    CHUNKS,
    COPIES,
    COPY_WORDS,
    DIRECTORY,
    HEAD,
    HEADS,
    LOCAL,
    LOOP,
    LOOP_WORDS,
    REGION_WORDS,
    SITE_WORDS,
    segments,
)
from ._sites import Site, sites_of
from ._timing import Timing, timing_of

_DTYPES: dict[str, Any] = {
    **{f"i{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)},
    **{f"f{bits}": np.dtype(f"f{bits // 8}") for bits in (16, 32, 64)},
    "i1": np.dtype(bool),
    "bf16": np.dtype(np.float32),
}


@dataclass
class Records:
    """Records of one site: the ids of the programs, the lanes (-1 for a scalar) and the values."""

    site: Site
    programs: Any
    lanes: Any
    values: list[Any]

    def part(self, rows: Any) -> Records:
        """Returns the records for which the array `rows` is true."""
        programs = tuple(axis[rows] for axis in self.programs)
        return Records(self.site, programs, self.lanes[rows], [value[rows] for value in self.values])


@dataclass
class Seen:
    """The decoded records of a session.

    Attributes:
        lines: the line of each site, once for each buffer: its count, or for a check its failures, its lost records,
            what `minmax` and `stats` keep; behind the line of a histogram are its bins.
        records: in the order of the buffer: those of each shard, and then those of the pool.
        timings: the regions of each buffer.
        firsts: what `probe.outside` has kept.
        unknown: whether counters are lost, because the buffer has no room for those of so many kernels.
    """

    lines: dict[Site, list[Any]] = field(default_factory=dict)
    records: list[Records] = field(default_factory=list)
    timings: list[Timing] = field(default_factory=list)
    unknown: bool = False
    firsts: list[First] = field(default_factory=list)

    def sum(self, site: Site, word: int) -> int:
        """Returns the sum of a word over the lines of `site`."""
        return sum(int(line[word]) for line in self.lines.get(site, ()))

    def part(self, *, by_rule: bool) -> Seen:
        """Returns the records of probes that are written in kernels, or of those that the pass `instrument` inserts.

        The timings are those of both. Checks with a note are in neither.
        """
        return Seen(
            {site: lines for site, lines in self.lines.items() if bool(site.rules) == by_rule and not site.note},
            [one for one in self.records if bool(one.site.rules) == by_rule and not one.site.note],
            self.timings,
            self.unknown,
        )

    def sites(self) -> list[Site]:
        """Returns the sites that have run."""
        return list(dict.fromkeys([*self.lines, *(records.site for records in self.records)]))


def dtype_of(name: str) -> Any:
    return _DTYPES.get(name, np.dtype(np.uint64 if name.startswith("!") else np.uint8))


def decode(words: Any, seen: Seen, device: str) -> None:
    """Adds what is in the buffer of `device` to `seen`."""
    chunks = int(words[CHUNK_MASK]) + 1
    area = words[words[CHUNKS] :].view(np.int64)
    kernels: dict[int, dict[int, Any]] = {}  # the chunks of each kernel by their number
    copies = area[: (chunks + 1) * COPIES * COPY_WORDS].reshape(chunks + 1, COPIES, COPY_WORDS)
    for index in map(int, np.flatnonzero(words[DIRECTORY : DIRECTORY + chunks])):
        key = int(words[DIRECTORY + index])
        kernels.setdefault(key & ~LOCAL, {})[key & (CHUNK_KEY - 1)] = copies[index]
    for key, found in kernels.items():
        for site in sites_of(key):
            if lines := _lines_of(site, found):
                seen.lines.setdefault(site, []).extend(lines)
    seen.unknown |= bool(copies[chunks].any())  # the kernels share it, so their number is not known
    blocks = []
    for first, used in segments(words):
        for at, key, rows in _runs(used):
            if key & LOCAL in HEADS:
                blocks.append((first + at, key, rows))
            else:
                seen.records.append(_records_of(sites_of(key)[(key & LOCAL) - 1], rows))
    if blocks:
        seen.timings.append(timing_of(blocks, device))


def checks_in(words: Any, device: str, launches: Iterable[int]) -> list[Records]:
    """Returns the records of checks with a note, in the buffer of `device`, that are of some launches.

    Args:
        words: the content of the buffer.
        device: the device of the buffer.
        launches: the serial numbers of the launches.
    """
    seen, serials = Seen(), np.array(list(launches), np.int64)
    decode(words, seen, device)
    checks = [one for one in seen.records if one.site.note]
    own = [one.part(np.isin(one.values[0].astype(np.int64), serials)) for one in checks]
    return [one for one in own if len(one.lanes)]


def _lines_of(site: Site, chunks: dict[int, Any]) -> list[Any]:
    """Returns the line of a site and its bins for each copy of its chunks in which a program has written something.

    If no program has written anything, returns the line of the first copy, so that the site is still listed. If the
    buffer had no room for the chunks, returns an empty list.
    """
    bins = -(-site.bins[0] // SITE_WORDS) * SITE_WORDS
    places = [(site.lines[0] * SITE_WORDS, SITE_WORDS), (site.lines[1] * SITE_WORDS, bins)]
    parts = []
    for start, length in places:
        for at in range(start, start + length, SITE_WORDS):
            if at // COPY_WORDS not in chunks:
                return []
            place = at % COPY_WORDS
            parts.append(chunks[at // COPY_WORDS][:, place : place + SITE_WORDS])
    lines = np.concatenate(parts, axis=1)
    return [line for i, line in enumerate(lines) if not i or line.any()]


def _runs(words: Any) -> Iterator[tuple[int, int, Any]]:
    """Yields the place, the tag and the rows of each run of records, or of blocks of regions, with one tag and size.

    A record that did not fit has left zeros at the end. A block that did not fit ends with the buffer.
    """
    at = 0
    while at < len(words) and words[at]:
        key = int(words[at])
        width = _width(words, at)
        if at + width > len(words):
            if key & LOCAL in HEADS:
                yield at, key, words[at:].reshape(1, -1).view(np.uint64)
            return
        run = 1
        most = 64
        while run < most:  # how many with this tag follow each other
            differs = _differs(words[at : at + most * width], key, width)
            run = int(differs[0]) if len(differs) else min(most, (len(words) - at) // width)
            if run < most or at + most * width >= len(words):
                break
            most *= 8
        yield at, key, words[at : at + run * width].reshape(-1, width).view(np.uint64)
        at += run * width


def _differs(words: Any, key: int, width: int) -> Any:
    """Returns the numbers of the rows of `width` words that have another tag than `key`, or another size."""
    differ = words[::width] != key
    if (place := LOOP_WORDS.get(key & LOCAL)) is not None:
        sizes = words[place::width]
        differ[: len(sizes)] |= sizes != sizes[0]
    return np.flatnonzero(differ)


def _width(words: Any, at: int) -> int:
    """Returns how many words the record, or the block of regions, at this place takes."""
    key = int(words[at])
    sites, local = sites_of(key), key & LOCAL
    if local not in HEADS:
        return sites[local - 1].words
    width = HEADS[local]
    if local != LOOP:
        width += REGION_WORDS * max(site.block for site in sites)
    if local in LOOP_WORDS and at + LOOP_WORDS[local] < len(words):
        width += int(words[at + LOOP_WORDS[local]])
    return width


def _records_of(site: Site, rows: Any) -> Records:
    low, high = rows & np.uint64(0xFFFFFFFF), rows >> np.uint64(32)
    programs = (low[:, 1], high[:, 1], low[:, 2])
    values = [_typed(rows[:, HEAD + i], name) for i, name in enumerate(site.types)]
    return Records(site, programs, high[:, 2].astype(np.uint32).view(np.int32), values)


def _typed(words: Any, name: str) -> Any:
    """Returns the values of type `name` whose bits are in `words`."""
    if name == "bf16":
        return (words.astype(np.uint32) << 16).view(np.float32)
    dtype = dtype_of(name)
    if dtype.kind == "b":
        return words != 0
    return words.astype(f"u{dtype.itemsize}").view(dtype)
