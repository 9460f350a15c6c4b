# SPDX-License-Identifier: Apache-2.0
"""Steps of a stage as passes of managers: which fit into one manager, and what the passes of each did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from triton._C.libtriton import ir

from ..patches import signatures
from ..support import storage
from .inspection import Event
from .records import PassRecord
from .steps import Step


def copy_of(source: Any) -> Any:
    """A module that a rehearsal may change."""
    if not isinstance(source, ir.module):
        return source
    with storage.scratch_file() as file:
        file.write(str(source.str()).encode())
        copy = ir.parse_mlir_module(storage.path_of(file), source.context)
    copy.context = source.context
    return copy


def groups(steps: list[Step]) -> list[list[Step]]:
    """`steps` in runs of passes that one manager can hold; a Python function is alone.

    So are extension passes that follow each other: MLIR would merge those that are nested, and tell us of both as one.
    There is one group at least, because a manager with no passes verifies the module.
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
    """One record for all the passes that one step added."""
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
    """How many operations `module` has, and its text."""
    count = [0]

    def visit(_: object) -> None:
        count[0] += 1

    module.walk(visit)
    return count[0], str(module.str())
