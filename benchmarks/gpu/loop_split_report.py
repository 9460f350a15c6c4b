# SPDX-License-Identifier: Apache-2.0
"""The table and the plot of `loop_split.py`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

NAME = "gpu-loop-split"
RATIOS = (("split", "by hand"), ("no-wrap", "by hand"), ("split", "unsplit"), ("default", "unsplit"))


def short(config: dict[str, int]) -> str:
    sizes = [str(value) for key, value in config.items() if not key.startswith("num_")]
    return "x".join(sizes) + f",{config['num_warps']},{config['num_stages']}"


def percent(new: float, old: float) -> str:
    return f"{(new / old - 1) * 100:+.1f}%"


def text(data: dict[str, Any]) -> str:
    """Returns the tables."""
    where = data["environment"]
    lines = [
        f"benchmarks/gpu/loop_split.py, one run on {where['device']} (driver {where['driver']}), Triton "
        f"{where['triton']}, PyTorch {where['torch']}, {where['date']}",
        "ms: medians, launched in turns. regs/spills of one thread, spills as Triton counts them. -: did not run.",
    ]
    others = ("default", "no-wrap", "guarded", "branch", "min-trips", "epilogue", "prologue")
    families = dict.fromkeys(row["family"] for row in data["rows"])
    for family in families:
        rows = [row for row in data["rows"] if row["family"] == family]
        extra = tuple(n for n in others if any(n in row["ms"] for row in rows))
        names = ("unsplit", "split", "by hand", *extra)
        head = f"{'shape':22} {'tile,warps,stages':18}" + "".join(f" {name + ' ms':>11}" for name in names)
        ratios = [(one, other) for one, other in RATIOS if one in names]
        titles = "".join(f" {f'{one}:{other}':>15}" for one, other in ratios)
        lines += ["", f"== {family}", head + titles + "  regs/spills"]
        for row in rows:
            ms = row["ms"]
            line = f"{row['shape']:22} {short(row['config']):18}"
            line += "".join(f" {ms[name]:11.4f}" if name in ms else f" {'-':>11}" for name in names)
            for one, other in ratios:
                line += f" {percent(ms[one], ms[other]) if one in ms and other in ms else '-':>15}"
            used = [f"{row['registers'][n]}/{row['spills'][n]}" if n in ms else "-" for n in names]
            lines.append(line + "  " + " ".join(used))
        failed = {(n, reason) for row in rows for n, reason in row["failed"].items()}
        lines += [f"  {name}: {reason}" for name, reason in sorted(failed)]
    lines += ["", "== best of all configurations, measured again in turns; noise: the unsplit kernel against itself"]
    names = ("unsplit", "tuned", "by hand", "torch")
    head = f"{'kernel':25} {'shape':22}" + "".join(f" {name + ' ms':>11}" for name in names)
    lines.append(head + "  tuned:unsplit   noise  chosen")
    for row in data["tuned"]:
        ms = row["ms"]
        line = f"{row['family']:25} {row['shape']:22}" + "".join(f" {ms[name]:11.4f}" for name in names)
        line += f" {percent(ms['tuned'], ms['unsplit']):>14} {percent(ms['unsplit again'], ms['unsplit']):>7}"
        lines.append(line + f"  {row['pipeline']} {short(row['tuned'])} (unsplit: {short(row['unsplit'])})")
    return "\n".join(lines) + "\n"


def plot(data: dict[str, Any], path: Path) -> None:
    """Plots the time of each way relative to the unsplit kernel of the same configuration, and below, to the best
    unsplit one.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = NAME
    from matplotlib import pyplot

    families = list(dict.fromkeys(row["family"] for row in data["rows"]))
    figure, axes = pyplot.subplots(2, len(families), figsize=(4.6 * len(families), 7.5), squeeze=False, sharey="row")
    for family, (above, below) in zip(families, axes.T, strict=True):
        rows = [row for row in data["rows"] if row["family"] == family]
        for name, mark in (
            ("split", "o"),
            ("default", "*"),
            ("by hand", "x"),
            ("no-wrap", "D"),
            ("guarded", "s"),
            ("epilogue", "v"),
            ("prologue", "^"),
            ("min-trips", "+"),
        ):
            points = [(i, r["ms"][name] / r["ms"]["unsplit"]) for i, r in enumerate(rows) if name in r["ms"]]
            if points:
                above.plot(*zip(*points, strict=True), mark, label=name, fillstyle="none")
        above.axhline(1, color="black", linewidth=0.8)
        above.set_title(family)
        above.set_xticks(
            range(len(rows)), [f"{r['shape']} {short(r['config'])}" for r in rows], rotation=90, fontsize=6
        )
        above.legend(fontsize=7)
        best = [row for row in data["tuned"] if row["family"] == family]
        for offset, name in ((-0.25, "tuned"), (0, "by hand"), (0.25, "torch")):
            heights = [row["ms"][name] / row["ms"]["unsplit"] for row in best]
            below.bar([i + offset for i in range(len(best))], heights, 0.25, label=name)
        below.axhline(1, color="black", linewidth=0.8)
        below.set_ylim(0, 1.6)
        below.set_xticks(range(len(best)), [row["shape"] for row in best], rotation=20, fontsize=7)
        below.legend(fontsize=7)
    axes[0][0].set_ylabel("time / unsplit, same configuration")
    axes[1][0].set_ylabel("time / unsplit, best configuration")
    where = data["environment"]
    figure.suptitle(f"loop_split on {where['device']}, Triton {where['triton']} (lower is faster)")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def show(data: dict[str, Any], folder: Path) -> None:
    """Measures, and writes table and plot."""
    table = text(data)
    print(table)
    (folder / f"{NAME}.txt").write_text(table)
    try:
        plot(data, folder / f"{NAME}.svg")
    except ImportError:
        print("no Matplotlib, no plot", file=sys.stderr)
