# SPDX-License-Identifier: Apache-2.0
"""Draws rooflines."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from triton_ext.errors import TritonExtError

from ._roofline import Point

_MARKERS = "os^Dv<>ph*X"  # not as many as colors, so that few points share both


def plot(path: str | os.PathLike[str], points: Sequence[Point]) -> None:
    """Draws points below the roofs of their devices, as SVG or PNG by the suffix of `path`.

    Raises:
        TritonExtError: matplotlib is not installed, the suffix is another one, or no point has FLOPs and bytes.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".svg", ".png"):
        raise TritonExtError(f"a plot is an .svg or a .png, not '{suffix}'", fix="another suffix")
    shown = [point for point in points if point.intensity > 0 and point.peak > 0]
    if not shown:
        labels = ", ".join(point.label for point in points) or "no points"
        raise TritonExtError(f"nothing to draw: {labels}", fix="a launch that computes FLOPs and moves bytes")
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise TritonExtError("a plot needs matplotlib, which is not installed", fix="pip install matplotlib") from error
    figure = Figure(figsize=(9, 5.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set(xscale="log", yscale="log", xlabel="FLOP per byte", ylabel="FLOP per second")
    low, high = min([0.05, *(p.intensity / 4 for p in shown)]), max([1000.0, *(4 * p.intensity for p in shown)])
    for (name, unit), point in {(point.device.name, point.unit): point for point in shown}.items():
        bandwidth, ridge = point.device.bandwidth, point.peak / point.device.bandwidth
        xs = [low, ridge, high] if low < ridge < high else [low, high]
        label = f"{name} {unit}: {point.peak / 1e12:.4g} TFLOP/s, {bandwidth / 1e12:.3g} TB/s"
        axes.plot(xs, [min(point.peak, x * bandwidth) for x in xs], label=label)
    for i, point in enumerate(shown):
        reached = point.flops or min(point.peak, point.intensity * point.device.bandwidth)
        part = reached / min(point.peak, point.intensity * point.device.bandwidth)
        label = f"{point.label}: {part:.0%}" if point.flops else point.label
        axes.plot([point.intensity], [reached], _MARKERS[i % len(_MARKERS)], color=f"C{i % 10}", label=label)
    for point in points:
        if point not in shown:
            axes.plot([], [], " ", label=f"{point.label}: not drawn, no FLOPs or no bytes")
    axes.grid(visible=True, which="both", alpha=0.2)
    figure.legend(loc="outside right upper", fontsize=8)
    figure.savefig(path)
