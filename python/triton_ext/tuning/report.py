# SPDX-License-Identifier: Apache-2.0
"""What was tried for one tuning key, how it went, and the error if nothing went well."""

from __future__ import annotations

import dataclasses
import io
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from ..errors import TritonExtError

if TYPE_CHECKING:
    from rich.console import RenderableType

Status = Literal[
    "ok",
    "compile error",
    "out of resources",
    "launch error",
    "check error",
    "wrong result",
    "time limit",
    "worker error",
]


class TuningError(TritonExtError):
    """No candidate compiled, ran and gave the right result.

    Attributes:
        report: the candidates and why each failed.
    """

    def __init__(self, message: str, report: Report) -> None:
        super().__init__(message)
        self.report = report


@dataclass(frozen=True)
class Row:
    """The result for one candidate.

    Attributes:
        config: its configuration, as ``str(triton.Config)``.
        pipeline: the name of its pipeline; empty if there is no choice of pipelines.
        status: how it ended.
        milliseconds: median, 20 % and 80 % quantile of its time, or another result of `do_bench`; empty unless ok.
        compile_seconds: how long it took to compile; None if that was not measured separately.
        reason: why it failed; empty if it did not.
        same_as: the pipeline that gives the same binary with this configuration, and was measured instead; empty if
            there is none.
        measured: how often it was measured; if more than once, `milliseconds` are medians.
    """

    config: str
    pipeline: str
    status: Status
    milliseconds: tuple[float, ...] = ()
    compile_seconds: float | None = None
    reason: str = ""
    same_as: str = ""
    measured: int = 1

    @property
    def problem(self) -> str | None:
        """The contradiction in the row; see `Report.problem`."""
        if self.status not in get_args(Status):
            return f"an unknown status {self.status!r}"
        if (self.status == "ok") != bool(self.milliseconds):
            return "times of a candidate that failed, or none of one that did not"
        times = (*self.milliseconds, *(() if self.compile_seconds is None else (self.compile_seconds,)))
        if not all(map(_is_time, times)) or 0 in self.milliseconds or not 1 <= self.measured <= _MOST:
            return "a time or a number that is negative, nothing, or too large"
        return None

    @property
    def summary(self) -> str:
        """The reason on one line."""
        lines = [line.strip() for line in self.reason.splitlines() if line.strip(" ^~")]
        if not lines:
            return ""
        # A compilation error shows the source before it says what is wrong.
        text = f"{lines[0].split(': at ')[0]}: {lines[-1]}" if ": at " in lines[0] else lines[0]
        return text if len(text) <= 160 else text[:159] + "…"


