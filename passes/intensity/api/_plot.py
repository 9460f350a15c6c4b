# SPDX-License-Identifier: Apache-2.0
"""Draws rooflines."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from triton_ext.errors import TritonExtError

from ._roofline import Point


def plot(path: str | os.PathLike[str], points: Sequence[Point]) -> None:
    """Draws points below the roofs of their devices, as SVG or PNG by the suffix of `path`.

    Raises:
        TritonExtError: matplotlib is not installed, or the suffix is another one.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".svg", ".png"):
        raise TritonExtError(f"a plot is an .svg or a .png, not '{suffix}'", fix="another suffix")
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise TritonExtError("a plot needs matplotlib, which is not installed", fix="pip install matplotlib") from error
    figure = Figure(figsize=(8, 5.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set(xscale="log", yscale="log", xlabel="FLOP / byte", ylabel="FLOP / s")
    found = [point.intensity for point in points if point.intensity > 0]
    low, high = min([0.05, *(x / 4 for x in found)]), max([1000.0, *(4 * x for x in found)])
    for device in dict.fromkeys(point.device.name for point in points):
        mine = [point for point in points if point.device.name == device]
        for peak in sorted({point.peak for point in mine}):
            bandwidth = mine[0].device.bandwidth
            ridge = peak / bandwidth
            xs = [low, ridge, high] if low < ridge < high else [low, high]
            label = f"{device}: {bandwidth / 1e12:.3g} TB/s, {peak / 1e12:.4g} TFLOP/s"
            axes.plot(xs, [min(peak, x * bandwidth) for x in xs], label=label)
    for point in points:
        if point.intensity > 0:
            reached = point.flops or min(point.peak, point.intensity * point.device.bandwidth)
            marker = "o" if point.flops else "x"
            axes.plot([point.intensity], [reached], marker, color="black")
            axes.annotate(point.label, (point.intensity, reached), textcoords="offset points", xytext=(6, -9), fontsize=8)
    axes.grid(visible=True, which="both", alpha=0.2)
    axes.legend(loc="lower right", fontsize=8)
    figure.savefig(path)
