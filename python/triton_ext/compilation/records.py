# SPDX-License-Identifier: Apache-2.0
"""What one compilation did, as `tx.describe` and `tx.trace` return it."""

from __future__ import annotations

from dataclasses import dataclass

from ..pipeline.records import StageRecord


@dataclass(frozen=True)
class Compilation:
    """One compilation of one kernel.

    Attributes:
        kernel: its name.
        target: e.g. ``cuda:90`` or ``hip:gfx942``.
        triton: version of Triton.
        pipeline: the edits that were active, as text; empty if there were none.
        seconds: wall time of the compilation.
        stages: in order.
        file: the Python file of the kernel; None where it has none.
        sources: the Python files that belong to the kernel and that locations in the IR point to, by path, as text.
        sass: the disassembled binary, where a disassembler exists and IR was asked for.
    """

    kernel: str
    target: str
    triton: str
    pipeline: str
    seconds: float
    stages: tuple[StageRecord, ...]
    file: str | None = None
    sources: tuple[tuple[str, str], ...] = ()
    sass: str | None = None

    def __str__(self) -> str:
        from ..compilation.rendering import plain

        return plain(self)
