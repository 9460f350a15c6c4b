# SPDX-License-Identifier: Apache-2.0
"""Asks Linux about processes and their parents, and has it kill a process whose parent ends."""

from __future__ import annotations

import ctypes
import signal
from pathlib import Path

_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Has the kernel kill this process when the thread that has started it ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def stat_of(process: int) -> list[str]:
    """Returns the fields of ``/proc/PROCESS/stat`` behind the name: the state, the parent, and so on.

    Raises:
        OSError: there is no such process.
    """
    # The name is in parentheses and may contain anything.
    return Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()
