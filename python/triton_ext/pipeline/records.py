# SPDX-License-Identifier: Apache-2.0
"""The record of a compilation: the passes that ran in each stage, and what they changed.

`tx.describe` and `tx.trace` make it. It is plain data, from which tables, JSON, diffs and pages are made.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PassRecord:
    """One entry of a stage: a pass or a function that ran, or that an edit dropped.

    Attributes:
        name: ``group.pass`` in the backend's spelling, e.g. ``ttgpuir.pipeline``; for an extension pass e.g.
            ``loop_split``, for a Python function ``module:function``.
        ordinal: 1 for the backend's first pass of this name in the stage, 2 for the second; ``name#ordinal`` is its
            anchor. 0 for an entry that an edit brought in.
        arguments: the arguments by name, in order, e.g. ``(("num_stages", "3"), ("emu_tf32", "true"))``.
        pipeline: MLIR's spelling, e.g. ``tritongpu-pipeline{num-stages=3}``; empty for a function.
        edit: the text of the edit that brought in the entry, changed its arguments or dropped it; None for a pass of
            the backend that no edit changed.
        ran: False for a pass that an edit dropped.
        seconds: wall time.
        ops_before: operations in the module before the entry ran, including nested ones.
        ops_after: operations in the module afterwards.
        changed: whether the entry changed the IR.
        remarks: the remarks that it emitted, e.g. why a loop was not split.
        ir: the module afterwards, in MLIR's syntax with locations; None if it is unchanged or IR was not asked for.
    """

    name: str
    ordinal: int
    arguments: tuple[tuple[str, str], ...]
    pipeline: str
    edit: str | None
    ran: bool = True
    seconds: float = 0.0
    ops_before: int = 0
    ops_after: int = 0
    changed: bool = False
    remarks: tuple[str, ...] = ()
    ir: str | None = None


@dataclass(frozen=True)
class StageRecord:
    """One stage of a compilation.

    Attributes:
        name: e.g. ``ttgir``.
        seconds: wall time of the whole stage.
        passes: the entries, in order.
        source: the module that entered the stage, with locations; None if IR was not asked for, or for other inputs.
        output: the module (with locations), the text or the binary that the stage returned; None if IR was not asked
            for.
    """

    name: str
    seconds: float
    passes: tuple[PassRecord, ...]
    source: str | None = None
    output: str | bytes | None = None
