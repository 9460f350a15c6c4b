# SPDX-License-Identifier: Apache-2.0
"""Runs the stage ``llvm``: LLVM's optimisation of a kernel in the backend's stage ``llir``, with the edits.

The backend calls ``llvm.optimize_module`` on a module that it has translated. While an `LLVMStage` owns that call, the
passes of edits run before and after it, instead of it, and at the optimiser's extension points.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import PipelineError
from . import crash_reports, failures, llvm_library
from .edits import Edit
from .inspection import Level
from .llvm_library import Setting
from .llvm_passes import LLVM, NAME, POINTS
from .placement import Placement
from .records import PassRecord, StageRecord
from .steps import Step

if TYPE_CHECKING:
    from .steps import Layer

#: The backend's call, as an anchor.
OPTIMIZE = "llvm.optimize_module"
#: Libtriton's objects for modules in which a pass crashed. They are kept, because destroying them could crash, too.
_damaged: list[Any] = []
_PARAMETER = re.compile(r"(\w+): [\w.\[\]]+(?: = ('[^']*'|\[\]|\w+))?")


class LLVMStage:
    """One run of the stage ``llvm``.

    Args:
        layers: the active pipelines, innermost first.
        level: how much is recorded; None for nothing.
        kernel: name of the kernel, for messages.

    Attributes:
        placements: the edits of each layer in this stage.
        is_watched: whether there is anything to edit or to record. Otherwise the backend's call stays as it is.
        names: the anchors of the stage, once it has run.
        record: what ran, once it has run and if a level is given.
        seconds: the wall time of the stage.
        slot: the number of the report that `failures.watch` yields.
    """

    def __init__(self, layers: tuple[Layer, ...], level: Level | None, kernel: str) -> None:
        self.placements = [Placement(layer, LLVM) for layer in layers]
        for placement in self.placements:
            placement.edits = [edit for edit in placement.edits if _reaches(edit)]
        self.level = level
        self.names: list[str] = []
        self.record: StageRecord | None = None
        self.seconds = 0.0
        self.slot = -1
        self._kernel = kernel
        anchors = [OPTIMIZE, *(f"llvm.{point}" for point in POINTS)]
        placed = any(
            p.at_start or p.at_end or any(e.stage or any(map(e.anchor.matches, anchors)) for e in p.edits if e.anchor)
            for p in self.placements
        )
        self.is_watched = placed or level is not None
        self._module: Any = None
        self._address = 0
        self._passes: list[PassRecord] = []

    def translated(self, to_module: Callable[..., Any], module: Any, *args: Any) -> Any:
        """Returns ``llvm.to_module(module, ...)``, and learns where the module is."""
        self._module, self._address = llvm_library.captured(to_module, module, *args)
        return self._module

    def run(self, optimize: Callable[..., None], module: Any, *args: Any, **named: Any) -> None:
        """Takes the place of ``llvm.optimize_module(module, ...)``, which is given as `optimize`.

        Raises:
            PipelineError: an edit cannot be applied, or a pass failed.
        """
        if module is not self._module:
            raise PipelineError("stage 'llvm': the backend optimises another module than it has translated last")
        started = time.perf_counter()
        arguments = _bound(optimize, args, named)
        setting = _setting(arguments)
        source = self._text()
        own = _Optimize(OPTIMIZE, llvm="", add=optimize, args=tuple(arguments.values()))
        for placement in self.placements:
            if placement.looks_ahead:
                placement.place([own], count_only=True)
                placement.total = dict(placement.matches)
                placement.matches.clear()
        steps: list[Step] = [own]
        for placement in self.placements:
            steps = placement.edited(steps, first=True, last=True)
        points = {point: found for point in POINTS if (found := self._at_point(point))}
        self.names = [OPTIMIZE, *(f"llvm.{point}" for point in POINTS)]
        for step in steps:
            is_own = isinstance(step, _Optimize)
            if step.dropped:
                self._passes.append(_record(step))
                continue
            if is_own and points:
                self._optimize_with(points, dict(zip(arguments, step.args, strict=True)), setting, step)
            elif is_own:
                changed = dict(zip(arguments, step.args, strict=True))
                self._timed(step, lambda changed=changed: self._backend(optimize, changed))  # type: ignore[misc]
            else:
                self._timed(step, lambda step=step: self._run(step, str(step.llvm), setting))  # type: ignore[misc]
        if points and not any(isinstance(step, _Optimize) and not step.dropped for step in steps):
            (edit,) = [s.edit for found in points.values() for s in found][:1]
            raise PipelineError(f"'{edit}': {OPTIMIZE}, which has this extension point, is dropped")
        self.seconds = time.perf_counter() - started
        if self.level is not None:
            self.record = StageRecord(LLVM, self.seconds, tuple(self._passes), source=source or None)

    def check_ran(self) -> None:
        """Reports edits if the backend has not called ``llvm.optimize_module``.

        Raises:
            PipelineError: there is an edit at the start or the end of the stage.
        """
        for placement in self.placements:
            for step in [*placement.at_start, *placement.at_end] if not self.names else []:
                raise PipelineError(f"'{step.edit}': this backend does not call {OPTIMIZE}")

    def _at_point(self, point: str) -> list[Step]:
        """Returns the steps that edits place at an extension point of the optimiser."""
        own = Step(f"llvm.{point}", llvm="")
        steps: list[Step] = [own]
        for placement in self.placements:
            anchors = [edit.anchor for edit in placement.edits if edit.anchor and edit.verb in ("before", "after")]
            if any(anchor.name.rpartition(".")[2] == point for anchor in anchors):
                steps = placement.place(steps)
        return [step for step in steps if step is not own]

    def _optimize_with(
        self, points: dict[str, list[Step]], arguments: dict[str, Any], setting: Setting, own: Step
    ) -> None:
        """Runs LLVM's pipeline for the level in `arguments`, which is Triton's, with passes at extension points."""
        placed = tuple((point.replace("_", "-"), str(s.llvm)) for point, steps in points.items() for s in steps)
        entries = tuple(entry for steps in points.values() for step in steps for entry in step.entries)
        setting = replace(_setting(arguments), points=placed, entries=entries)
        level = _level(arguments["opt"])
        self._timed(own, lambda: self._run(own, f"default<{level}>", setting))
        for point, steps in points.items():
            for step in steps:
                self._passes.append(replace(_record(step), ran=True, pipeline=f"at {point}: {step.llvm}"))

    def _backend(self, optimize: Callable[..., None], arguments: dict[str, Any]) -> tuple[str, ...]:
        optimize(self._module, **arguments)
        return ()

    def _run(self, step: Step, pipeline: str, setting: Setting) -> tuple[str, ...]:
        """Runs `pipeline` for `step`, and returns the remarks.

        Raises:
            PipelineError: it failed.
        """
        if step.call is not None:
            raise PipelineError(f"'{step.edit}': a Python function cannot change a module of LLVM")
        label = f"pass '{step.text or step.name}'" + (f" of the edit '{step.edit}'" if step.edit else "")
        crash_reports.begin_step(self.slot, label)
        entries = tuple(dict.fromkeys((*step.entries, *setting.entries)))
        outcome = llvm_library.run(self._address, pipeline, replace(setting, entries=entries))
        crash_reports.begin_step(self.slot, None)
        if outcome.damaged:
            _damaged.append(self._module)
        if outcome.problem:
            where = f"'{step.edit}': " if step.edit else ""
            raise failures.ran(
                PipelineError(
                    f"{where}pass '{step.text or step.name}' failed in stage '{LLVM}' on kernel '{self._kernel}': "
                    f"{outcome.problem}"
                )
            )
        return outcome.remarks

    def _timed(self, step: Step, run: Callable[[], tuple[str, ...]]) -> None:
        """Runs a step and records it."""
        if self.level is None:
            run()
            return
        text, count = self._text(), llvm_library.count(self._address)
        started = time.perf_counter()
        remarks = run()
        seconds = time.perf_counter() - started
        after = self._text()
        self._passes.append(
            replace(
                _record(step),
                ran=True,
                seconds=seconds,
                ops_before=count,
                ops_after=llvm_library.count(self._address),
                changed=after != text,
                remarks=remarks,
                ir=after if self.level is Level.IR and after != text else None,
            )
        )

    def _text(self) -> str:
        return "" if self.level is None else llvm_library.text_of(self._address)


class _Optimize(Step):
    """The backend's call of ``llvm.optimize_module``."""

    @property
    def arguments(self) -> tuple[tuple[str, str], ...]:
        """The switches by name. Processor and features are left out: they are those of the target."""
        assert self.add is not None
        names = _parameters(self.add)
        return tuple((n, str(v).lower()) for n, v in zip(names, self.args, strict=True) if isinstance(v, bool))

    def changed(self, edit: Edit) -> tuple[Any, ...]:
        """Returns the arguments with the switches that `edit` sets.

        Raises:
            PipelineError: there is no such switch, or the value is not a bool.
        """
        assert self.add is not None
        values = dict(zip(_parameters(self.add), self.args, strict=True))
        for given, value in edit.arguments:
            name = given.replace("-", "_")
            switches = [n for n, v in values.items() if isinstance(v, bool)]
            if name not in switches or not isinstance(value, bool):
                raise PipelineError(f"'{edit}': {OPTIMIZE} takes true or false for: {', '.join(switches)}")
            values[name] = value
        return tuple(values.values())


