# SPDX-License-Identifier: Apache-2.0
"""Prints spaces and histories as tables."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from .history import Trial
    from .reporting import Report
    from .result import SearchResult
    from .spaces import Space


def text_of_table(table: Table, width: int = 140) -> str:
    """Returns a table as plain text."""
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(table)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def table_of_space(space: Space) -> str:
    """Returns the knobs of a space as a table."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table("knob", "kind", "values", "default", "changes results", "meaning", box=box.SIMPLE)
    for knob in space.knobs:
        name = knob.name if knob.searched else f"({knob.name})"
        table.add_row(
            *map(escape, (name, knob.kind, knob.values_text, str(knob.default), knob.changes_results, knob.meaning))
        )
    return f"{headline(space)}\n(in parentheses: not turned unless named)\n{text_of_table(table)}"


def headline(space: Space) -> str:
    """Returns how many knobs a space has."""
    searched = sum(knob.searched for knob in space.knobs)
    return f"{space.kernel} for {space.target}: {len(space.knobs)} knobs, of which a search turns {searched}"


def statuses_text(trials: Iterable[Trial]) -> str:
    """Returns how many trials ended in each way, the most frequent first: ``40 ok, 3 wrong result``."""
    return ", ".join(f"{number} {status}" for status, number in Counter(t.status for t in trials).most_common())


def _winner_lines(best: Trial, gain: str) -> list[str]:
    return [
        f"best: trial {best.number}{gain}",
        f"configuration: {configuration_text(best.launch) or 'default'}",
        f"pipeline: {best.pipeline or 'no edits'}",
    ]


def _gain_text(gain: float) -> str:
    return f", {gain:.3f}x against the best configuration without edits"


def table_of_result(result: SearchResult) -> str:
    """Returns the winner of a search, and its best trials, as text."""
    tried = f"{len(result.history)} trials in {result.seconds:.0f} s: {statuses_text(result.history)}"
    head = [f"{result.kernel} on {result.device}: {tried}", *_winner_lines(result.best, _gain_text(result.gain))]
    return "\n".join(head) + "\n" + text_of_table(table_of_trials(best_trials(result.history), result.finals))


def text_of_report(report: Report) -> str:
    """Returns a study as text: its best trials, what failed, and the importance of the knobs."""
    tried = f"{len(report.trials)} trials: {statuses_text(report.trials)}"
    lines = [f"{report.name} on {report.about['device']}: {tried}"]
    if report.best is not None:
        lines += _winner_lines(report.best, _gain_text(report.gain) if report.gain else "")
    lines.append(text_of_table(table_of_trials(best_trials(report.trials), report.finals)))
    wrong = [trial for trial in report.trials if trial.status == "wrong result"]
    if wrong:
        lines += ["wrong results:", *(f"  trial {t.number}: {t.reason.partition(chr(10))[0]}" for t in wrong)]
    if report.importance:
        lines.append("importance of the knobs:")
        most = sorted(report.importance.items(), key=lambda one: -one[1])[:10]
        lines += [f"  {value:5.1%}  {name}" for name, value in most if value >= 0.005]
    return "\n".join(lines)


def turned_text(trial: Trial) -> str:
    """Returns what a trial turns, e.g. ``num_warps=8``."""
    return ", ".join(f"{name}={value}" for name, value in trial.values.items()) or "default"


def configuration_text(launch: Mapping[str, object]) -> str:
    """Returns e.g. ``BLOCK: 64, num_warps: 4``."""
    return ", ".join(f"{name}: {value}" for name, value in launch.items())


def best_trials(trials: Iterable[Trial], most: int = 10) -> list[Trial]:
    """Returns the valid trials with different binaries, best first."""
    valid = [t for t in trials if t.is_valid and t.same_as is None]
    return sorted(valid, key=lambda t: t.objectives)[:most]


def table_of_trials(trials: Iterable[Trial], finals: Mapping[int, float]) -> Table:
    """Returns a table of trials; `finals` has the milliseconds of those that were measured in turns at the end."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table("trial", "status", "ms", "final ms", "what is turned, or why it failed", box=box.SIMPLE)
    for trial in trials:
        turned = turned_text(trial)
        time = "" if trial.milliseconds is None else f"{trial.milliseconds:.4g}"
        final = f"{finals[trial.number]:.4g}" if trial.number in finals else ""
        said = f"{turned}: {trial.reason.partition(chr(10))[0][:200]}" if trial.reason else turned
        table.add_row(str(trial.number), trial.status, time, final, escape(said))
    return table
