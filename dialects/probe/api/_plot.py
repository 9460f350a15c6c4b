# SPDX-License-Identifier: Apache-2.0
"""Draws histograms and regions with Matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from triton_ext.errors import TritonExtError

from . import _statistics
from ._decode import Seen
from ._regions import costs_of


def draw(seen: Seen, path: str | Path) -> None:
    """Draws what `Session.plot` describes.

    Raises:
        TritonExtError: Matplotlib is not installed, or there is nothing to draw.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise TritonExtError("plot: Matplotlib is not installed", fix="pip install matplotlib") from None
    histograms = _statistics.histograms(seen)
    costs = [item for item in costs_of(seen).items() if item[1].kept]
    if not histograms and not costs:
        raise TritonExtError("plot: the session has seen neither a region nor a histogram")
    figure = Figure(figsize=(8, 0.6 + bool(costs) * (1.2 + 0.3 * len(costs)) + 2.4 * len(histograms)))
    heights = [1.2 + 0.3 * len(costs)] * bool(costs) + [2.4] * len(histograms)
    axes = list(figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0])
    if costs:
        _draw_costs(axes.pop(0), costs)
    for axis, (name, histogram) in zip(axes, histograms.items(), strict=True):
        axis.stairs(histogram.counts, histogram.edges, fill=True)
        axis.set_title(f"{name} ({histogram.below} below, {histogram.above} above, {histogram.nan} NaNs)", fontsize=9)
        axis.set_ylabel("count")
    figure.tight_layout()
    figure.savefig(path)


def _draw_costs(axis: Any, costs: list[tuple[Any, Any]]) -> None:
    """Draws a bar for each region, the longest one on top."""
    costs = sorted(costs, key=lambda item: item[1].total)
    labels = [f"{site.name}  {Path(site.file).name}:{site.line}" for site, _ in costs]
    bars = axis.barh(range(len(costs)), [cost.total / 1e3 for _, cost in costs], tick_label=labels)
    axis.bar_label(
        bars, [f"{cost.calls} of {cost.mean / 1e3:.3g} µs, {cost.share:.0%}" for _, cost in costs], padding=3
    )
    axis.margins(x=0.4)
    axis.set_xlabel("µs, of all programs together")
    axis.set_title("regions", fontsize=9)
