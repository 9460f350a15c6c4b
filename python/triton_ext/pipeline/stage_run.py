# SPDX-License-Identifier: Apache-2.0
"""Runs one stage of a backend with the edits of the active pipelines, and records what its passes did.

While the stage runs, the proxies of `patches.backend_globals` hand its pass managers to a `StageRun`, which edits the
list of passes and runs it.
"""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from triton._C.libtriton import ir

from ..errors import PipelineError
from ..keys.guard import Guard
from ..patches import manager_runs
from ..patches.backend_globals import Manager, running
from . import crash_reports, failures, forked_child, inspection, inspection_library, isolation
from .failures import MODULE_STAGES, Stage
from .inspection import Inspection, Level
from .placement import Placement
from .records import PassRecord
from .step_runs import by_step, copy_of, groups, snapshot, summary
from .steps import Step

if TYPE_CHECKING:
    from .steps import Layer

#: The diagnostic of MLIR when it has caught a signal in a pass, and the message of Triton for every failure.
_CRASHED = "A signal was caught while processing the MLIR module"
_RUN_FAILED = "PassManager::run failed"


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
        slot: the number of the report that `failures.watch` yields; set before `run`.
        keeps_ir: whether the module is kept before every pass. That takes time, so it is done in a forked child only.
        watches: whether the pass managers run unchanged, because there is nothing to edit or to record.
        names: the passes that the backend added, before the edits.
        records: what ran, if a level is given.
        source_text: the module that entered the stage, at `Level.IR`.
    """

    def __init__(self, stage: str, layers: tuple[Layer, ...], level: Level | None, kernel: str) -> None:
        self.stage = stage
        self.level = level
        self.layers = layers
        self.placements = [Placement(layer, stage) for layer in self.layers]
        self.edited = any(e.stage in (None, stage) for layer in self.layers for e in layer.edits)
        self.kernel = kernel
        self.slot = -1
        self.keeps_ir = forked_child.is_child()
        self.watches = not self.edited and self.level is None
        self.names: list[str] = []
        self.records: list[PassRecord] = []
        self.source_text: str | None = None
        self._ordinals: dict[str, int] = defaultdict(int)
        self._rehearsed: list[list[Step]] | None = None  # the passes of each manager so far, during a rehearsal
        self._managers = 0  # how many managers have run
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
            self.execute(self._edited([], first=True), source, "triton_ext.at_start")
        token = running.set(self)
        try:
            result = stage(source, metadata)
        finally:
            running.reset(token)
        if end and returns_module:
            self.execute(self._edited([], last=True), result, "triton_ext.at_end")
        self._check_rehearsal()
        return result

    def _edited(self, steps: list[Step], *, first: bool = False, last: bool = False) -> list[Step]:
        """Returns `steps` with the edits of every layer; each layer edits the result of the one before."""
        for placement in self.placements:
            steps = placement.edited(steps, first=first, last=last)
        return steps

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
            self._run_watched(steps, manager, module, label)
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
        self.names += [step.name for step in steps if self._is_listed(step)]
        steps = self._edited(steps, last=self._managers == self._last_manager)
        self._managers += 1
        self.execute(steps, module, label, manager)

    def execute(self, steps: list[Step], module: Any, label: str, manager: Manager | None = None) -> None:
        """Runs `steps`: each run of passes in one manager, and the Python functions between them.

        Args:
            steps: what to run; dropped ones are only recorded.
            module: the module that they change.
            label: the label that Triton gives to the manager.
            manager: the backend's manager, which runs the first passes; None for passes of ``at_start`` and ``at_end``.
        """
        records: dict[int, PassRecord] = {}
        for i, group in enumerate(groups([step for step in steps if not step.dropped])):
            if group and group[0].call is not None:
                records[id(group[0])] = self._call(group[0], module)
                continue
            inner: Any = manager if i == 0 else None
            if inner is None:
                inner = ir.pass_manager(module.context)
                if manager is None or manager.debugged:
                    inner.enable_debug()
            records |= self._run_passes(inner, group, module, label)
        if self.level is not None:
            self.records += (self._record(step, records.get(id(step))) for step in steps if self._is_listed(step))

    def _is_listed(self, step: Step) -> bool:
        """Whether `step` is part of lists of passes: an instrumentation point may add no pass."""
        return not step.name.startswith("instrument.") or bool(step.pipeline)

    def _record(self, step: Step, ran: PassRecord | None) -> PassRecord:
        edit = str(step.edit) if step.edit else None
        base = ran or PassRecord(step.name, 0, step.arguments, step.pipeline, None, ran=False)
        if step.brought_in:
            return replace(base, edit=edit)
        self._ordinals[step.name] += 1
        return replace(base, ordinal=self._ordinals[step.name], edit=edit)

    def _run_passes(self, manager: Any, steps: list[Step], module: Any, label: str) -> dict[int, PassRecord]:
        with Inspection(Level.FAILURES if self.level is None else self.level, self.slot) as recorder:
            for step in steps:
                assert step.add is not None
                try:
                    step.add(manager, *step.args)
                except (RuntimeError, ValueError, TypeError) as error:
                    raise self._failure(step, module, str(error)) from error
                recorder.mark(manager, _label(step), self._driver(step))
            recorder.attach(manager)
            try:
                manager_runs.run(manager, module, label)
            except Exception as error:  # a pass of an extension may throw any exception
                result = recorder.result()
                failed = next((e.index for e in result.events if e.failed), None)
                culprit = next(
                    (s for s, events in by_step(steps, result.events) if any(e.index == failed for e in events)), None
                )
                raise self._failure(culprit, module, _reason(result, error)) from error
            if self.level is None:
                return {}
            events = recorder.result().events
        return {id(step): summary(step, mine) for step, mine in by_step(steps, events)}

    def _run_watched(self, steps: list[Step], manager: Manager, module: Any, label: str) -> None:
        """Runs ``manager.run(module, label)`` in a stage without edits, which may fail because of earlier edits."""
        with Inspection(Level.FAILURES, self.slot) as recorder:
            if self.keeps_ir:
                recorder.mark(manager, "", isolation.driver())
            recorder.attach(manager)
            try:
                manager_runs.run(manager, module, label)
            except Exception as error:
                result = recorder.result()
                failed = next((e for e in result.events if e.failed), None)
                alike = [step for step in steps if failed and step.pipeline == failed.pipeline]
                culprit = alike[0] if alike else Step(failed.argument or failed.pipeline) if failed else None
                raise self._failure(culprit, module, _reason(result, error)) from error

    def translate(self, to_module: Callable[..., Any], module: Any, *args: Any) -> Any:
        """Runs ``llvm.to_module(module, ...)``; an error says why the module cannot be translated."""
        with Inspection(Level.FAILURES) as recorder:
            recorder.listen(module)
            try:
                return to_module(module, *args)
            except RuntimeError as error:
                raise RuntimeError(": ".join([str(error), *recorder.result().diagnostics[:1]])) from error

    def _driver(self, step: Step) -> str:
        """Returns the shell command that runs `step` again, without the file and the pass.

        Empty for the backend's own passes, because the module would have to be kept before each of them.
        """
        if step.library is not None:
            return isolation.driver(step.library)
        return isolation.driver() if step.brought_in or self.keeps_ir else ""

    def _call(self, step: Step, module: Any) -> PassRecord:
        assert step.call is not None
        before = snapshot(module) if self.level is not None else (0, "")
        started = time.perf_counter()
        crash_reports.begin_step(self.slot, _label(step))
        guard = Guard(step.call)
        try:
            with guard, manager_runs.through(inspection.run):
                returned = step.call(module)
        except (Exception, SystemExit) as error:
            raise self._failure(step, module, f"{type(error).__name__}: {error}") from error
        finally:
            crash_reports.begin_step(self.slot, None)
        if guard.problem:
            raise self._failure(step, module, guard.problem)
        seconds = time.perf_counter() - started
        if returned is not None:
            problem = f"returned {type(returned).__name__}; it has to change the module in place and return nothing"
            raise self._failure(step, module, problem)
        if not module.verify():
            raise self._failure(step, module, f"left a module that does not verify{inspection.diagnosis(module)}")
        if self.level is None:
            return PassRecord(step.name, 0, (), "", None)
        after = snapshot(module)
        text = after[1] if self.level is Level.IR and after != before else None
        return PassRecord(step.name, 0, (), "", None, True, seconds, before[0], after[0], before != after, (), text)

    def _failure(self, step: Step | None, module: Any, problem: str) -> PipelineError:
        kernel = module.get_entry_func_name() or self.kernel
        if step is not None and step.edit is not None:
            name = step.text or step.name
            return failures.ran(
                PipelineError(
                    f"'{step.edit}': pass '{name}' failed in stage '{self.stage}' on kernel '{kernel}': {problem}"
                )
            )
        edits = "; ".join(str(e) for layer in self.layers for e in layer.edits)
        name = f"pass '{step.name}'" if step else "a pass"
        owner = "" if step and step.is_extension else " of Triton"
        return failures.ran(
            PipelineError(
                f"{name}{owner} failed in stage '{self.stage}' on kernel '{kernel}', "
                + (f"in the pipeline '{edits}': {problem}" if edits else f"without any edits: {problem}")
            )
        )


def _label(step: Step) -> str:
    """Returns the name of `step` in a crash report."""
    name = f"pass '{step.text or step.name}'"
    return f"{name} of the edit '{step.edit}'" if step.edit else name


def _reason(result: inspection.Result, error: Exception) -> str:
    """Returns why a pass failed: its diagnostics and, if it has crashed, the command that runs it again."""
    said = [text for text in result.diagnostics if not text.partition("error: ")[2].startswith(_CRASHED)]
    # The pass has neither returned nor thrown, so MLIR has caught a signal.
    if str(error) == _RUN_FAILED and any(event.failed and not event.ns for event in result.events):
        said.append("it crashed; what it said is on standard error")
        if result.before:
            said.append(f"to run it again: {isolation.command(result.before, result.command)}")
        else:
            said.append(f"to get a command that runs it again: {inspection_library.isolated_command()}")
    return "\n".join(said) or str(error)
