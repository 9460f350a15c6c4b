# SPDX-License-Identifier: Apache-2.0
"""The first lanes that `probe.outside` has kept in launch slots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ._arguments import signed
from ._layout import FIRST_ADDRESS, FIRST_KEY, KEY_LANE_BITS, KEY_OF_ADDRESS, SLOT_COUNTERS
from ._sites import Site, sites_of
from ._slot import Launch, Slot


class First(NamedTuple):
    """The first lane of a launch that is outside of a range.

    Attributes:
        site: the site of the operation.
        launch: the launch of the program.
        program: its ids.
        lane: row-major in the tile.
        address: the address of the lane; None if another lane has overwritten it at the same time.
        is_out_of_memory: whether it is outside of the memory of the argument, too.
    """

    site: Site
    launch: Launch
    program: tuple[int, int, int]
    lane: int
    address: int | None
    is_out_of_memory: bool


def keeps_first(site: Site) -> bool:
    """Returns whether the counters of a site are what `first_of` reads."""
    return site.kind == "outside"


def first_of(launch: Launch, site: Site, words: Any) -> First:
    """Decodes the words of a site, the first of which is not 0."""
    key, address, own = (int(words[place]) % 2**64 for place in (FIRST_KEY, FIRST_ADDRESS, KEY_OF_ADDRESS))
    number, lane = divmod(2**63 - 1 - key % 2**63, 2**KEY_LANE_BITS)
    x, y, _ = launch.grid
    program = number % x, number // x % y, number // (x * y)
    return First(site, launch, program, lane, signed(address) if own == key else None, key >= 2**63)


def lines_in(slots: Iterable[Slot], device: str) -> Iterator[tuple[Slot, Site, Any]]:
    """Yields the counters of each site in each slot, if they are not all 0. The device has to be at rest."""
    content: dict[int, Any] = {}
    for slot in slots:
        sites = sites_of(slot.launch.key)
        if id(slot.memory) not in content:
            content[id(slot.memory)] = slot.memory if device == "cpu" else slot.memory.cpu().numpy()
        start = slot.counters()
        found = content[id(slot.memory)][start : start + SLOT_COUNTERS * len(sites)].reshape(-1, SLOT_COUNTERS)
        yield from ((slot, site, line) for site, line in zip(sites, found, strict=True) if line.any())
