# SPDX-License-Identifier: Apache-2.0
"""A bar on the terminal while kernels are tuned."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any


class Bar:
    """A progress bar for a tuning, drawn on a terminal.

    It is drawn only when a step has ended, by the thread that tunes, because a thread of its own would disturb the
    measurements.

    Args:
        kernel: name of the kernel.
        total: the number of steps.
        wanted: whether to draw; None means only if standard error is a terminal.
    """

    def __init__(self, kernel: str, total: int, wanted: bool | None) -> None:
        self._kernel = kernel
        self._total = total
        self._wanted = sys.stderr.isatty() if wanted is None else wanted
        self._progress: Any = None
        self._task: Any = None

    def __enter__(self) -> Bar:
        if self._wanted:
            from rich.console import Console
            from rich.markup import escape
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
            self._progress.start()
            self._task = self._progress.add_task(f"tuning {escape(self._kernel)}", total=self._total)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def step(self, doing: str, completed: int | None = None) -> None:
        """Advances the bar by one step, or to `completed` steps, and shows the text `doing`."""
        if self._progress is not None:
            from rich.markup import escape

            text = f"{doing} {escape(self._kernel)}"
            if completed is None:
                self._progress.advance(self._task)
            self._progress.update(self._task, description=text, completed=completed, refresh=True)

    def more(self, steps: int) -> None:
        """Adds `steps` to the total."""
        if self._progress is not None:
            self._total += steps
            self._progress.update(self._task, total=self._total)
