# SPDX-License-Identifier: Apache-2.0
"""Finds the name that a misspelt name may stand for."""

from __future__ import annotations

from collections.abc import Iterable


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """Returns the candidate that is spelt almost like `name`; None if there is none: better no hint than a wrong one.

    For ``group.pass`` only the last component is compared, because equal groups say nothing about the passes. Two names
    are close if at most a quarter of the letters, or one, is mistyped, or if words between underscores are missing at
    one end.
    """
    wanted = name.lower()
    last = wanted.rpartition(".")[2]
    most = max(1, len(last) // 4)
    found: list[tuple[int, int, str]] = []
    for candidate in candidates:
        spelt = candidate.lower()
        end = spelt.rpartition(".")[2]
        shortened = len(last) > 2 and (end.startswith(f"{last}_") or end.endswith(f"_{last}"))
        # Comparing letters takes the time, and each letter too many is a mistake.
        if not shortened and (most >= len(last) or abs(len(last) - len(end)) > most):
            continue
        mistakes = _mistakes(last, end)
        if shortened or mistakes <= most:
            found.append((mistakes, _mistakes(wanted, spelt), candidate))
    return min(found)[2] if found else None


def _mistakes(a: str, b: str) -> int:
    """Returns how many letters of `a` have to be added, dropped, changed, or swapped with the next, to get `b`."""
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
