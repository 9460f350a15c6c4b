# SPDX-License-Identifier: Apache-2.0
"""Runs a command with checks in each of its processes, and collects their reports: ``triton-ext sanitize``."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from triton_ext.errors import TritonExtError

from . import _text
from ._names import checked_names
from ._report import Report, merged, read
from ._settings import VARIABLE, Settings


def run(command: Sequence[str], checks: str, action: str) -> tuple[Report, int]:
    """Runs `command` and returns the report of all its processes and its exit status.

    Raises:
        TritonExtError: there is no such command or check, or its processes would not be checked.
    """
    for variable, value in (("TRITON_INTERPRET", "1"), ("TRITON_BACKENDS_IN_TREE", "1"), ("TRITON_EXT_PROBE", "0")):
        if os.environ.get(variable) == value:
            raise TritonExtError(f"{variable}={value}: kernels would not be checked", fix="unset it")
    program = shutil.which(command[0])
    if program is None:
        raise TritonExtError(f"no such command: {command[0]}")
    names = checked_names(checks)
    with tempfile.TemporaryDirectory(prefix="triton-ext-sanitize-") as directory:
        settings = Settings(names, action, output=str(Path(directory) / "%p.json"))
        returned = _wait(subprocess.Popen([program, *command[1:]], env={**os.environ, VARIABLE: settings.text()}))
        files = sorted(Path(directory).glob("*.json"), key=lambda file: file.stat().st_mtime)
        reports = [read(file.read_text()) for file in files]
    status = returned if returned >= 0 else 128 - returned
    return merged([*reports, Report(None, names)]), status


def _wait(process: subprocess.Popen[bytes]) -> int:
    """Returns the exit status of the process. Ctrl-C reaches the process, too, which decides when it ends."""
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue


def summary(report: Report) -> str:
    """Returns one line about a report."""
    return _text.summary(report.findings, report.accesses)


def coloured(report: Report) -> str:
    """Returns the text of a report with colours for a terminal."""
    return _text.coloured(report.text())
