# SPDX-License-Identifier: Apache-2.0
"""What a misspelt name may have meant."""

from __future__ import annotations

from collections.abc import Iterable


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that is spelt almost like `name`; None where none is, because a wrong hint is worse than none.

    Of ``group.pass`` only the last component has to be close: a long group in common says nothing. Close is a quarter
    of the letters mistyped (one at least), or some of the words between underscores left out at either end.
    """
    wanted = name.lower()
    last = wanted.rpartition(".")[2]
    found: list[tuple[int, int, str]] = []
    for candidate in candidates:
        spelt = candidate.lower()
        end = spelt.rpartition(".")[2]
        mistakes = _mistakes(last, end)
        shortened = len(last) > 2 and (end.startswith(f"{last}_") or end.endswith(f"_{last}"))
        if shortened or mistakes <= max(1, len(last) // 4) < len(last):
            found.append((mistakes, _mistakes(wanted, spelt), candidate))
    return min(found)[2] if found else None


def _mistakes(a: str, b: str) -> int:
    """How many letters are to be added, dropped, changed, or swapped with the next one, to get from `a` to `b`."""
    rows = [list(range(len(b) + 1))]
    for i in range(1, len(a) + 1):
        row = [i]
        for j in range(1, len(b) + 1):
            cost = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (a[i - 1] != b[j - 1]))
            if i > 1 and j > 1 and a[i - 2 : i] == b[j - 1] + b[j - 2]:
                cost = min(cost, rows[-2][j - 2] + 1)
            row.append(cost)
        rows.append(row)
    return rows[-1][-1]
