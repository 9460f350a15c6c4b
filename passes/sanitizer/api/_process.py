# SPDX-License-Identifier: Apache-2.0
"""Checks a whole process: what ``TRITON_EXT_SANITIZE`` starts, and where the report goes when the process ends."""

from __future__ import annotations

import atexit
import multiprocessing
import multiprocessing.util
import os
import sys
from pathlib import Path

from triton_ext.errors import TritonExtError

from ._session import Sanitizer
from ._settings import Settings


class _Checked:
    """The checks of this process, and of those that it forks, each of which has a report of its own."""

    def __init__(self, settings: Settings) -> None:
        self._sanitizer = Sanitizer(settings.checks, settings.action, settings.raises)
        self._sanitizer.__enter__()
        # Now, because a program can go to another directory, and take its output away.
        self._output = str(Path(settings.output).absolute()) if settings.output else ""
        self._stream = sys.stderr
        self._is_fork = self._is_finished = False
        atexit.register(self.finish)
        os.register_at_fork(after_in_child=self._begin_fork)
        # A process of multiprocessing ends without calling what atexit has.
        if multiprocessing.parent_process() is not None:
            self._finish_with_multiprocessing()
        multiprocessing.util.register_after_fork(self, _Checked._finish_with_multiprocessing)

    def _begin_fork(self) -> None:
        self._is_fork, self._is_finished = True, False
        self._sanitizer._begin_fork()

    def _finish_with_multiprocessing(self) -> None:
        multiprocessing.util.Finalize(None, self.finish, exitpriority=0)

    def finish(self) -> None:
        """Prints or writes the report of this process, once."""
        if self._is_finished:
            return
        self._is_finished = True
        report = self._sanitizer.report
        is_empty = not report.accesses and not report.findings
        if self._output and not (self._is_fork and is_empty):
            try:
                report.write(self._output.replace("%p", str(os.getpid())))
            except TritonExtError as error:
                print(f"triton-ext sanitize: {error}", file=self._stream)
        elif not self._output and not is_empty:
            print(report.text(), file=self._stream, flush=True)


def start(settings: Settings) -> Sanitizer:
    """Begins to check the kernels of this process, until it ends; then the report is printed or written."""
    return _Checked(settings)._sanitizer
