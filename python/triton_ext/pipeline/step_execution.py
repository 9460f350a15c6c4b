# SPDX-License-Identifier: Apache-2.0
"""Runs the passes and Python functions of a stage, records what they did, and says which one failed and why."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from triton._C.libtriton import ir

from ..errors import PipelineError
from ..keys.guard import Guard
from ..patches import manager_runs
from ..patches.backend_globals import Manager
from . import crash_reports, failures, forked_child, inspection, inspection_library, isolation
from .inspection import Inspection, Level
from .records import PassRecord
from .step_runs import by_step, groups, snapshot, summary
from .steps import Step

if TYPE_CHECKING:
    from .steps import Layer

#: The diagnostic of MLIR when it has caught a signal in a pass, and the message of Triton for every failure.
_CRASHED = "A signal was caught while processing the MLIR module"
_RUN_FAILED = "PassManager::run failed"


class StepRunner:
    """Runs the steps of one stage.

    Args:
        stage: name of the stage.
        layers: the active pipelines, innermost first, for messages.
        level: how much is recorded; None for nothing.
        kernel: name of the kernel, for messages.

    Attributes:
        slot: the number of the report that `failures.watch` yields; set before anything runs.
        keeps_ir: whether the module is kept before every pass. That takes time, so it is done in a forked child only.
        records: what ran, if a level is given.
    """

    def __init__(self, stage: str, layers: tuple[Layer, ...], level: Level | None, kernel: str) -> None:
        self.stage = stage
        self.layers = layers
        self.level = level
        self.kernel = kernel
        self.slot = -1
        self.keeps_ir = forked_child.is_child()
        self.records: list[PassRecord] = []
        self._ordinals: dict[str, int] = defaultdict(int)

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
            self.records += (self._record(step, records.get(id(step))) for step in steps if is_listed(step))

    def run_watched(self, steps: list[Step], manager: Manager, module: Any, label: str) -> None:
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


def is_listed(step: Step) -> bool:
    """Whether `step` is part of lists of passes: an instrumentation point may add no pass."""
    return not step.name.startswith("instrument.") or bool(step.pipeline)


def translate(to_module: Callable[..., Any], module: Any, *args: Any) -> Any:
    """Runs ``llvm.to_module(module, ...)``; an error says why the module cannot be translated."""
    with Inspection(Level.FAILURES) as recorder:
        recorder.listen(module)
        try:
            return to_module(module, *args)
        except RuntimeError as error:
            raise RuntimeError(": ".join([str(error), *recorder.result().diagnostics[:1]])) from error


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
