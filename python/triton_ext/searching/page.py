# SPDX-License-Identifier: Apache-2.0
"""The HTML page of a study: one file that loads nothing, with its history as a picture."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from .page_front import front_section
from .rendering import (
    UNCHECKED,
    best_trials,
    column_of,
    columns_of,
    configuration_text,
    number_text,
    objectives_text,
    statuses_text,
    turned_text,
)

if TYPE_CHECKING:
    from .history import Trial
    from .reporting import Report

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 900, 300, 64, 36
_STYLE = """
:root { color-scheme: light dark; --edge: #8886; --dim: #777; --good: #1a7f37; --bad: #cf222e; --accent: #1f55b5; }
@media (prefers-color-scheme: dark) { :root { --good: #4ac26b; --bad: #ff7b72; --accent: #79a7ff; } }
body { font: 15px/1.5 system-ui, "DejaVu Sans", Arial, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100% } th { text-align: left; font-weight: 600 }
td, th { border-bottom: 1px solid var(--edge); padding: .25rem .6rem .25rem 0; vertical-align: top }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
code, pre { font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", monospace }
pre { border: 1px solid var(--edge); border-radius: 4px; overflow-x: auto; padding: .6rem .8rem }
.dim { color: var(--dim) } .add { color: var(--good) } .del { color: var(--bad) } svg { max-width: 100%; height: auto }
.bar { background: var(--accent); display: inline-block; height: .7rem }
.big { font-size: 1.2rem } text { fill: currentColor; font-size: 12px } .wide { overflow-x: auto }
"""


def page_of(report: Report, differences: Iterable[tuple[str, list[str]]], problem: str = "") -> str:
    """Returns the page of a study.

    Args:
        report: what the study holds.
        differences: stage and lines of the IR's difference.
        problem: why there are none; empty if there are.
    """
    about = report.about
    title = f"{escape(about['kernel'])} on {escape(about['device'] or about['target'])}"
    body = [
        f"<h1>Search: {title}</h1>",
        _summary(report),
        "<h2>History</h2>",
        picture(report),
        front_section(report),
        "<h2>Importance of each knob</h2>",
        _importance(report),
        "<h2>The winning pipeline</h2>",
        _winner(report),
        "<h2>Difference of the IR against the default</h2>",
        *(_difference(stage, lines) for stage, lines in differences),
        f"<p class=dim>{escape(problem)}</p>" if problem else "",
        "<h2>Best trials</h2>",
        _table(report, best_trials(report.trials, 20)),
        "<h2>What failed</h2>",
        _table(report, [t for t in report.trials if t.reason and t.status not in ("pruned", "known failure")][:100]),
    ]
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Search: {title}</title><style>{_STYLE}</style>'
    return f"{head}<body>{''.join(body)}</body></html>\n"


def _summary(report: Report) -> str:
    gain = "" if report.gain is None else f"<p class=big>{report.gain:.3f} times as fast as without edits</p>"
    cases = "; ".join(report.about["cases"])
    checked = f"<br>Each candidate was checked on: {escape(cases)}." if report.checked else ""
    warning = "" if report.checked else f"<p class=del><b>Warning: {UNCHECKED}.</b></p>"
    if not report.checked and report.best is not None:
        gain = f"<p class=big>{escape(objectives_text(report.best, report.plain, report.objectives))}</p>"
    return (
        f"{gain}{warning}<p>{len(report.trials)} trials: {escape(statuses_text(report.trials))}.<br>"
        f"<span class=dim>Target {escape(report.about['target'])}; {'timed' if report.checked else 'compiled for'}: "
        f"{escape(report.about['shapes'])}.{checked}</span></p>"
    )


def picture(report: Report) -> str:
    """Returns the history as SVG: the first objective of each trial over the seconds of searching, and the best."""
    timed = [t for t in report.trials if t.is_valid and t.same_as is None]
    if not timed:
        return "<p class=dim>No trial was measured.</p>"
    end = max(t.at for t in report.trials) or 1.0
    values = [t.objectives[0] for t in timed]
    unit = column_of(report.objectives[0])
    low, high = min(values), sorted(values)[int(0.95 * (len(values) - 1))]
    low, high = low - 0.05 * (high - low or low), high + 0.05 * (high - low or low)

    def x(seconds: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - 12) * seconds / end

    def y(value: float) -> float:
        part = (min(value, high) - low) / (high - low)
        return 10 + (_HEIGHT - _BOTTOM - 10) * (1 - part)

    marks, path, best = [], "", float("inf")
    for trial in sorted(timed, key=lambda t: t.at):
        value = trial.objectives[0]
        label = escape(f"trial {trial.number}: {number_text(value)} {unit}, {turned_text(trial)}", quote=True)
        marks.append(
            f'<circle cx="{x(trial.at):.1f}" cy="{y(value):.1f}" r="3.5" fill="var(--accent)" opacity=".55">'
            f"<title>{label}</title></circle>"
        )
        if value < best:
            path += f"M{x(trial.at):.1f} {y(value):.1f}" if not path else f"H{x(trial.at):.1f}V{y(value):.1f}"
            best = value
    path += f"H{x(end):.1f}"
    failed = "".join(
        f'<path d="M{x(t.at):.1f} {_HEIGHT - _BOTTOM}v-6" stroke="var(--bad)"><title>'
        f"{escape(f'trial {t.number}: {t.status}')}</title></path>"
        for t in report.trials
        if t.status
        in ("compile error", "wrong result", "launch error", "time limit", "worker error", "out of resources")
    )
    lines = "".join(
        f'<path d="M{_LEFT} {y(v):.1f}H{_WIDTH - 12}" stroke="var(--edge)"/>'
        f'<text x="{_LEFT - 8}" y="{y(v) + 4:.1f}" text-anchor="end">{v:.3g}</text>'
        for v in (low + (high - low) * part for part in (0.0, 0.25, 0.5, 0.75, 1.0))
    )
    ticks = "".join(
        f'<text x="{x(end * part):.1f}" y="{_HEIGHT - 18}" text-anchor="middle">{end * part:.0f}</text>'
        for part in (0.0, 0.25, 0.5, 0.75, 1.0)
    )
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{unit} of each trial over time">'
        f'{lines}{ticks}{failed}{"".join(marks)}<path d="{path}" fill="none" stroke="var(--good)" stroke-width="2"/>'
        f'<text x="{_LEFT}" y="{_HEIGHT - 5}">seconds of searching; up: {unit}; green: the best so far; '
        f"red: trials that failed</text></svg>"
    )


def _importance(report: Report) -> str:
    if not report.importance:
        return "<p class=dim>There are too few trials to tell.</p>"
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td class=n>{value:.0%}</td>"
        f'<td style="width:50%"><span class=bar style="width:{value:.0%}"></span></td></tr>'
        for name, value in sorted(report.importance.items(), key=lambda one: -one[1])[:15]
        if value >= 0.005
    )
    return f"<table>{rows}</table>"


def _winner(report: Report) -> str:
    if report.best is None:
        return "<p class=dim>There is none yet.</p>"
    launch = escape(configuration_text(report.best.launch) or "default")
    lines = escape(report.best.pipeline or "no edits").replace("; ", ";\n")
    return f"<p>Trial {report.best.number}, configuration: {launch}</p><pre id=pipeline>{lines}</pre>"


def _difference(stage: str, lines: list[str]) -> str:
    if not lines:
        return f"<p class=dim>{escape(stage)}: no difference</p>"
    kinds = {"+": "add", "-": "del", "@": "dim"}
    shown = "\n".join(f'<span class="{kinds.get(line[:1], "")}">{escape(line)}</span>' for line in lines)
    state = "open" if len(lines) < 200 else ""
    head = f"<summary>{escape(stage)}: {len(lines):,} lines</summary>"
    return f"<details {state}>{head}<pre>{shown}</pre></details>"


def _table(report: Report, trials: Iterable[Trial]) -> str:
    columns, cells = columns_of(report.objectives, report.finals)
    rows = "".join(
        f"<tr><td class=n>{t.number}</td><td>{escape(t.status)}</td>"
        + "".join(f"<td class=n>{escape(cell)}</td>" for cell in cells(t))
        + f"<td>{escape(turned_text(t))}{_reason(t)}</td></tr>"
        for t in trials
    )
    head = "".join(f"<th class=n>{escape(column)}" for column in columns)
    head = f"<tr><th class=n>trial<th>status{head}<th>what is turned</tr>"
    return f"<div class=wide><table>{head}{rows}</table></div>" if rows else "<p class=dim>None.</p>"


def _reason(trial: Trial) -> str:
    return f"<br><span class=dim>{escape(trial.reason[:300])}</span>" if trial.reason else ""
