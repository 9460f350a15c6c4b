# SPDX-License-Identifier: Apache-2.0
"""Ends every process that an action leaves behind, also one that has left its process group.

The server is a subreaper: a process whose parent has ended becomes a child of the server, if an action started it. So
after an action, each child of the server that it did not have before is a remainder of the action.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time

from ..support.process_tree import stat_of

_PR_SET_CHILD_SUBREAPER = 36
#: Seconds for which remainders are looked for; each round kills all that are there.
_PATIENCE = 5.0


def become_subreaper() -> None:
    """Makes orphans among this process's descendants its children."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> set[int]:
    """Returns the ids of this process's children."""
    mine, found = os.getpid(), set()
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            with contextlib.suppress(OSError, ValueError, IndexError):
                if int(stat_of(int(entry.name))[1]) == mine:
                    found.add(int(entry.name))
    return found


def kill_group(pid: int) -> None:
    """Kills the process `pid` and its group, if it leads one."""
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def kill_remainders(known: set[int]) -> None:
    """Kills the children of this process that are not `known`, and those that appear meanwhile.

    A child that is killed may have children of its own, which become this process's. One that does not end, because it
    waits for a device, is left alone after five seconds.
    """
    until = time.monotonic() + _PATIENCE
    while (left := children() - known) and time.monotonic() < until:
        for pid in left:
            kill_group(pid)
        for pid in left:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.005)
