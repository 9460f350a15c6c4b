# SPDX-License-Identifier: Apache-2.0
"""What the stages of a compilation did: the passes that ran in each, and what they changed.

Made by `tx.describe` and `tx.trace`; plain data, so that tables, JSON, diffs and pages are views of it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PassRecord:
    """One entry of a stage that ran, or that an edit kept from running.

    Attributes:
        name: ``group.pass`` as the backend calls it, e.g. ``ttgpuir.pipeline``; an extension pass is ``loop_split``, a
            Python function ``module:function``.
        ordinal: 1 for the backend's first pass of that name in its stage, 2 for the second; ``name#ordinal`` is its
            anchor. 0 for what an edit brought in.
        arguments: its arguments by name, in order, e.g. ``(("num_stages", "3"), ("emu_tf32", "true"))``.
        pipeline: MLIR's spelling, e.g. ``tritongpu-pipeline{num-stages=3}``; empty for a callable.
        edit: the edit that put it here, changed its arguments or dropped it, as text; None for the backend's own.
        ran: False for a pass that an edit dropped.
        seconds: wall time.
        ops_before: operations in the module before it, nested ones included.
        ops_after: operations in the module after it.
        changed: whether it changed the IR.
        remarks: what it reported, e.g. why a loop was not split.
        ir: the module after it, in MLIR's syntax with locations; None if it changed nothing or IR was not asked for.
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
        passes: its entries, in order.
        source: the module that came in, with locations; None if IR was not asked for or it is no module.
        output: the module (with locations), the text or the binary that came out; None if IR was not asked for.
    """

    name: str
    seconds: float
    passes: tuple[PassRecord, ...]
    source: str | None = None
    output: str | bytes | None = None
