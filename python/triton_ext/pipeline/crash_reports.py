# SPDX-License-Identifier: Apache-2.0
"""Where a compilation is, for the report of a crash of the process."""

from __future__ import annotations

import os
from dataclasses import dataclass

from .inspection_library import load

#: Stands for the file in `Result.command`.
FILE = "\1"


def begin(what: str, file: str) -> int:
    """Makes a crash of the process report that it happened during `what`, until `end` is called.

    Args:
        what: e.g. ``kernel 'softmax', stage 'ttir'``.
        file: where a crash writes the module before the pass, if that was kept.

    Returns:
        A slot, for `end` and `begin_step`.
    """
    slot: int = load()[0].tritonExtCrashBegin(what.encode(errors="replace"), os.fsencode(file))
    return slot


@dataclass(frozen=True)
class Place:
    """Where a compilation is.

    Attributes:
        step: the pass that runs, e.g. ``pass 'cse'``; empty between passes.
        what: as for `begin`.
        before: the module before the pass, if it was kept.
        command: what runs the pass on a file, for which `FILE` stands; empty if the module was not kept.
    """

    step: str
    what: str
    before: str = ""
    command: str = ""

    @classmethod
    def parse(cls, published: bytes) -> Place | None:
        """What `publish` has written; None if no compilation is under way."""
        step, _, rest = published.decode(errors="replace").partition("\0")
        what, _, rest = rest.partition("\0")
        command, _, before = rest.partition("\0")
        return cls(step, what, before, command) if what else None

    def __str__(self) -> str:
        return f"in {self.step}, {self.what}" if self.step else f"outside of any pass, {self.what}"


def publish(file: int) -> None:
    """Writes where this process is to the open file `file`, before every pass; a crash then says nothing itself."""
    load()[0].tritonExtCrashPublish(file)


def begin_step(slot: int, what: str | None) -> None:
    """Says that the compilation `slot` runs `what`, which is not a pass of MLIR, e.g. a Python function.

    None ends that.
    """
    load()[0].tritonExtCrashPass(slot, what.encode(errors="replace") if what is not None else None)


def end(slot: int) -> None:
    """Ends the report that `begin` returned `slot` for."""
    load()[0].tritonExtCrashEnd(slot)
