# SPDX-License-Identifier: Apache-2.0
"""Makes the `Finding` of a search: the winner, with what a later check of it needs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import triton

from .history import Trial
from .spaces import Space
from .stored import Finding
from .task import FunctionRef, Prepared, Task


def finding_of(
    task: Task,
    prepared: Prepared,
    *,
    best: Trial,
    plain: Trial,
    finals: Mapping[int, float],
    target: str,
    space: Space,
    objectives: Sequence[str],
) -> Finding:
    """Returns the finding for the winner `best`.

    Args:
        task: the search.
        prepared: what its first job found out.
        best: the winner.
        plain: the fastest configuration without edits.
        finals: milliseconds by trial, measured in turns.
        target: the target.
        space: the knobs that were turned.
        objectives: the objectives, the first of which counts.
    """
    own, other = finals.get(best.number, best.milliseconds), finals.get(plain.number, plain.milliseconds)
    is_same = plain.number in (best.number, best.same_as)
    return Finding(
        kernel=task.kernel[2],
        target=target,
        shapes=prepared.shapes,
        edits=best.pipeline,
        launch=best.launch,
        device=prepared.device,
        triton=triton.__version__,
        objective=objectives[0],
        milliseconds=own,
        plain_milliseconds=other,
        plain_launch=plain.launch,
        gain=None if task.described is not None else 1.0 if is_same or not own or not other else other / own,
        exact=space.effect(best.values) == "no",
        tolerance=task.tolerance,
        unaligned=task.unaligned,
        source=_source(task),
        checked=task.described is None,
        figures=dict(zip(objectives, best.objectives, strict=True)) if task.described is not None else {},
        plain_figures=dict(zip(objectives, plain.objectives, strict=True)) if task.described is not None else {},
        signature=task.described[0] if task.described is not None else None,
    )


def _source(task: Task) -> tuple[str, ...] | None:
    """Returns ``FILE:NAME`` of kernel, inputs, grid and reference; None if one is not a global of a file.

    If nothing is run, only the kernel is named.
    """
    if task.described is not None:
        return (f"{task.kernel[1]}:{task.kernel[2]}",)
    references = [FunctionRef(*task.kernel), task.inputs, task.grid, *([task.reference] if task.reference else [])]
    if any(one.pickled for one in references if one is not task.grid):
        return None
    grid = task.grid.load() if task.grid.pickled else ()
    if callable(grid):
        return None
    constant = f"={json.dumps(list(grid))}"
    return tuple(constant if one.pickled else f"{one.file}:{one.name}" for one in references)
