# SPDX-License-Identifier: Apache-2.0
"""Runs a module of this package in a separate process, so that this one survives the crash of a library."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import dataclass

from . import resources
from .scratch import scratch_file

_SECONDS = 120


@dataclass(frozen=True)
class Ended:
    """How such a process ended.

    Attributes:
        answer: the bytes that it wrote to the descriptor which is its last argument.
        status: its exit status, or minus the number of the signal that ended it.
        last_words: the last line of its standard error; empty if there is none.
    """

    answer: bytes
    status: int
    last_words: str

    @property
    def how(self) -> str:
        """The status in words, e.g. ``SIGSEGV`` or ``exit status 1``."""
        return signal.Signals(-self.status).name if self.status < 0 else f"exit status {self.status}"


def run_module(module: str, *arguments: str) -> Ended:
    """Runs ``python -m module arguments... descriptor``, and kills it if it takes more than two minutes.

    Args:
        module: the full name of the module.
        arguments: its arguments before the last, which is the descriptor of a file for its answer.
    """
    with scratch_file() as answer, scratch_file() as errors:
        try:
            status = subprocess.run(
                [sys.executable, "-P", "-m", module, *arguments, str(answer.fileno())],
                env=resources.child_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                pass_fds=[answer.fileno()],
                timeout=_SECONDS,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            status = -signal.SIGKILL
        answer.seek(0)
        errors.seek(0)
        lines = errors.read().decode(errors="replace").strip().splitlines()
        return Ended(answer.read(), status, lines[-1] if lines else "")
