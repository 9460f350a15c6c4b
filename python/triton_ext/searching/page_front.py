# SPDX-License-Identifier: Apache-2.0
"""The part of a study's page about several objectives: the trials that no other one beats, as table and picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING

from .history import front_of
from .rendering import column_of, number_text, turned_text

if TYPE_CHECKING:
    from .history import Trial
    from .reporting import Report

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 900, 300, 84, 40


def front_section(report: Report) -> str:
    """Returns the section; empty if the study has one objective."""
    names = report.objectives
    if len(names) < 2:
        return ""
    front = front_of(report.trials)
    if not front:
        return "<h2>Front</h2><p class=dim>No trial is valid.</p>"
    head = "".join(f"<th class=n>{escape(column_of(name))}" for name in names)
    rows = "".join(
        f"<tr><td class=n>{t.number}</td>"
        + "".join(f"<td class=n>{number_text(value)}</td>" for value in t.objectives)
        + f"<td>{escape(turned_text(t))}</td></tr>"
        for t in front
    )
    return (
        f"<h2>Front: no other trial beats these in all of {escape(', '.join(names))}</h2>"
        f"{_picture(report, front)}"
        f'<div class=wide><table id="front"><tr><th class=n>trial{head}<th>what is turned</tr>{rows}</table></div>'
    )


def _picture(report: Report, front: Sequence[Trial]) -> str:
    """Returns the first two objectives of all valid trials as SVG, with a line through the front of these two."""
    shown = {t.number for t in front}
    valid = [t for t in report.trials if t.is_valid and t.same_as is None]
    valid.sort(key=lambda t: t.number in shown)  # the front is drawn last
    x, x_ticks = _axis([t.objectives[0] for t in valid], [t.objectives[0] for t in front], _LEFT, _WIDTH - 20)
    y, y_ticks = _axis([t.objectives[1] for t in valid], [t.objectives[1] for t in front], _HEIGHT - _BOTTOM, 12)
    marks = "".join(
        f'<circle cx="{x(t.objectives[0]):.1f}" cy="{y(t.objectives[1]):.1f}" r="{5 if t.number in shown else 3.5}" '
        f'fill="var(--{"good" if t.number in shown else "accent"})" opacity=".7"><title>'
        f"{escape(f'trial {t.number}: {turned_text(t)}')}</title></circle>"
        for t in valid
    )
    path, lowest = "", float("inf")
    for trial in front:  # in the order of the first objective
        if trial.objectives[1] < lowest:
            lowest = trial.objectives[1]
            at = f"{x(trial.objectives[0]):.1f}"
            path += f"H{at}V{y(lowest):.1f}" if path else f"M{at} {y(lowest):.1f}"
    lines = "".join(
        f'<path d="M{_LEFT} {y(v):.1f}H{_WIDTH - 12}" stroke="var(--edge)"/>'
        f'<text x="{_LEFT - 8}" y="{y(v) + 4:.1f}" text-anchor="end">{number_text(v)}</text>'
        for v in y_ticks
    ) + "".join(
        f'<text x="{x(v):.1f}" y="{_HEIGHT - 22}" text-anchor="middle">{number_text(v)}</text>' for v in x_ticks
    )
    first, second = (escape(column_of(name)) for name in report.objectives[:2])
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{first} and {second} of each trial">'
        f"{lines}{marks}"
        f'<path d="{path}" fill="none" stroke="var(--good)" stroke-width="2"/>'
        f'<text x="{_LEFT}" y="{_HEIGHT - 5}">right: {first}; up: {second}; green: the front</text></svg>'
    )


def _axis(
    values: Sequence[float], front: Sequence[float], begin: float, end: float
) -> tuple[Callable[[float], float], list[float]]:
    """Returns the function from a value to its place, and the values of four ticks.

    Values above the front and the 95th of a hundred are drawn at the edge: one slow trial would hide all others.
    """
    low, high = min(values), max(*front, sorted(values)[int(0.95 * (len(values) - 1))])
    margin = 0.05 * (high - low or abs(low) or 1.0)
    low, high = low - margin, high + margin

    def place(value: float) -> float:
        return begin + (end - begin) * (min(value, high) - low) / (high - low)

    return place, [low + (high - low) * part for part in (0.05, 0.35, 0.65, 0.95)]
