# SPDX-License-Identifier: Apache-2.0
"""One compilation with the edits of the active pipelines: runs its stages, and reports edits that did not apply."""

from __future__ import annotations

import functools
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from triton._C.libtriton import ir

from ..errors import PipelineError
from ..keys.guard import Guard, unguarded
from ..patches import manager_runs
from ..patches.compile_requests import Request
from ..support.closest import closest
from . import failures, inspection, isolation
from .edits import Edit, text_of_edits
from .failures import Stage, Unedited
from .inspection import Level
from .llvm_passes import AROUND, LLVM, POINTS
from .lowering import Lowering
from .records import StageRecord
from .stage_run import StageRun
from .steps import Layer


class EditedCompilation:
    """One compilation with edits.

    Args:
        layers: the active pipelines, innermost first.
        level: how much is recorded in `records`; None for nothing.
        request: the call of ``triton.compile``; None if something else runs the stages.

    Attributes:
        records: the stages that ran, if a level is given.
        cache_hash: the hash under which Triton's cache knows the kernel.
        seen: for each stage that ran, the names of its passes before the edits.
        without_inner: the edits whose stage function has not called the stage.
        kernel: name of the kernel. Kept here because the module loses its symbol name before conversion to LLVM.
    """

    def __init__(self, layers: tuple[Layer, ...], level: Level | None = None, request: Request | None = None) -> None:
        self._request = request
        self.layers = layers
        self.level = level
        self.records: list[StageRecord] = []
        self.cache_hash: str | None = None
        self.seen: dict[str, list[str]] = {}
        self.without_inner: list[Edit] = []
        self.kernel = ""
        # The key has the layer, because one pipeline may be active twice.
        self._unmatched = {(i, id(e)): e for i, layer in enumerate(layers) for e in layer.edits if e.anchor}

    def wrap(self, stages: dict[str, Stage], backend: Any) -> None:
        """Replaces each stage of `stages` by one that runs with the edits.

        Args:
            stages: the stages of `backend` by name, in order; changed in place.
            backend: the backend that compiles.

        Raises:
            PipelineError: an edit is for a stage that this compilation does not have.
        """
        for i, layer in enumerate(self.layers):
            for edit in layer.edits:
                if (
                    edit.stage is not None
                    and edit.stage not in stages
                    and not (edit.stage == LLVM and AROUND in stages)
                ):
                    _missing(edit, f"this compilation has no stage '{edit.stage}', it has: {', '.join(stages)}")
                    self._unmatched.pop((i, id(edit)), None)
        self._stages = list(stages)
        self._binary_problem: Callable[[bytes, str], str | None] | None = getattr(backend, "binary_problem", None)
        self._unedited = self._without_layers(stages, backend)
        for name, stage in stages.items():
            stages[name] = functools.partial(self._run, name, self._replaced(name, stage))
        if isolation.is_wanted():
            isolation.wrap(stages, self, backend)

    @functools.cached_property
    def has_edits(self) -> bool:
        """Whether there are any edits."""
        return any(layer.edits for layer in self.layers)

    def without_edits(self) -> str:
        """Returns a sentence that says whether the kernel compiles without edits; empty if that cannot be tried."""
        trial = self._unedited.trial()
        return trial.outcome if trial else ""

    def _without_layers(self, stages: dict[str, Stage], backend: Any) -> Unedited:
        """Returns the compilation without the edits of users. It has those that lower dialects, without which no kernel
        with their operations compiles; if there are no other edits, it cannot be tried.
        """
        unedited = dict(stages)
        lowering = tuple(layer for layer in self.layers if any(isinstance(edit, Lowering) for edit in layer.edits))
        if len(lowering) == len(self.layers):
            return Unedited(unedited, backend, None if lowering else self._request)
        if lowering:
            EditedCompilation(lowering).wrap(unedited, backend)
        return Unedited(unedited, backend, self._request)

    def _replaced(self, name: str, stage: Stage) -> Stage:
        """Returns `stage` wrapped in the functions that ``Pipeline.stage`` was given for it."""
        for layer in self.layers:
            for edit in layer.edits:
                if edit.function is not None and edit.stage == name:
                    stage = functools.partial(self._call_stage_function, edit, stage)
        return stage

    def _call_stage_function(self, edit: Edit, inner: Stage, source: Any, metadata: dict[str, Any]) -> Any:
        assert edit.function is not None
        expected: type | None = None
        inner_error: BaseException | None = None
        given, needed = source, set(metadata)
        before = self._stages[: self._stages.index(str(edit.stage))]

        def run_inner(source: Any, metadata: dict[str, Any]) -> Any:
            nonlocal expected, inner_error
            if source is not given and before:
                failures.check_source(edit, before[-1], source)
            try:
                with unguarded(), manager_runs.through(manager_runs.run):
                    result = inner(source, metadata)
            except (Exception, SystemExit) as error:
                inner_error = error
                raise
            expected = type(result)
            needed.update(metadata)
            return result

        guard = Guard(edit.function)
        try:
            with guard, manager_runs.through(inspection.run):
                result = edit.function(source, metadata, run_inner)
        except PipelineError:
            raise
        except (Exception, SystemExit) as error:
            if error is inner_error:
                raise
            raise failures.ran(PipelineError(f"'{edit}': {type(error).__name__}: {error}")) from error
        if guard.problem:
            raise failures.ran(PipelineError(f"'{edit}': {guard.problem}"))
        failures.check_result(edit, str(edit.stage), result, expected)
        failures.check_kept(edit, needed, metadata)
        if expected is None and edit not in self.without_inner:  # a rehearsal calls it, too
            self.without_inner.append(edit)
        return result

    def _run(self, name: str, stage: Stage, source: Any, metadata: dict[str, Any]) -> Any:
        started = time.perf_counter()
        if not self.seen:
            self._refuse_skipped(self._stages[: self._stages.index(name)])
        self.cache_hash = metadata.get("hash")
        if isinstance(source, ir.module):
            self.kernel = source.get_entry_func_name() or self.kernel
        run = StageRun(name, self.layers, self.level, self.kernel)
        edits = self.text
        pipeline = f"with the pipeline '{edits}'" if edits else "without edits"
        try:
            with failures.watch(f"stage '{name}' of kernel '{self.kernel}', {pipeline}") as run.runner.slot:
                result = run.run(stage, source, metadata)
            if run.llvm is not None:
                run.llvm.check_ran()
            if name == self._stages[-1] and self.without_inner:
                failures.check_metadata(self.without_inner, metadata, self._unedited)
            functions = [edit for layer in self.layers for edit in layer.edits if edit.function is not None]
            if name == self._stages[-1] and functions and self._binary_problem is not None:
                problem = self._binary_problem(result, metadata["name"])
                failures.check_binary(functions, self.kernel, problem)
        except Exception as error:
            if not self.has_edits:
                raise
            better = failures.explained(error, name, self.kernel, edits, self._unedited)
            if better is error:
                raise
            raise better from error
        for i, placement in [*enumerate(run.placements), *enumerate(run.llvm.placements if run.llvm else ())]:
            missing = {id(e) for e in placement.missing()}
            for edit in placement.edits:
                if id(edit) not in missing:
                    self._unmatched.pop((i, id(edit)), None)
        self.seen[name] = run.names
        if run.llvm is not None:
            self.seen[LLVM] = run.llvm.names
        # Once the module has become text, no later stage runs passes that an anchor could match.
        ended = name == self._stages[-1] or not isinstance(result, ir.module)
        for key, edit in list(self._unmatched.items()):
            done = edit.stage == name or (edit.stage == LLVM and run.llvm is not None)
            if not done and not (edit.stage is None and ended):
                continue
            del self._unmatched[key]
            _missing(edit, self._not_found(edit))
        if self.level is not None:
            inner = run.llvm.record if run.llvm else None
            seconds = time.perf_counter() - started - (inner.seconds if inner else 0)
            output = _printed(result) if self.level is Level.IR else None
            between = inner.source if inner and self.level is Level.IR else output
            passes = tuple(run.runner.records)
            self.records.append(StageRecord(name, seconds, passes, source=run.source_text, output=between))
            if inner is not None:
                source = inner.source if self.level is Level.IR else None
                self.records.append(replace(inner, source=source, output=output))
        return result

    def _refuse_skipped(self, stages: list[str]) -> None:
        """Reports edits of stages that do not run, because the source is an IR file that enters after them."""
        for i, layer in enumerate(self.layers):
            for edit in layer.edits:
                if edit.stage in stages or (edit.stage == LLVM and AROUND in stages):
                    self._unmatched.pop((i, id(edit)), None)
                    _missing(edit, f"this compilation begins after the stage '{edit.stage}'")

    @functools.cached_property
    def text(self) -> str:
        """The text of all edits, those of the outermost pipeline first."""
        return text_of_edits(edit for layer in reversed(self.layers) for edit in layer.edits)

    def _not_found(self, edit: Edit) -> str:
        assert edit.anchor is not None
        where = [edit.stage] if edit.stage else [name for name, passes in self.seen.items() if passes]
        names = [name for stage in where for name in self.seen.get(stage, ())]
        counts: dict[str, int] = {n: names.count(n) for n in names}
        matching = [n for n in names if edit.anchor.matches(n)]
        text = f"no pass '{edit.anchor}' in stage {' or '.join(where) or 'any'}"
        elsewhere = [s for s, ns in self.seen.items() if s not in where and any(edit.anchor.matches(n) for n in ns)]
        close = closest(edit.anchor.name, counts)
        if edit.verb not in ("before", "after") and any(n.removeprefix("llvm.") in POINTS for n in matching):
            return (
                f"'{matching[0]}' is an extension point of LLVM's optimiser and no pass: it takes 'before' and 'after'"
            )
        if matching:
            times = "once" if len(matching) == 1 else f"{len(matching)} times"
            in_stages = [sum(map(edit.anchor.matches, self.seen.get(stage, ()))) for stage in where]
            text += f": it occurs {times}" + (f", at most {max(in_stages)} in a stage" if len(where) > 1 else "")
            text += " before the edits of inner pipelines" if len(self.layers) > 1 else ""
        elif elsewhere:
            text += f": it occurs in stage {elsewhere[0]}, but this edit is for {edit.stage}"
        elif close:
            text += f"; did you mean '{close}'?"
        listing = [f"\n  {stage}: {', '.join(self._anchors(stage))}" for stage in where if self.seen.get(stage)]
        return f"{text}\nthe anchors, in order, are" + ("".join(listing) or " none")

    def _anchors(self, stage: str) -> list[str]:
        """Returns the passes of `stage` as anchors, with an ordinal if a name occurs more than once."""
        names, count = self.seen[stage], defaultdict[str, int](int)
        anchors = []
        for name in names:
            count[name] += 1
            anchors.append(f"{name}#{count[name]}" if names.count(name) > 1 else name)
        return anchors


def _missing(edit: Edit, problem: str) -> None:
    if edit.on_missing == "warn":
        warnings.warn(f"'{edit}': {problem}", stacklevel=2)
    elif edit.on_missing == "error":
        raise PipelineError(f"'{edit}': {problem}")


def _printed(result: Any) -> str | bytes | None:
    if isinstance(result, ir.module):
        return str(result.str())
    return result if isinstance(result, str | bytes) else None
