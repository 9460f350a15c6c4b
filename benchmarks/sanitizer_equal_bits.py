# SPDX-License-Identifier: Apache-2.0
"""How often two programs have the same code in the shadow for races, so that the race between them is missed.

``python benchmarks/sanitizer_equal_bits.py``. For each number of bits of a code, and how many codes there are: of pairs
of different programs of grids of 1,000 to 1,000,000 programs, one in how many is equal in one launch, and how many of a
million are in two launches one after the other and in four. The pairs are at random, a power of two apart, and 1 to 64
apart.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from triton_ext.sanitize._partners import SALTS, _bits_of_number, numbers_of

BITS = (24, 21, 16, 12, 10, 8, 6, 5, 4, 3)
GRIDS = (1_000, 16_000, 1_000_000)
PAIRS = 1_000_000


def pairs(grid: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yields a name and the two programs of many pairs."""
    random = np.random.default_rng(0)
    first = random.integers(0, grid, PAIRS)
    other = (first + random.integers(1, grid, PAIRS)) % grid
    yield "random", first, other
    apart = 1 << random.integers(0, grid.bit_length() - 1, PAIRS)
    first = random.integers(0, grid - apart)
    yield "power of two", first, first + apart
    apart = random.integers(1, 65, PAIRS)
    first = random.integers(0, grid - apart)
    yield "neighbours", first, first + apart


def main() -> None:
    print(f"{'bits':>4} {'codes':>6} {'programs':>9}  {'pairs':14} {'one in':>10} {'two launches':>14} {'four':>10}")
    for bits in BITS:
        codes = 1 << _bits_of_number(bits)
        for grid in GRIDS:
            for name, first, other in pairs(grid):
                equal = [numbers_of(first, bits, salt) == numbers_of(other, bits, salt) for salt in range(SALTS)]
                often = np.mean([one.mean() for one in equal])
                two = np.mean([(equal[i] & equal[(i + 1) % SALTS]).mean() for i in range(SALTS)]) * 1e6
                four = np.logical_and.reduce(equal).mean() * 1e6
                shown = f"{1 / often:10.0f}" if often else f"{'never':>10}"
                print(f"{bits:4} {codes:6} {grid:9}  {name:14} {shown} {two:14.1f} {four:10.1f}")


if __name__ == "__main__":
    main()
