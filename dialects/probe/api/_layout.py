# SPDX-License-Identifier: Apache-2.0
"""The layout of the buffer, in words of 64 bits: lower_probe/Layout.h has the same, RATIONALE.md explains them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MAGIC = 0x313045424F525054
CAPACITY, CURSOR, CHUNK_MASK, CHUNKS, RECORDS, SHARD_WORDS = 1, 2, 3, 4, 5, 6
SHARDS, CURSOR_WORDS, SHARD_CURSORS = 64, 16, 16
DIRECTORY = SHARD_CURSORS + SHARDS * CURSOR_WORDS
SITE_WORDS, COPY_WORDS, COPIES = 8, 128, 16
COUNT, LOST = 0, 1
MAX, INVERTED_MIN, SUM, SQUARES, NAN, INF = 2, 3, 2, 3, 4, 5  # of minmax and stats
BELOW, ABOVE = 2, 3  # of histogram
HEAD = 3
MOST_FAILURES = 16
STRIDE = 1024
LOCAL, CHUNK_KEY = 0xFFFF, 0x8000
HOME, BLOCK, LOOP, HOME_OF_LOOP = 0xFFFF, 0xFFFE, 0xFFFD, 0xFFFC  # in the place of a site: blocks of regions
HEADS = {HOME: 8, BLOCK: 2, LOOP: 3, HOME_OF_LOOP: 10}
#: Where the head of a block with the records of a loop has the number of their words.
LOOP_WORDS = {LOOP: 2, HOME_OF_LOOP: 9}
REGION_WORDS, CYCLE_BITS, SITE_BIT = 2, 40, 48
UNIT, START, END = 3, 4, 6  # of a home
# A launch slot
SLOT_STRIDE = 2048
SLOT_MAGIC = 0x31304C53_4F525054
SLOT_HEAD, ARGUMENT_WORDS, SLOT_COUNTERS = 8, 8, 4
RUNS = 2  # of the counters; COUNT is as in a line, and LOST is 0
# Of the site of `outside`: the key of the first lane, and the address of a lane with its key
FIRST_KEY, FIRST_ADDRESS, KEY_OF_ADDRESS, KEY_LANE_BITS = 0, 2, 3, 20


def segments(words: Any) -> Iterator[tuple[int, Any]]:
    """Yields the place and the used words of each shard, and then those of the pool, in the area of records."""
    size, area = int(words[SHARD_WORDS]), words[int(words[RECORDS]) :]
    cursors = words[SHARD_CURSORS:DIRECTORY:CURSOR_WORDS]
    each = [(number * size, (number + 1) * size, cursor) for number, cursor in enumerate(cursors)]
    for start, end, cursor in (*each, (SHARDS * size, int(words[CAPACITY]), words[CURSOR])):
        yield start, area[start : min(start + int(cursor), end)]
