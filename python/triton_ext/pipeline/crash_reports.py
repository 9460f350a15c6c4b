# SPDX-License-Identifier: Apache-2.0
"""Keeps track of where a compilation is, so that a crash of the process can report it."""

from __future__ import annotations

import os
from dataclasses import dataclass

from .inspection_library import load

#: The placeholder for the file name in `Result.command` and `Place.command`.
FILE = "\1"


def begin(what: str, file: str) -> int:
    """Begins a report: if the process crashes before `end`, it says that this happened during `what`.

    Args:
        what: e.g. ``kernel 'softmax', stage 'ttir'``.
        file: the path that the module before the pass is written to in a crash, if the module was kept.

    Returns:
        The number of the report, for `end` and `begin_step`.
    """
    slot: int = load()[0].tritonExtCrashBegin(what.encode(errors="replace"), os.fsencode(file))
    return slot


@dataclass(frozen=True)
class Place:
    """The place that a compilation has reached.

    Attributes:
        step: the pass that runs, e.g. ``pass 'cse'``; empty between passes.
        what: the argument of `begin`.
        before: the module before the pass; empty if it was not kept.
        command: a shell command that runs the pass on a file, with `FILE` for its name; empty if the module was not
            kept.
    """

    step: str
    what: str
    before: str = ""
    command: str = ""

    @classmethod
    def parse(cls, published: bytes) -> Place | None:
        """Reads what `publish` has written; returns None if no compilation is under way."""
        step, _, rest = published.decode(errors="replace").partition("\0")
        what, _, rest = rest.partition("\0")
        command, _, before = rest.partition("\0")
        return cls(step, what, before, command) if what else None

    def __str__(self) -> str:
        return f"in {self.step}, {self.what}" if self.step else f"outside of any pass, {self.what}"


def publish(file: int) -> None:
    """Has this process write its place to the descriptor `file` before every pass, instead of printing a report."""
    load()[0].tritonExtCrashPublish(file)


def begin_step(slot: int, what: str | None) -> None:
    """Notes that a compilation runs something other than a pass of MLIR, e.g. a Python function.

    Args:
        slot: the number of the report.
        what: what it runs; None when that has ended.
    """
    load()[0].tritonExtCrashPass(slot, what.encode(errors="replace") if what is not None else None)


def end(slot: int) -> None:
    """Ends the report with the number `slot`."""
    load()[0].tritonExtCrashEnd(slot)