@dataclass(frozen=True)
class Report:
    """The result of tuning a kernel for one key.

    Attributes:
        kernel: the name of the kernel.
        key: the tuning key, as text.
        device: the target and the device that it was tuned for.
        outer: the edits of the pipelines that were active, as text.
        rows: the candidates, in the order in which they were given.
        best: the index of the fastest in `rows`; None if all failed.
        pruned: how many candidates were pruned.
        seconds: the wall time of the tuning, also in a report from the disk cache.
        cached: whether it comes from the disk cache.
    """

    kernel: str
    key: str
    device: str
    outer: str
    rows: tuple[Row, ...]
    best: int | None
    pruned: int
    seconds: float
    cached: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Returns the report as values of JSON's types."""
        return dataclasses.asdict(self)

    def to_json(self) -> str:
        """Returns the report as the text of a JSON object."""
        return json.dumps(self.as_dict(), indent=2)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Report:
        """Returns the report that `as_dict` has turned into `data`.

        Raises:
            KeyError, TypeError: `data` does not have this form.
        """
        rows = tuple(Row(**{**row, "milliseconds": tuple(row["milliseconds"])}) for row in data["rows"])
        return cls(**{**data, "rows": rows})

    @property
    def problem(self) -> str | None:
        """The contradiction in a report from an untrusted source; None if there is none."""
        wrong = next((row for row in self.rows if row.problem is not None), None)
        if wrong is not None:
            return wrong.problem
        if not _is_time(self.seconds):
            return "a negative or infinite time"
        if not 0 <= self.pruned <= _MOST:
            return "a negative or huge number of candidates"
        good = [row for row in self.rows if row.status == "ok"]
        if self.best is None:
            return "a candidate went well, but none is the best" if good else None
        if not 0 <= self.best < len(self.rows) or self.rows[self.best].status != "ok":
            return "the best candidate is not among those that went well"
        if self.rows[self.best].milliseconds[0] > min(row.milliseconds[0] for row in good):
            return "the best candidate is not the fastest"
        return None

    def table(self) -> RenderableType:
        """Returns a rich table of the candidates that were measured, the fastest first, and why the others failed."""
        from rich.console import Group
        from rich.markup import escape
        from rich.table import Table
        from rich.text import Text

        done = "from the cache" if self.cached else f"in {self.seconds:.1f} s"
        device, more, _ = self.device.partition(";")  # the features of a CPU fill lines
        device += ";…" if more else ""
        title = f"[bold]{escape(self.kernel)}[/] on {escape(device)}, key {escape(self.key)}: "
        title += f"{len(self.rows)} tried {done}" + (f", {self.pruned} pruned" if self.pruned else "")
        outer = [f"inside of [cyan]{escape(self.outer)}[/]"] if self.outer else []
        shared, labels = self._labels()
        outer += [f"all with {escape(shared)}"] if shared else []
        close = [row.measured for row in self.rows if row.measured > 1 and not row.same_as]
        outer += [f"{len(close)} that are close were measured up to {max(close)} times, in turns"] if close else []
        table = Table(box=None, header_style="bold", pad_edge=False)
        table.add_column("ms", justify="right", no_wrap=True)
        table.add_column("vs best", justify="right", no_wrap=True)
        table.add_column("compile s", justify="right", no_wrap=True)
        named = any(row.pipeline for row in self.rows)
        if named:
            table.add_column("pipeline", overflow="fold")
        table.add_column("configuration", overflow="fold")
        fastest = self.rows[self.best].milliseconds[0] if self.best is not None else 0.0
        for number, row in self._ranked():
            cells = [f"{row.milliseconds[0]:.4g}"]
            cells.append(f"{row.milliseconds[0] / fastest:.2f}x" if fastest else "")
            cells.append("" if row.compile_seconds is None else f"{row.compile_seconds:.2f}")
            same = [r.pipeline for r in self.rows if r.same_as == row.pipeline and r.config == row.config]
            cells += [escape(" = ".join([row.pipeline, *same]))] if named else []
            cells.append(escape(labels[number]))
            table.add_row(*cells, style="bold green" if number == self.best else None)
        failed = sum(row.status != "ok" for row in self.rows)
        reasons = [Text(f"{failed} failed\n  {self.failures()}", style="dim")] if failed else []
        return Group(title, *outer, table, *reasons)

    def _ranked(self) -> list[tuple[int, Row]]:
        """Returns number and row of each candidate that was measured, the fastest first."""
        rows = [(number, row) for number, row in enumerate(self.rows) if row.milliseconds and not row.same_as]
        return sorted(rows, key=lambda item: (item[0] != self.best, item[1].milliseconds))

    def _labels(self) -> tuple[str, list[str]]:
        """Returns the arguments that all configurations share, and for each row the rest of its configuration."""
        parts = [row.config.split(", ") for row in self.rows]
        common = {part for part in parts[0] if all(part in others for others in parts)} if len(parts) > 1 else set()
        same = ", ".join(part for part in parts[0] if part in common and part not in _UNSET) if parts else ""
        labels = [", ".join(part for part in some if part not in common and part not in _UNSET) for some in parts]
        return same, [label or "-" for label in labels]

    def __rich__(self) -> RenderableType:
        return self.table()

    def __str__(self) -> str:
        from rich.console import Console

        out = io.StringIO()
        Console(file=out, width=160, color_system=None).print(self.table())
        return "\n".join(line.rstrip() for line in out.getvalue().splitlines())

    def failures(self) -> str:
        """Returns why candidates failed; equal reasons are grouped."""
        groups: dict[tuple[str, str], list[str]] = defaultdict(list)
        _, labels = self._labels()
        for row, label in zip(self.rows, labels, strict=True):
            if row.status != "ok":
                known = [part for part in (row.pipeline, label if label != "-" else "") if part]
                groups[row.status, row.summary].append(" with ".join(known) or "-")
        lines = []
        for (status, summary), failed in groups.items():
            more = f"; and {len(failed) - 3} more" if len(failed) > 3 else ""
            lines.append(f"{status}: {summary}\n    " + "; ".join(failed[:3]) + more)
        return "\n  ".join(lines)


#: Of seconds, milliseconds, measurements and candidates.
_MOST = 10**12


def all_failed(report: Report) -> TuningError:
    """Returns the error for a report in which every candidate failed."""
    who = f"each of {len(report.rows)} candidates" if len(report.rows) > 1 else "the only candidate"
    return TuningError(f"{report.kernel}: {who} failed\n  {report.failures()}", report)


def announce(report: Report, key: tuple[Any, ...], candidates: Sequence[object]) -> None:
    """Prints the table of `report`, after Triton's own lines if the candidates have just been measured."""
    if report.best is not None and not report.cached:
        print(
            f"Triton autotuning for function {report.kernel},\nwith key as {key},\n"
            f"finished after {report.seconds:.2f}s,\nbest config selected: {candidates[report.best]};"
        )
    from rich.console import Console

    console = Console()
    (console if console.is_terminal else Console(width=160)).print(report)


def _is_time(value: float) -> bool:
    return 0 <= value < _MOST  # an integer of JSON may be larger than any float


#: How Triton prints the options that a configuration does not set.
_UNSET = ("num_ctas: 1", "maxnreg: None", "ir_override: None")
