# SPDX-License-Identifier: Apache-2.0
"""The record of one compilation, which `tx.describe` and `tx.trace` return."""

from __future__ import annotations

from dataclasses import dataclass

from ..pipeline.records import StageRecord


@dataclass(frozen=True)
class Compilation:
    """One compilation of one kernel.

    Attributes:
        kernel: name of the kernel.
        target: the target, e.g. ``cuda:90`` or ``hip:gfx942``.
        triton: the version of Triton.
        pipeline: the edits that were active, as text; empty if there were none.
        seconds: wall time of the compilation.
        stages: the stages, in order.
        file: the Python file of the kernel; None if it has none.
        sources: path and text of the Python files that belong to the kernel and that locations in the IR point to.
        sass: the disassembled binary; None if there is no disassembler, or IR was not asked for.
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
