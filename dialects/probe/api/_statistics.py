# SPDX-License-Identifier: Apache-2.0
"""Sums up, by name, what `minmax`, `stats` and `histogram` keep of each site: a line of eight words, and the bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from triton_ext.errors import TritonExtError

from ._decode import Seen
from ._layout import ABOVE, BELOW, COUNT, INF, INVERTED_MIN, LOST, MAX, NAN, SITE_WORDS, SQUARES, SUM


@dataclass(frozen=True)
class Stats:
    """The statistics of `stats` under one name.

    Attributes:
        count: how many finite numbers.
        mean: their mean; NaN if there are none.
        variance: their variance: the mean square minus the square of the mean, in f64. If the mean is 10^k times as
            large as the deviation, 2 k of the 15 digits are lost.
        nan: how many NaNs.
        inf: how many infinities.
    """

    count: int
    mean: float
    variance: float
    nan: int
    inf: int


@dataclass(frozen=True)
class Histogram:
    """The histogram of `histogram` under one name.

    Attributes:
        counts: for each bin, as ``numpy.histogram`` counts numbers of float64.
        edges: the edges of the bins.
        below: how many numbers are below the first edge.
        above: how many numbers are above the last edge.
        nan: how many NaNs.
    """

    counts: Any
    edges: Any
    below: int
    above: int
    nan: int


def minmax(seen: Seen) -> dict[str, tuple[float, float, int]]:
    """Returns the least and the greatest number that `minmax` has seen, and the number of NaNs, by name.

    The first two are NaN if it has seen no number.
    """
    found: dict[str, tuple[float, float, int]] = {}
    for site, lines in seen.lines.items():
        if site.kind != "minmax":
            continue
        least, most, nan = found.get(site.name, (np.nan, np.nan, 0))
        for line in lines:
            nan += int(line[NAN])
            if line[COUNT]:  # the numbers of Python are exact: a float64 does not hold every int64
                words = line.view(np.uint64)
                low, high = (_number_of(key, site.types[0]) for key in (~words[INVERTED_MIN], words[MAX]))
                least = low if np.isnan(least) else min(least, low)
                most = high if np.isnan(most) else max(most, high)
        found[site.name] = least, most, nan
    return found


def stats(seen: Seen) -> dict[str, Stats]:
    """Returns the statistics of `stats`, by name."""
    totals: dict[str, Any] = {}
    for site, lines in seen.lines.items():
        if site.kind == "stats":
            total = totals.setdefault(site.name, np.zeros(5))
            for line in lines:
                sums = line.view(np.float64)
                total += (line[COUNT], sums[SUM], sums[SQUARES], line[NAN], line[INF])
    return {name: _stats_of(*total.tolist()) for name, total in totals.items()}  # without warnings of overflows


def histograms(seen: Seen) -> dict[str, Histogram]:
    """Returns the histograms of `histogram`, by name.

    Raises:
        TritonExtError: two probes of one name have different bins.
    """
    bins: dict[str, tuple[int, float, float]] = {}
    totals: dict[str, Any] = {}
    for site, lines in seen.lines.items():
        if site.kind != "histogram":
            continue
        if bins.setdefault(site.name, site.bins) != site.bins:
            raise TritonExtError(f"histograms of the name '{site.name}' have different bins")
        totals[site.name] = totals.get(site.name, 0) + np.sum(lines, axis=0)
    return {
        name: Histogram(
            total[SITE_WORDS : SITE_WORDS + bins[name][0]],
            np.linspace(*bins[name][1:], bins[name][0] + 1),
            int(total[BELOW]),
            int(total[ABOVE]),
            int(total[NAN]),
        )
        for name, total in totals.items()
    }


def _stats_of(count: float, total: float, squares: float, nan: float, inf: float) -> Stats:
    mean = total / count if count else np.nan
    variance = max(squares / count - mean * mean, 0.0) if count else np.nan
    return Stats(int(count), float(mean), float(variance), int(nan), int(inf))


def _number_of(key: Any, name: str) -> float:
    """Returns the number that `minmax` keeps as `key`: one of type `name` that it has extended to 64 bits."""
    sign = np.uint64(1 << 63)
    if name[0] == "u":
        return int(key)
    if name[0] == "i":
        return int((key ^ sign).view(np.int64))
    return float((key ^ sign if key & sign else ~key).view(np.float64))


def key_of(numbers: Any) -> Any:
    """The inverse of `_number_of`: 64-bit keys whose unsigned order is that of the numbers."""
    sign = np.uint64(1 << 63)
    if numbers.dtype.kind == "u":
        return numbers.astype(np.uint64)
    if numbers.dtype.kind != "f":
        return numbers.astype(np.int64).view(np.uint64) ^ sign
    bits = numbers.astype(np.float64).view(np.uint64)
    return np.where(bits & sign, ~bits, bits ^ sign)


def sums(seen: Seen, kind: str, which: int) -> dict[str, int]:
    """Returns the word `which` of the probes of a kind by name, summed over kernels and lines."""
    found: dict[str, int] = {}
    for site in seen.lines:
        if site.kind == kind:
            found[site.name] = found.get(site.name, 0) + seen.sum(site, which)
    return found


def lost(seen: Seen, chunks: int) -> dict[str, int]:
    """Returns what did not fit into the buffer, as `Session.lost` describes it."""
    found: dict[str, int] = {f"counters of kernels beyond the first {chunks}": 1} if seen.unknown else {}
    for kind in ("record", "check", "region"):
        for name, n in sums(seen, kind, LOST).items():
            if n:
                found[name] = found.get(name, 0) + n
    return found
