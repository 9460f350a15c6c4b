# SPDX-License-Identifier: Apache-2.0
"""Prints spaces and histories as tables."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from .history import front_of

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


#: What a report says of a study whose candidates were only compiled.
UNCHECKED = "compiled only: nothing was run, so no result was checked and no time was measured"


def column_of(objective: str) -> str:
    """Returns how a table names an objective."""
    return {"time": "ms", "compile_time": "compile time (s)"}.get(objective, objective.replace("_", " "))


def number_text(value: float) -> str:
    """Returns a value of an objective: integers as they are, others with four digits."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"


def objectives_text(best: Trial, plain: Trial | None, objectives: Sequence[str]) -> str:
    """Returns the resources of the winner, for a study that ran nothing: ``registers 31 (without edits 48)``."""
    others = plain.objectives if plain is not None else ()
    return ", ".join(
        f"{column_of(name)} {number_text(own)}"
        + (f" (without edits {number_text(others[number])})" if others and others[number] != own else "")
        for number, (name, own) in enumerate(zip(objectives, best.objectives, strict=True))
    )


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
    head = [f"{result.kernel} on {result.device or result.target}: {tried}"]
    if result.gain is None:
        head.append(UNCHECKED)
        gain = f": {objectives_text(result.best, result.plain, result.objectives)}"
    else:
        gain = _gain_text(result.gain)
    head += _winner_lines(result.best, gain)
    best = table_of_trials(best_trials(result.history), result.finals, result.objectives)
    return "\n".join([*head, text_of_table(best), *_front_lines(result.history, result.finals, result.objectives)])


def _front_lines(trials: Iterable[Trial], finals: Mapping[int, float], objectives: Sequence[str]) -> list[str]:
    """Returns the front of a study as text; nothing if it has one objective."""
    if len(objectives) < 2:
        return []
    front = front_of(trials)
    head = f"front: no other trial beats these in all of {', '.join(objectives)}"
    return [head, text_of_table(table_of_trials(front, finals, objectives))]


def text_of_report(report: Report) -> str:
    """Returns a study as text: its best trials, the front, what failed, and the importance of the knobs."""
    tried = f"{len(report.trials)} trials: {statuses_text(report.trials)}"
    lines = [f"{report.name} on {report.about['device'] or report.about['target']}: {tried}"]
    if not report.checked:
        lines.append(UNCHECKED)
    if report.best is not None:
        gain = _gain_text(report.gain) if report.gain else ""
        if not report.checked:
            gain = f": {objectives_text(report.best, report.plain, report.objectives)}"
        lines += _winner_lines(report.best, gain)
    lines.append(text_of_table(table_of_trials(best_trials(report.trials), report.finals, report.objectives)))
    lines += _front_lines(report.trials, report.finals, report.objectives)
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


def table_of_trials(
    trials: Iterable[Trial], finals: Mapping[int, float], objectives: Sequence[str] = ("time",)
) -> Table:
    """Returns a table of trials.

    Args:
        trials: the trials.
        finals: the milliseconds of those that were measured in turns at the end.
        objectives: the objectives of the study, each of which has a column.
    """
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    columns, cells = columns_of(objectives, finals)
    table = Table("trial", "status", *columns, "what is turned, or why it failed", box=box.SIMPLE)
    for trial in trials:
        turned = turned_text(trial)
        said = f"{turned}: {trial.reason.partition(chr(10))[0][:200]}" if trial.reason else turned
        table.add_row(str(trial.number), trial.status, *cells(trial), escape(said))
    return table


def columns_of(
    objectives: Sequence[str], finals: Mapping[int, float]
) -> tuple[list[str], Callable[[Trial], list[str]]]:
    """Returns the columns for the objectives of a study, and a function that returns a trial's cells.

    The time has two: as it was measured in the search, and in turns with the other best trials at the end.
    """
    columns = [column for name in objectives for column in ((column_of(name), *(["final ms"] * (name == "time"))))]

    def cells(trial: Trial) -> list[str]:
        found = []
        for number, name in enumerate(objectives):
            value = trial.objectives[number] if trial.objectives else None
            value = trial.milliseconds if name == "time" and value is None else value
            found.append("" if value is None else f"{value:.4g}" if name == "time" else number_text(value))
            if name == "time":
                found.append(f"{finals[trial.number]:.4g}" if trial.number in finals else "")
        return found

    return columns, cells
