# SPDX-License-Identifier: Apache-2.0
"""Compares two lists of lines, fast even if thousands of lines differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def diff(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[bool, int, int, int, int]]:
    """Splits two lists of lines into equal and differing blocks, with as many equal lines as possible.

    Yields:
        Whether the lines are equal, the begin and end of the block in `before`, and those in `after`.
    """
    from rapidfuzz.distance import LCSseq  # imported late: it takes as long as finding every extension

    # rapidfuzz compares hashes, which could collide for lines; the hash of a small number is the number itself.
    numbers: dict[str, int] = {}
    old, new = ([numbers.setdefault(line, len(numbers)) for line in lines] for lines in (before, after))
    start = start_after = 0  # of the lines that differ
    for block in LCSseq.opcodes(old, new):
        if block.tag == "equal":
            a, b = block.src_start, block.dest_start
            if (a, b) != (start, start_after):
                yield False, start, a, start_after, b
            yield True, a, block.src_end, b, block.dest_end
            start, start_after = block.src_end, block.dest_end
    if (start, start_after) != (len(before), len(after)):
        yield False, start, len(before), start_after, len(after)
