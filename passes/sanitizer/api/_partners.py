# SPDX-License-Identifier: Apache-2.0
"""With which program and line another one races: from the word that it has found in the shadow, and from the numbers of
the launch.

`passes/sanitizer/ShadowRaces.cpp` writes the words; RATIONALE.md describes them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from triton_ext.probe._slot import Launch

from ._description import MOST_PROGRAMS, Description, footprints_of
from ._footprints import touching
from ._programs import Unknown

#: How many hashes of programs there are.
SALTS = 4
_GOLDEN = 0x9E3779B97F4A7C15
#: The most bits of the number of a program.
_MOST_BITS_OF_NUMBER = 16
#: The bytes of which four bits are set, in order of size: as many as 6 bits have values.
_BALANCED_BYTES = np.array([byte for byte in range(256) if byte.bit_count() == 4][:64])


class Partner(NamedTuple):
    """The other access of a race.

    Attributes:
        program: its ids; None if it may be one of several.
        programs: how many programs it may be; 0 if that is not known.
        places: file, line and kind of the accesses that it may be.
        is_certain: whether it is all of them.
    """

    program: tuple[int, int, int] | None
    programs: int
    places: tuple[tuple[str, int, str], ...]
    is_certain: bool = False


class _Set(NamedTuple):
    """What a word has of the programs in a set: the disjunction of their codes, which have `bits` bits."""

    name: str
    code: int
    bits: int

    @property
    def is_one(self) -> bool:
        """Whether all programs of the set have the same code."""
        return self.code.bit_count() == _weight(self.bits)

    def may_have(self, codes: Any) -> Any:
        """Whether programs with these codes, an array, may be in the set."""
        return codes & ~self.code == 0


@dataclass
class Raced:
    """A launch in which programs may race.

    Attributes:
        accesses: of its kernel, as the pass lists them.
        description: of its kernel.
        grid: of the launch.
        integers: those that it has passed.
    """

    accesses: list[dict[str, Any]]
    description: Description
    grid: tuple[int, ...]
    integers: Mapping[int, int]
    _known: dict[Any, Partner | None] = field(default_factory=dict)

    def partner(
        self, launch: Launch, note: Mapping[str, Any], program: tuple[int, int, int], address: int, word: int
    ) -> Partner | None:
        """Returns with what a program races; None if nothing is known of it.

        Args:
            launch: with the shadows that it had.
            note: of the check.
            program: which has found a race.
            address: of the element.
            word: of the shadow, as it was before the program came.
        """
        key = launch, note["argument"], note["set"], program, address, word
        if key not in self._known:
            self._known[key] = self._partner(launch, note, program, address, word)
        return self._known[key]

    def _partner(
        self, launch: Launch, note: Mapping[str, Any], program: tuple[int, int, int], address: int, word: int
    ) -> Partner | None:
        sets = {one.name: one for one in raced_sets(launch, note, program, word)}
        storage = launch.arguments[note["argument"]].storage
        here = [
            one for one in self.accesses
            if one["check"] == "race" and one["set"] in sets and launch.arguments[one["argument"]].storage == storage
        ]  # fmt: skip
        count = math.prod(self.grid)
        if not here or count > MOST_PROGRAMS:
            return Partner(None, 0, _places(here)) if here else None
        codes = codes_of(np.arange(count), note["bits"], _salt(launch, note))
        own = _linear(program, launch.grid)
        byte, size = address - storage[0], note["bytes"]
        found = []
        for one, touched, is_exact in self._touching(launch, here, byte, size):
            programs = np.arange(count) if touched is None else touched
            programs = programs[(programs != own) & sets[one["set"]].may_have(codes[programs])]
            if len(programs):
                found.append((one, programs, is_exact))
        if certain := [(one, programs) for one, programs, is_exact in found if is_exact]:
            first = min(int(programs[0]) for _, programs in certain)
            places = _places(one for one, programs in certain if programs[0] == first)
            return Partner(self._ids(first), 1, places, is_certain=True)
        every = np.unique(np.concatenate([programs for _, programs, _ in found])) if found else np.empty(0, np.int64)
        places = _places(one for one, *_ in found) or _places(here)
        return Partner(self._ids(int(every[0])) if len(every) == 1 else None, len(every), places)

    def _touching(
        self, launch: Launch, accesses: Iterable[dict[str, Any]], byte: int, size: int
    ) -> Iterator[tuple[dict[str, Any], Any, bool]]:
        """Yields each access with the programs in which it touches an element: an array, and whether it is exact; else
        it may have more. None for the array if nothing is known.
        """
        starts = [one.address - one.storage[0] for one in launch.arguments]
        try:
            known = self.description.programs(self.grid, self.integers)
            if any(use.what == "unknown" for use in known[1]):
                raise Unknown
        except Unknown:
            known = None
        for one in accesses:
            touched, is_exact = None, False
            for exact in (True, False) if known is not None else ():
                try:
                    parts = footprints_of(*known, [one], starts, exact=exact)
                    touched = np.unique(np.concatenate([[], *(touching(part, byte, size) for part in parts)]))
                    touched, is_exact = touched.astype(np.int64), exact
                    break
                except Unknown:
                    continue
            yield one, touched, is_exact

    def _ids(self, linear: int) -> tuple[int, int, int]:
        x, y, _ = (*self.grid, 1, 1)[:3]
        return linear % x, linear // x % y, linear // (x * y)


def raced_sets(launch: Launch, note: Mapping[str, Any], program: tuple[int, int, int], word: int) -> list[_Set]:
    """Returns the sets of a word in which another program is that races with `program`."""
    bits, own = note["bits"], note["set"]
    code = int(codes_of(np.array([_linear(program, launch.grid)]), bits, _salt(launch, note))[0])
    found = []
    for i, name in enumerate(note["sets"]):
        there = word >> i * bits & ((1 << bits) - 1)
        if _are_raced(own, name) and there and there != code:
            found.append(_Set(name, there, bits))
    # Of two locked accesses the locks differ, unless it is another one that races.
    free = [one for one in found if not ("locked" in own and "locked" in one.name)]
    return free or found


def _are_raced(own: str, other: str) -> bool:
    """Whether accesses of two sets race, by the names of the sets: the last word is the kind of access."""
    words, others = own.split(), other.split()
    are_ordered = ("signalled" in words and "waiting" in others) or ("signalled" in others and "waiting" in words)
    return (words[-1] != others[-1] or words[-1] == "store") and not are_ordered


def is_clear(launch: Launch | None, note: Mapping[str, Any], program: tuple[int, int, int], word: int) -> bool:
    """Whether a word has the code of a single program that races with `program`."""
    return launch is not None and any(one.is_one for one in raced_sets(launch, note, program, word))


def numbers_of(programs: Any, bits: int, salt: int) -> Any:
    """Returns the numbers that programs have among as many as there are codes, as an array of int64.

    Args:
        programs: their places in the grid, an array.
        bits: of a code.
        salt: of the launch.
    """
    bits = _bits_of_number(bits)
    with np.errstate(over="ignore"):
        product = (programs >> bits).astype(np.uint64) * np.uint64(_GOLDEN)
    hashed = (product >> np.uint64(64 - bits - bits * salt)).astype(np.int64)
    return (programs + hashed) & ((1 << bits) - 1)


def codes_of(programs: Any, bits: int, salt: int) -> Any:
    """Returns the codes that programs have in words, as an array of int64; the arguments are those of `numbers_of`.

    Each 8 bits of a code are those of 6 bits of the number. Behind them come bits of the number, and their complements.
    """
    left = numbers_of(programs, bits, salt)
    codes = np.zeros_like(left)
    for place in range(0, bits - bits % 8, 8):
        codes |= _BALANCED_BYTES[left & 63] << place
        left >>= 6
    pairs, place = bits % 8 // 2, bits - bits % 8
    every = (1 << pairs) - 1
    return codes | (left & every) << place | (~left & every) << (place + pairs)


def _bits_of_number(bits: int) -> int:
    return min(bits // 8 * 6 + bits % 8 // 2, _MOST_BITS_OF_NUMBER)


def _weight(bits: int) -> int:
    """Returns how many bits of a code are set."""
    return bits // 8 * 4 + bits % 8 // 2


def _linear(program: tuple[int, int, int], grid: tuple[int, int, int]) -> int:
    x, y, z = program
    return x + grid[0] * (y + grid[1] * z)


def _salt(launch: Launch, note: Mapping[str, Any]) -> int:
    return launch.arguments[note["argument"]].race % 8


def _places(accesses: Iterable[Mapping[str, Any]]) -> tuple[tuple[str, int, str], ...]:
    kinds = {"read": "load", "write": "store", "atomic": "atomic operation"}
    return tuple(dict.fromkeys((one["file"], one["line"], kinds[one["kind"]]) for one in accesses))
