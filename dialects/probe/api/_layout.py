# SPDX-License-Identifier: Apache-2.0
"""The layout of the buffer, in words of 64 bits: lower_probe/Layout.h has the same, RATIONALE.md explains them."""

from __future__ import annotations

MAGIC = 0x313045424F525054
CAPACITY, CURSOR, CHUNK_MASK, CHUNKS, RECORDS, DIRECTORY = 1, 2, 3, 4, 5, 16
SITE_WORDS, COPY_WORDS, COPIES = 8, 128, 16
COUNT, LOST = 0, 1
MAX, INVERTED_MIN, SUM, SQUARES, NAN, INF = 2, 3, 2, 3, 4, 5  # of minmax and stats
BELOW, ABOVE = 2, 3  # of histogram
HEAD = 3
MOST_FAILURES = 16
STRIDE = 1024
LOCAL, CHUNK_KEY = 0xFFFF, 0x8000
HOME, BLOCK = 0xFFFF, 0xFFFE  # in the place of a site: blocks of regions
HOME_HEAD, BLOCK_HEAD, REGION_WORDS, CYCLE_BITS, SITE_BIT = 8, 2, 2, 40, 48
UNIT, START, END = 3, 4, 6  # of a home
