# SPDX-License-Identifier: Apache-2.0
"""Prints the results of a session as tables: the probes, the times of regions, and the source lines."""

from __future__ import annotations

from pathlib import Path

from triton_ext.support.columns import aligned

from . import _lines, _regions
from ._decode import Seen
from ._layout import COUNT, LOST
from ._regions import Cost
from ._sites import Site


def text(everything: Seen, chunks: int) -> str:
    """Returns the tables of `Session.summary`.

    Args:
        everything: what the session has seen.
        chunks: how many chunks of counters its buffers have.
    """
    seen = everything.part(by_rule=False)
    costs = _regions.costs_of(seen)
    lines = aligned(_probes(seen, costs))
    if costs:
        lines += ["", *aligned(_costs(costs))]
        gone = [line for timing in everything.timings for line in _regions.subtracted(timing)]
        lines += ["subtracted from these times, what regions cost:", *gone] if gone else []
    if seen.unknown:
        lines.append(f"lost: counters of all kernels beyond the first {chunks} (fix: kernels=…)")
    by_line = _lines.text(_lines.table(everything.part(by_rule=True)))
    return "\n".join([*(lines if len(lines) > 1 or not by_line else ()), *by_line])


def _probes(seen: Seen, costs: dict[Site, Cost]) -> list[tuple[str, ...]]:
    """The head and a row for each probe."""
    kept = {site: cost.kept for site, cost in costs.items()}
    for one in seen.records:
        kept[one.site] = kept.get(one.site, 0) + len(one.lanes)
    rows = [("probe", "name", "count", "records", "lost", "kernel", "line")]
    for site in seen.sites():
        count, lost = seen.sum(site, COUNT), seen.sum(site, LOST)
        calls = str(costs[site].calls) if site in costs else ""
        counted = {"record": "", "check": f"{count} failed", "region": calls}.get(site.kind, str(count))
        records = (str(kept.get(site, 0)), str(lost)) if site.can_lose else ("", "")
        rows.append((site.kind, site.name, counted, *records, site.kernel, _place(site)))
    return rows


def _costs(costs: dict[Site, Cost]) -> list[tuple[str, ...]]:
    """The head and a row for each region, the longest first."""
    rows = [("region", "calls", "total ms", "mean µs", "share", "kernel", "line")]
    for site, cost in sorted(costs.items(), key=lambda item: -item[1].total):
        times = f"{cost.total / 1e6:.3f}", f"{cost.mean / 1e3:.3f}", f"{cost.share:.1%}"
        rows.append((site.name, str(cost.calls), *times, site.kernel, _place(site)))
    return rows


def _place(site: Site) -> str:
    return f"{Path(site.file).name}:{site.line}"
