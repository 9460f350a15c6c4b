# SPDX-License-Identifier: Apache-2.0
"""Tables of plain text, for files and summaries; `console` prints tables to a terminal."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def aligned(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """Returns a line for each row: columns are as wide as their widest cell, with two spaces between them.

    Args:
        rows: the cells; each row has as many as the first one.
        right: the columns that are aligned to the right, by index; the others are aligned to the left.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
