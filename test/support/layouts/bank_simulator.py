# SPDX-License-Identifier: Apache-2.0
"""A simulator of shared memory that works clock by clock, byte by byte, and shares no code with `tx.layouts`.

It serves requests in the order of the lanes: in each clock, a bank gives one row of its 4-byte words to all lanes that
still wait for it. A warp may only ask for 128 bytes at once.
"""

from __future__ import annotations

from collections.abc import Sequence


def clocks(addresses: Sequence[int], width: int) -> int:
    """Returns the clocks in which the lanes get all of their bytes; `width` is the bytes of each lane."""
    at_once = 128 // max(width, 4)
    clock = 0
    for first in range(0, len(addresses), at_once):
        waiting = {
            (lane, byte)
            for lane in range(first, min(first + at_once, len(addresses)))
            for byte in range(addresses[lane], addresses[lane] + width)
        }
        while waiting:
            clock += 1
            served: dict[int, int] = {}
            for _, byte in sorted(waiting):
                served.setdefault(byte % 128 // 4, byte // 128)
            waiting = {(lane, byte) for lane, byte in waiting if served[byte % 128 // 4] != byte // 128}
    return clock


def access(
    registers: dict[tuple[int, ...], tuple[int, ...]], memory: dict[tuple[int, ...], int], bits: int, vector: int
) -> int:
    """Returns the clocks of a tile's access.

    Args:
        registers: the element of each (register, lane, warp).
        memory: the offset of each element, in elements.
        bits: the bits of an element.
        vector: the elements that a lane accesses at once, side by side and aligned.
    """
    warps = sorted({warp for _, _, warp in registers})
    lanes = sorted({lane for _, lane, _ in registers})
    total = 0
    for warp in warps:
        # Each lane goes through its vectors in the order of the registers in which lane 0 meets them.
        offsets = {lane: {} for lane in lanes}  # type: dict[int, dict[int, int]]
        for (register, lane, w), element in registers.items():
            if w == warp:
                offsets[lane][register] = memory[element]
        order: dict[int, int] = {}
        for register in sorted(offsets[0]):
            order.setdefault(offsets[0][register] // vector, register)
        for register in order.values():
            starts = [offsets[lane][register] // vector * vector for lane in lanes]
            for lane, start in zip(lanes, starts, strict=True):
                assert set(range(start, start + vector)) <= set(offsets[lane].values())
            total += clocks([start * bits // 8 for start in starts], bits * vector // 8)
    return total
