# SPDX-License-Identifier: Apache-2.0
"""Runs one stage of a backend with the edits of the active pipelines, and records what its passes did.

While the stage runs, the proxies of `patches.backend_globals` hand its pass managers to a `StageRun`, which edits the
list of passes and runs it.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from triton._C.libtriton import ir

from ..errors import PipelineError
from ..patches.backend_globals import Manager, running
from .failures import MODULE_STAGES, Stage
from .inspection import Level
from .llvm_passes import AROUND
from .llvm_stage import LLVMStage
from .placement import Placement
from .step_execution import StepRunner, is_listed, translate
from .step_runs import copy_of
from .steps import Step

if TYPE_CHECKING:
    from .steps import Layer


class StageRun:
    """One run of a stage.

    Args:
        stage: name of the stage.
        layers: the active pipelines, innermost first.
        level: how much is recorded; None for nothing.
        kernel: name of the kernel, for messages.

    Attributes:
        placements: the edits of each layer in this stage.
        edited: whether there are any.
        runner: runs the passes, and records what they did.
        watches: whether the pass managers run unchanged, because there is nothing to edit or to record.
        names: the passes that the backend added, before the edits.
        llvm: the stage ``llvm``, if it is a part of this one.
        source_text: the module that entered the stage, at `Level.IR`.
    """

    def __init__(self, stage: str, layers: tuple[Layer, ...], level: Level | None, kernel: str) -> None:
        self.stage = stage
        self.level = level
        self.layers = layers
        self.placements = [Placement(layer, stage) for layer in self.layers]
        self.edited = any(e.stage in (None, stage) for layer in self.layers for e in layer.edits)
        self.runner = StepRunner(stage, layers, level, kernel)
        self.llvm = LLVMStage(layers, level, kernel) if stage == AROUND else None
        self.watches = not self.edited and self.level is None
        self.names: list[str] = []
        self.source_text: str | None = None
        self._rehearsed: list[list[Step]] | None = None  # the passes of each manager so far, during a rehearsal
        self._managers = 0  # how many managers have run
        self._metadata: dict[str, Any] = {}  # of the kernel, as it enters the stage
        self._last_manager: int | None = None  # the number of the manager that gets the passes of at_end

    @property
    def rehearsing(self) -> bool:
        """Whether the stage runs only to see which passes it would run."""
        return self._rehearsed is not None

    def run(self, stage: Stage, source: Any, metadata: dict[str, Any]) -> Any:
        """Runs `stage` with the edits, and returns its result.

        Args:
            stage: the function of the backend, or the user's that wraps it.
            source: the module, text or bytes that enters the stage.
            metadata: Triton's metadata of the kernel; changed in place.

        Raises:
            PipelineError: an edit cannot be applied, or a pass failed.
        """
        if self.watches:
            token = running.set(self)
            try:
                return stage(source, metadata)
            finally:
                running.reset(token)
        self._metadata = metadata
        is_module = isinstance(source, ir.module)
        if is_module and self.level is Level.IR:
            self.source_text = str(source.str())
        start = [step for placement in self.placements for step in placement.at_start]
        end = [step for placement in self.placements for step in placement.at_end]
        if (start or end) and not is_module:
            edit = (start or end)[0].edit
            raise PipelineError(
                f"'{edit}': stage '{self.stage}' has no MLIR module; use .stage('{self.stage}', function)"
            )
        returns_module = self.stage in MODULE_STAGES
        if (end and not returns_module) or any(p.looks_ahead for p in self.placements):
            returns_module = self._rehearse(stage, source, metadata) or returns_module
        if end and not returns_module and self._last_manager is None:
            raise PipelineError(f"'{end[0].edit}': stage '{self.stage}' runs no MLIR pass and ends in no module")
        if returns_module:
            self._last_manager = None
        if start:
            self.runner.execute(self._edited([], first=True), source, "triton_ext.at_start")
        token = running.set(self)
        try:
            result = stage(source, metadata)
        finally:
            running.reset(token)
        if end and returns_module:
            self.runner.execute(self._edited([], last=True), result, "triton_ext.at_end")
        self._check_rehearsal()
        return result

    def _edited(self, steps: list[Step], *, first: bool = False, last: bool = False) -> list[Step]:
        """Returns `steps` with the edits of every layer; each layer edits the result of the one before."""
        for placement in self.placements:
            steps = placement.edited(steps, first=first, last=last)
        return [step.filled(self._metadata) for step in steps]

    def _rehearse(self, stage: Stage, source: Any, metadata: dict[str, Any]) -> bool:
        """Runs the stage with managers that run no passes, to learn which passes it will run.

        Returns whether the stage returns a module.
        """
        managers: list[list[Step]] = []
        self._rehearsed = managers
        token = running.set(self)
        result = None
        try:
            # The stage may fail, because the passes that it relies on have not changed the module.
            with contextlib.suppress(Exception):
                result = stage(copy_of(source), dict(metadata))
        finally:
            running.reset(token)
            self._rehearsed = None
        self._last_manager = len(managers) - 1 if managers else None
        parts = [[], *managers, []]
        for placement in self.placements:
            for steps in parts:
                placement.place(steps, count_only=True)
            placement.total = dict(placement.matches)
            placement.matches.clear()
            first, *others, last = parts
            parts = [
                placement.edited(first, first=True),
                *map(placement.place, others),
                placement.edited(last, last=True),
            ]
            placement.matches.clear()
        return isinstance(result, ir.module)

    def _check_rehearsal(self) -> None:
        for placement in self.placements:
            for number, edit in enumerate(placement.edits):
                anchor = edit.anchor
                assert anchor is not None
                if anchor.ordinal == "last" and placement.matches[number] != placement.total.get(number, 0):
                    raise PipelineError(
                        f"'{edit}': stage '{self.stage}' chooses its passes by what earlier ones did, so which is the "
                        f"last is not known beforehand; use '{anchor.name}#n'"
                    )

    def run_manager(self, manager: Manager, module: Any, label: str) -> None:
        """Takes the place of ``manager.run(module, label)`` in the stage."""
        steps = [Step(one.name, one.add, one.args) for one in manager.added]
        if self.watches:
            self.runner.run_watched(steps, manager, module, label)
        else:
            self._run_edited(steps, manager, module, label)

    def _run_edited(self, steps: list[Step], manager: Manager, module: Any, label: str) -> None:
        if self._rehearsed is not None:
            self._rehearsed.append(steps)
            return
        if ir.pass_manager.get_pipeline_str(manager) != "any()":
            raise PipelineError(
                f"stage '{self.stage}' adds passes in a way that triton-ext does not see, so it cannot be edited: "
                + ir.pass_manager.get_pipeline_str(manager)
            )
        self.names += [step.name for step in steps if is_listed(step)]
        steps = self._edited(steps, last=self._managers == self._last_manager)
        self._managers += 1
        self.runner.execute(steps, module, label, manager)

    def translate(self, to_module: Callable[..., Any], module: Any, *args: Any) -> Any:
        """Runs ``llvm.to_module(module, ...)``; an error says why the module cannot be translated."""
        if self.llvm is not None and self.llvm.is_watched:
            return translate(functools.partial(self.llvm.translated, to_module), module, *args)
        return translate(to_module, module, *args)

    def optimize(self, optimize_module: Callable[..., Any], module: Any, *args: Any, **named: Any) -> None:
        """Takes the place of ``llvm.optimize_module(module, ...)`` in the stage."""
        if self.llvm is None or not self.llvm.is_watched:
            optimize_module(module, *args, **named)
            return
        self.llvm.slot = self.runner.slot
        self.llvm.run(optimize_module, module, *args, **named)