def _reaches(edit: Edit) -> bool:
    """Whether an edit applies to the stage ``llvm``.

    An edit without a stage does so only if its anchor is a whole name: ``before("*", f)`` is about passes of MLIR.
    """
    return edit.stage == LLVM or (edit.anchor is not None and not set("*?") & set(edit.anchor.name))


def _record(step: Step) -> PassRecord:
    edit = str(step.edit) if step.edit else None
    ordinal = 1 if isinstance(step, _Optimize) else 0
    # Entries of `tx.builtin.llvm` have one name, so that only the text tells two of them apart.
    arguments = (("passes", step.llvm or ""),) if step.name == NAME else step.arguments
    return PassRecord(step.name, ordinal, arguments, step.pipeline, edit, ran=False)


def _parameters(optimize: Callable[..., None]) -> dict[str, Any]:
    """Returns names and defaults of the parameters of ``llvm.optimize_module`` after the module."""
    text = (optimize.__doc__ or "").partition("(")[2]
    values = {"''": "", "[]": [], "True": True, "False": False}
    return {name: values.get(default) for name, default in _PARAMETER.findall(text) if name != "mod"}


def _bound(optimize: Callable[..., None], args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of the call ``optimize(module, *args, **named)`` by name.

    Raises:
        PipelineError: Triton's function has other parameters than expected.
    """
    known = _parameters(optimize)
    bound = {**known, **dict(zip(known, args, strict=False)), **named}
    if list(known)[:1] != ["opt"] or len(args) > len(known) or set(bound) != set(known):
        raise PipelineError(f"{OPTIMIZE} of this Triton has the parameters {', '.join(known)}, which is not expected")
    return bound


def _setting(arguments: dict[str, Any]) -> Setting:
    """Returns the setting of Triton's own optimisation: no target machine if Triton gives no processor."""
    return Setting(
        processor=arguments.get("arch", ""),
        features=arguments.get("features", ""),
        enable_fp_fusion=bool(arguments.get("enable_fp_fusion")),
        vectorizes_straight_line_code=not arguments.get("disable_slp_vectorizer"),
        combines_vectors=not arguments.get("disable_vector_combine"),
    )


def _level(opt: Any) -> str:
    from triton._C.libtriton import llvm

    return next(level for level in ("O0", "O1", "O2", "O3") if getattr(llvm, f"OPTIMIZE_{level}") == opt)
