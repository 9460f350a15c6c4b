# SPDX-License-Identifier: Apache-2.0
"""The shadow for races that `backends/cpu/runtime/RaceShadow.cpp` reads and writes."""

from __future__ import annotations

import numpy as np

#: The bytes of a storage that have one block of the shadow.
_BYTES_OF_BLOCK = 512
#: The words of 64 bits of the shadow: the number of the launch and what is beside it, two for each block, and those of
#: the elements of each block.
_HEAD, _OF_BLOCK, _OF_ELEMENTS = 8, 2, 128


class RaceBlocks:
    """The shadow of a storage: two bytes for each byte, and a 32nd of it.

    Nobody clears it. A block that says another launch than the shadow has no programs. The operating system gives a
    page memory when the first word of it is written: those of the elements, when programs share a block.
    """

    def __init__(self, size: int) -> None:
        """Makes the shadow of a storage of so many bytes."""
        blocks = -(-size // _BYTES_OF_BLOCK)
        words = np.zeros(2 * _HEAD + blocks * (_OF_BLOCK + _OF_ELEMENTS), np.uint64)
        first = -words.ctypes.data // words.itemsize % _HEAD  # a multiple of 64
        self._words = words[first:]

    @property
    def nbytes(self) -> int:
        """How many bytes of addresses the shadow takes."""
        return int(self._words.nbytes)

    def of_next_launch(self) -> int:
        """Returns the address of the shadow, in which no program has touched anything."""
        self._words[0] += np.uint64(1)
        return int(self._words.ctypes.data)
