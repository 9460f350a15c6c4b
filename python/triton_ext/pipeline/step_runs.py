# SPDX-License-Identifier: Apache-2.0
"""Maps the steps of a stage to passes of managers, and the events of these passes back to the steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from triton._C.libtriton import ir

from ..patches import signatures
from ..support import scratch
from .inspection import Event
from .records import PassRecord
from .steps import Step


def copy_of(source: Any) -> Any:
    """Returns a copy of `source`, if it is a module, which a rehearsal may change."""
    if not isinstance(source, ir.module):
        return source
    with scratch.scratch_file() as file:
        file.write(str(source.str()).encode())
        copy = ir.parse_mlir_module(scratch.path_of(file), source.context)
    copy.context = source.context
    return copy


def groups(steps: list[Step]) -> list[list[Step]]:
    """Splits `steps` into groups of passes that one manager can run; a Python function is a group by itself.

    Two extension passes that follow each other are in two groups: MLIR would merge nested pipelines that are adjacent,
    and report both as one. There is at least one group, because a manager without passes verifies the module.
    """
    groups: list[list[Step]] = [[]]
    for step in steps:
        last = groups[-1][-1] if groups[-1] else None
        alone = step.call or (last and (last.call or (last.is_extension and step.is_extension)))
        if alone and last is not None:
            groups.append([])
        groups[-1].append(step)
    return groups


def by_step(steps: list[Step], events: Iterable[Event]) -> Iterator[tuple[Step, list[Event]]]:
    """Yields each step with the events of the passes that it added to the manager."""
    left = list(events)
    position = 0
    for step in steps:
        position, start = position + signatures.count(step.pipeline), position
        yield step, [e for e in left if start <= e.index < position]


def summary(step: Step, events: list[Event]) -> PassRecord:
    """Returns one record for all the passes that one step added."""
    return PassRecord(
        step.name,
        0,
        step.arguments,
        step.pipeline,
        None,
        seconds=sum(e.ns for e in events) * 1e-9,
        ops_before=events[0].ops_before if events else 0,
        ops_after=events[-1].ops_after if events else 0,
        changed=any(e.changed for e in events),
        remarks=tuple(r for e in events for r in e.remarks),
        ir=next((e.ir for e in reversed(events) if e.ir is not None), None),
    )


def snapshot(module: Any) -> tuple[int, str]:
    """Returns the number of operations in `module`, and its text."""
    count = [0]

    def visit(_: object) -> None:
        count[0] += 1

    module.walk(visit)
    return count[0], str(module.str())
