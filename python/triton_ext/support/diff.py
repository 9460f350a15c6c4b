# SPDX-License-Identifier: Apache-2.0
"""The differences of two lists of lines, in moments also where thousands of them differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def diff(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[bool, int, int, int, int]]:
    """The blocks that the lists consist of, with as many equal lines as there can be.

    Yields:
        Whether the lines are the same, where they begin and end in `before`, and where in `after`.
    """
    from rapidfuzz.distance import LCSseq  # imported late: it takes as long as finding every extension

    # rapidfuzz compares by hash, and those of small numbers are themselves.
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
