# SPDX-License-Identifier: Apache-2.0
"""Runs the stages of one compilation with the edits of the active pipelines.

A backend's stage functions fill pass managers through module globals of its ``compiler.py``: ``ir.pass_manager(...)``,
``passes.<group>.add_<pass>(manager, ...)``. Those globals are replaced, once, by proxies. While a stage with edits
runs, ``ir.pass_manager`` makes a manager that only keeps a list, and the list is edited and run when the stage calls
``run``. At all other times the proxies hand out what they stand for.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import sys
import threading
import time
import types
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from triton._C.libtriton import ir, llvm

from . import _failures, _inspect, _isolate, _storage, signatures
from ._closest import closest
from ._failures import MODULE_STAGES, Stage
from ._guard import Guard, unguarded
from ._inspect import Event, Inspection, Level
from .edits import BuiltinPass, Edit, Entry, PythonPass, Value, check_arguments, text_of, text_of_edits
from .errors import ExtensionNotFoundError, PipelineError
from .passes import STAGES, Pass, find_factory, texts_of
from .record import PassRecord, StageRecord


@dataclass
class Step:
    """One entry of a stage: a pass, or a Python function.

    Attributes:
        name: ``group.pass``.
        add: adds the pass to a manager, given `args` after it; None for a Python function.
        args: arguments of `add`.
        call: the Python function; None for a pass.
        edit: the edit that brought it here, changed or dropped it.
        text: what it is called in that edit.
        dropped: whether it is not to run.
        library: where the pass of an extension comes from; None for others.
    """

    name: str
    add: Callable[..., None] | None = None
    args: tuple[Any, ...] = ()
    call: Callable[[Any], object] | None = None
    edit: Edit | None = None
    text: str = ""
    dropped: bool = False
    library: Path | None = None

    @property
    def brought_in(self) -> bool:
        """Whether it is here because of an edit."""
        return self.edit is not None and not self.dropped and self.edit.verb != "set"

    @property
    def is_extension(self) -> bool:
        """Whether it is a pass of a plugin, which takes its options as a list of texts."""
        return bool(self.args) and isinstance(self.args[0], list)

    @functools.cached_property
    def pipeline(self) -> str:
        """What it adds, as MLIR spells it."""
        return signatures.pipeline_of(self.add, *self.args) if self.add else ""

    @property
    def arguments(self) -> tuple[tuple[str, str], ...]:
        """Its arguments by name."""
        if self.add is None or not self.args:
            return ()
        if self.is_extension:
            if self.name.startswith("plugin."):  # which may take anything
                return tuple((text, "") for text in texts_of(self.args[0], named=False))
            pairs = (text.partition("=") for text in texts_of(self.args[0]))
            return tuple((name.replace("-", "_"), value) for name, _, value in pairs)
        names = (name for name, _ in signatures.parameters(self.add))
        return tuple((name, text_of(value)) for name, value in zip(names, self.args, strict=False))


@dataclass(frozen=True)
class Layer:
    """The edits of one pipeline, and how the passes that they bring in are added."""

    edits: tuple[Edit, ...]
    add: Mapping[Pass, Callable[..., None]]

    def steps(self, edit: Edit) -> list[Step]:
        """What `edit` brings in."""
        return [self._step(entry, edit) for entry in edit.entries]

    def _step(self, entry: Entry, edit: Edit) -> Step:
        if isinstance(entry, PythonPass):
            return Step(entry.name, call=entry.function, edit=edit, text=str(entry))
        if isinstance(entry, BuiltinPass):
            return Step(entry.name, add=entry.add, args=entry.args, edit=edit, text=str(entry))
        name = entry.name if entry.stage else f"plugin.{entry.name}"
        library = entry.extension.path
        return Step(name, self.add[entry], (list(entry.args),), edit=edit, text=str(entry), library=library)


class _Placement:
    """The edits of one layer in one stage: where they matched so far."""

    def __init__(self, layer: Layer, stage: str) -> None:
        self.layer = layer
        self.at_start = self._at("at_start", stage)
        self.at_end = self._at("at_end", stage)
        self.edits = [e for e in layer.edits if e.anchor and e.stage in (None, stage)]
        self.matches: dict[int, int] = defaultdict(int)  # by index in `edits`
        self.total: dict[int, int] = {}

    def _at(self, verb: str, stage: str) -> list[Step]:
        edits = (e for e in self.layer.edits if e.verb == verb and e.stage == stage)
        return [step for edit in edits for step in self.layer.steps(edit)]

    @property
    def looks_ahead(self) -> bool:
        return any(e.anchor and e.anchor.ordinal == "last" for e in self.edits)

    def edited(self, steps: list[Step], *, first: bool = False, last: bool = False) -> list[Step]:
        """Returns `steps` with the edits of this layer.

        Args:
            steps: passes that follow each other.
            first: whether the stage begins with them, so that `at_start` comes before them.
            last: whether it ends with them, so that `at_end` comes after them.
        """
        return [*(self.at_start if first else ()), *self.place(steps), *(self.at_end if last else ())]

    def place(self, steps: list[Step], *, count_only: bool = False) -> list[Step]:
        """Returns `steps` with the edits that have an anchor; a dropped one stays in the list, marked."""
        before: dict[int, list[Step]] = defaultdict(list)
        after: dict[int, list[Step]] = defaultdict(list)
        instead: dict[int, list[Step]] = {}
        changed: dict[int, Edit] = {}
        set_by: dict[tuple[int, str], Edit] = {}
        result = list(steps)
        for number, edit in enumerate(self.edits):
            for i in self._hits(number, edit, steps):
                if count_only:
                    continue
                if edit.verb == "before":
                    before[i] += self.layer.steps(edit)
                elif edit.verb == "after":
                    after[i] += self.layer.steps(edit)
                else:
                    first = changed.setdefault(i, edit)
                    if first is not edit and not first.verb == edit.verb == "set":
                        raise PipelineError(f"'{first}' and '{edit}' both change the pass '{steps[i].name}'")
                    if edit.verb == "set":
                        for name, _ in edit.arguments:
                            other = set_by.setdefault((i, name), edit)
                            if other is not edit:
                                raise PipelineError(f"'{other}' and '{edit}' both set '{name}' of '{steps[i].name}'")
                        result[i] = _with_arguments(result[i], edit)
                    else:
                        instead[i] = self.layer.steps(edit)
                        result[i] = replace(steps[i], edit=edit, dropped=True)
        return [
            step for i, original in enumerate(result) for step in (*before[i], original, *instead.get(i, ()), *after[i])
        ]

    def _hits(self, number: int, edit: Edit, steps: list[Step]) -> Iterator[int]:
        anchor = edit.anchor
        assert anchor is not None
        for i, step in enumerate(steps):
            if step.dropped or not anchor.matches(step.name):
                continue
            self.matches[number] += 1
            wanted = self.total.get(number) if anchor.ordinal == "last" else anchor.ordinal
            if anchor.ordinal is None or self.matches[number] == wanted:
                yield i

    def missing(self) -> list[Edit]:
        """The edits whose anchor did not occur."""
        return [
            edit
            for number, edit in enumerate(self.edits)
            if self.matches[number]
            < (edit.anchor.ordinal if edit.anchor and isinstance(edit.anchor.ordinal, int) else 1)
        ]


def _with_arguments(step: Step, edit: Edit) -> Step:
    """`step` with the arguments that the edit sets."""
    if step.add is None:
        raise PipelineError(f"'{edit}': '{step.name}' is a Python function, it has no arguments to set")
    if step.is_extension:
        return replace(step, args=(_changed_options(step, edit),), edit=edit)
    declared = [name for name, _ in signatures.parameters(step.add)]
    values: dict[str, Value] = dict(zip(declared, step.args, strict=False))
    values |= check_arguments(f"'{edit}': pass '{step.name}'", step.add, dict(edit.arguments))
    missing = [name for name in declared if name not in values]
    if missing:
        raise PipelineError(f"'{edit}': pass '{step.name}' also needs '{missing[0]}'")
    return replace(step, args=tuple(values[name] for name in declared), edit=edit)


def _changed_options(step: Step, edit: Edit) -> list[str]:
    """The options of an extension pass with those that the edit sets."""
    if step.name.startswith("plugin."):
        raise PipelineError(f"'{edit}': '{step.name}' is a pass of a plugin, which declares no options; replace it")
    try:
        factory = find_factory(step.name.rpartition(".")[2], STAGES)
        return list(factory.change(step.args[0], dict(edit.arguments)))
    except (ExtensionNotFoundError, PipelineError) as error:
        raise PipelineError(f"'{edit}': {error}") from None


class _PlanDone(Exception):  # noqa: N818 - ends a rehearsal, is no error
    """Ends a rehearsal: the stage goes on with what is not a pass of MLIR."""


class Compilation:
    """One compilation: its layers, innermost first, and what an observer wants to know of it.

    Args:
        layers: the active pipelines, innermost first.
        level: how much is recorded in `records`; None for nothing.
    """

    def __init__(self, layers: tuple[Layer, ...], level: Level | None = None) -> None:
        self.layers = layers
        self.level = level
        self.records: list[StageRecord] = []
        self.cache_hash: str | None = None  # by which Triton's cache knows it
        self.seen: dict[str, list[str]] = {}  # the names of every stage that ran, before edits
        self.without_inner: list[Edit] = []  # whose function has not called the stage that it is for
        self.kernel = ""  # kept here because the module loses its symbol name before conversion to LLVM
        # By layer, because one pipeline may be active twice.
        self._unmatched = {(i, id(e)): e for i, layer in enumerate(layers) for e in layer.edits if e.anchor}

    def wrap(self, stages: dict[str, Stage], backend: Any) -> None:
        """Makes the stages of `backend` run with the edits."""
        for i, layer in enumerate(self.layers):
            for edit in layer.edits:
                if edit.stage is not None and edit.stage not in stages:
                    _missing(edit, f"this compilation has no stage '{edit.stage}', it has: {', '.join(stages)}")
                    self._unmatched.pop((i, id(edit)), None)
        self._stages = list(stages)
        self._binary_problem: Callable[[bytes, str], str | None] | None = getattr(backend, "binary_problem", None)
        self._original = dict(stages)
        for name, stage in stages.items():
            stages[name] = functools.partial(self._run, name, self._replaced(name, stage))
        if _isolate.is_wanted():
            _isolate.wrap(stages, self, backend)

    @functools.cached_property
    def has_edits(self) -> bool:
        """Whether there are any edits."""
        return any(layer.edits for layer in self.layers)

    def without_edits(self) -> str:
        """A sentence that says whether the kernel compiles without edits; empty where that cannot be tried."""
        trial = _failures.without_edits(self._original)
        return trial.outcome if trial else ""

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
                _failures.check_source(edit, before[-1], source)
            try:
                with unguarded(), _explaining(of_user=False):
                    result = inner(source, metadata)
            except (Exception, SystemExit) as error:
                inner_error = error
                raise
            expected = type(result)
            needed.update(metadata)
            return result

        guard = Guard(edit.function)
        try:
            with guard, _explaining():
                result = edit.function(source, metadata, run_inner)
        except PipelineError:
            raise
        except (Exception, SystemExit) as error:
            if error is inner_error:
                raise
            raise _failures.ran(PipelineError(f"'{edit}': {type(error).__name__}: {error}")) from error
        if guard.problem:
            raise _failures.ran(PipelineError(f"'{edit}': {guard.problem}"))
        _failures.check_result(edit, str(edit.stage), result, expected)
        _failures.check_kept(edit, needed, metadata)
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
        run = _StageRun(self, name)
        edits = self.text
        pipeline = f"with the pipeline '{edits}'" if edits else "without edits"
        try:
            with _failures.watch(f"stage '{name}' of kernel '{self.kernel}', {pipeline}") as run.slot:
                result = run.run(stage, source, metadata)
            if name == self._stages[-1] and self.without_inner:
                _failures.check_metadata(self.without_inner, metadata, self._original)
            functions = [edit for layer in self.layers for edit in layer.edits if edit.function is not None]
            if name == self._stages[-1] and functions and self._binary_problem is not None:
                problem = self._binary_problem(result, metadata["name"])
                _failures.check_binary(functions, self.kernel, problem)
        except Exception as error:
            if not self.has_edits:
                raise
            better = _failures.explained(error, name, self.kernel, edits, self._original)
            if better is error:
                raise
            raise better from error
        for i, placement in enumerate(run.placements):
            missing = {id(e) for e in placement.missing()}
            for edit in placement.edits:
                if id(edit) not in missing:
                    self._unmatched.pop((i, id(edit)), None)
        self.seen[name] = run.names
        # Nothing can be found any more once the module has become text.
        ended = name == self._stages[-1] or not isinstance(result, ir.module)
        for key, edit in list(self._unmatched.items()):
            if edit.stage != name and not (edit.stage is None and ended):
                continue
            del self._unmatched[key]
            _missing(edit, self._not_found(edit))
        if self.level is not None:
            self.records.append(
                StageRecord(
                    name,
                    time.perf_counter() - started,
                    tuple(run.records),
                    source=run.source_text,
                    output=_printed(result) if self.level is Level.IR else None,
                )
            )
        return result

    def _refuse_skipped(self, stages: list[str]) -> None:
        """Edits of stages that do not run, because the source is an IR file."""
        for i, layer in enumerate(self.layers):
            for edit in layer.edits:
                if edit.stage in stages:
                    self._unmatched.pop((i, id(edit)), None)
                    _missing(edit, f"this compilation begins after the stage '{edit.stage}'")

    @functools.cached_property
    def text(self) -> str:
        """All edits, outermost first."""
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
        """The passes of `stage` as anchors, with ordinals where a name occurs more than once."""
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


_current: contextvars.ContextVar[_StageRun | None] = contextvars.ContextVar("triton_ext_stage", default=None)


class _StageRun:
    """One stage while it runs."""

    def __init__(self, compilation: Compilation, stage: str) -> None:
        self.stage = stage
        self.level = compilation.level
        self.layers = compilation.layers
        self.placements = [_Placement(layer, stage) for layer in self.layers]
        self.edited = any(e.stage in (None, stage) for layer in self.layers for e in layer.edits)
        self.kernel = compilation.kernel
        self.slot = -1  # see _failures.watch
        self.keeps_ir = _isolate.is_child()  # before every pass, where it costs nobody else
        self.watches = not self.edited and self.level is None  # and leaves the pass managers as they are
        self.names: list[str] = []
        self.records: list[PassRecord] = []
        self.source_text: str | None = None
        self._ordinals: dict[str, int] = defaultdict(int)
        self._rehearsed: list[list[Step]] | None = None  # while a rehearsal is under way
        self._managers = 0
        self._last_manager: int | None = None  # the one that at_end is appended to

    @property
    def rehearsing(self) -> bool:
        """Whether the stage runs only to see which passes it would run."""
        return self._rehearsed is not None

    def run(self, stage: Stage, source: Any, metadata: dict[str, Any]) -> Any:
        if self.watches:
            token = _current.set(self)
            try:
                return stage(source, metadata)
            finally:
                _current.reset(token)
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
        token = _current.set(self)
        try:
            result = stage(source, metadata)
        finally:
            _current.reset(token)
        if end and returns_module:
            self.execute(self._edited([], last=True), result, "triton_ext.at_end")
        self._check_rehearsal()
        return result

    def _edited(self, steps: list[Step], *, first: bool = False, last: bool = False) -> list[Step]:
        """`steps` with the edits of every layer, of which each sees what those before it have made of them."""
        for placement in self.placements:
            steps = placement.edited(steps, first=first, last=last)
        return steps

    def _rehearse(self, stage: Stage, source: Any, metadata: dict[str, Any]) -> bool:
        """Runs the stage with managers that run nothing, to learn what comes; whether it ends in a module."""
        managers: list[list[Step]] = []
        self._rehearsed = managers
        token = _current.set(self)
        result = None
        try:
            # It meets a module that is not what the passes would have made of it, and may stumble over that.
            with contextlib.suppress(Exception):
                result = stage(_copy_of(source), dict(metadata))
        finally:
            _current.reset(token)
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

    def run_manager(self, manager: RecordingManager, module: Any, label: str) -> None:
        """What ``manager.run(module, label)`` does in the stage."""
        if self._rehearsed is not None:
            self._rehearsed.append(list(manager.steps))
            return
        if ir.pass_manager.get_pipeline_str(manager) != "any()":
            raise PipelineError(
                f"stage '{self.stage}' adds passes in a way that triton-ext does not see, so it cannot be edited: "
                + ir.pass_manager.get_pipeline_str(manager)
            )
        self.names += [step.name for step in manager.steps if self._is_listed(step)]
        steps = self._edited(manager.steps, last=self._managers == self._last_manager)
        self._managers += 1
        self.execute(steps, module, label, manager)

    def execute(self, steps: list[Step], module: Any, label: str, manager: RecordingManager | None = None) -> None:
        """Runs `steps`: passes that follow each other in one manager, Python functions between them."""
        records: dict[int, PassRecord] = {}
        for i, group in enumerate(_groups([step for step in steps if not step.dropped])):
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
        """An instrumentation point may add nothing."""
        return not step.name.startswith("instrument.") or bool(step.pipeline)

    def _record(self, step: Step, ran: PassRecord | None) -> PassRecord:
        edit = str(step.edit) if step.edit else None
        base = ran or PassRecord(step.name, 0, step.arguments, step.pipeline, None, ran=False)
        if step.brought_in:
            return replace(base, edit=edit)
        self._ordinals[step.name] += 1
        return replace(base, ordinal=self._ordinals[step.name], edit=edit)

    def _run_passes(self, manager: Any, steps: list[Step], module: Any, label: str) -> dict[int, PassRecord]:
        with Inspection(Level.FAILURES if self.level is None else self.level, self.slot) as inspection:
            for step in steps:
                assert step.add is not None
                try:
                    step.add(manager, *step.args)
                except (RuntimeError, ValueError, TypeError) as error:
                    raise self._failure(step, module, str(error)) from error
                inspection.mark(manager, _label(step), self._driver(step))
            inspection.attach(manager)
            try:
                _run_manager(manager, module, label)
            except Exception as error:  # a pass that throws is none of Triton's, and may throw anything
                result = inspection.result()
                failed = next((e.index for e in result.events if e.failed), None)
                culprit = next(
                    (s for s, events in _by_step(steps, result.events) if any(e.index == failed for e in events)), None
                )
                raise self._failure(culprit, module, _reason(result, error)) from error
            if self.level is None:
                return {}
            events = inspection.result().events
        return {id(step): _summary(step, mine) for step, mine in _by_step(steps, events)}

    def run_watched(self, manager: WatchingManager, module: Any, label: str) -> None:
        """Does ``manager.run(module, label)`` in a stage without edits, where those of earlier stages may fail."""
        with Inspection(Level.FAILURES, self.slot) as inspection:
            if self.keeps_ir:
                inspection.mark(manager, "", _isolate.driver())
            inspection.attach(manager)
            try:
                _run_manager(manager, module, label)
            except Exception as error:
                result = inspection.result()
                failed = next((e for e in result.events if e.failed), None)
                steps = [step for step in manager.steps if failed and step.pipeline == failed.pipeline]
                culprit = steps[0] if steps else Step(failed.argument or failed.pipeline) if failed else None
                raise self._failure(culprit, module, _reason(result, error)) from error

    def _driver(self, step: Step) -> str:
        """Returns the command that runs `step` again, without the file and the pass.

        Empty for the backend's own passes, because printing the module before each of them takes time.
        """
        if step.library is not None:
            return _isolate.driver(step.library)
        return _isolate.driver() if step.brought_in or self.keeps_ir else ""

    def _call(self, step: Step, module: Any) -> PassRecord:
        assert step.call is not None
        before = _snapshot(module) if self.level is not None else (0, "")
        started = time.perf_counter()
        _inspect.begin_step(self.slot, _label(step))
        guard = Guard(step.call)
        try:
            with guard, _explaining():
                returned = step.call(module)
        except (Exception, SystemExit) as error:
            raise self._failure(step, module, f"{type(error).__name__}: {error}") from error
        finally:
            _inspect.begin_step(self.slot, None)
        if guard.problem:
            raise self._failure(step, module, guard.problem)
        seconds = time.perf_counter() - started
        if returned is not None:
            problem = f"returned {type(returned).__name__}; it has to change the module in place and return nothing"
            raise self._failure(step, module, problem)
        if not module.verify():
            raise self._failure(step, module, f"left a module that does not verify{_inspect.diagnosis(module)}")
        if self.level is None:
            return PassRecord(step.name, 0, (), "", None)
        after = _snapshot(module)
        text = after[1] if self.level is Level.IR and after != before else None
        return PassRecord(step.name, 0, (), "", None, True, seconds, before[0], after[0], before != after, (), text)

    def _failure(self, step: Step | None, module: Any, problem: str) -> PipelineError:
        kernel = module.get_entry_func_name() or self.kernel
        if step is not None and step.edit is not None:
            name = step.text or step.name
            return _failures.ran(
                PipelineError(
                    f"'{step.edit}': pass '{name}' failed in stage '{self.stage}' on kernel '{kernel}': {problem}"
                )
            )
        edits = "; ".join(str(e) for layer in self.layers for e in layer.edits)
        name = f"pass '{step.name}'" if step else "a pass"
        owner = "" if step and step.is_extension else " of Triton"
        return _failures.ran(
            PipelineError(
                f"{name}{owner} failed in stage '{self.stage}' on kernel '{kernel}', "
                + (f"in the pipeline '{edits}': {problem}" if edits else f"without any edits: {problem}")
            )
        )


def _label(step: Step) -> str:
    """Returns what a crash report calls `step`."""
    name = f"pass '{step.text or step.name}'"
    return f"{name} of the edit '{step.edit}'" if step.edit else name


def _reason(result: _inspect.Result, error: Exception) -> str:
    """Returns why a pass failed: its diagnostics; if it has crashed, with the command that runs it again."""
    said = [text for text in result.diagnostics if not text.partition("error: ")[2].startswith(_CRASHED)]
    # MLIR has caught a signal: the pass neither returned nor threw.
    if str(error) == _RUN_FAILED and any(event.failed and not event.ns for event in result.events):
        said.append("it crashed; what it said is on standard error")
        if result.before:
            said.append(f"to run it again: {_isolate.command(result.before, result.command)}")
        else:
            said.append(f"to get a command that runs it again: {_inspect.isolated_command()}")
    return "\n".join(said) or str(error)


def _copy_of(source: Any) -> Any:
    """A module that a rehearsal may change."""
    if not isinstance(source, ir.module):
        return source
    with _storage.scratch_file() as file:
        file.write(str(source.str()).encode())
        copy = ir.parse_mlir_module(_storage.path_of(file), source.context)
    copy.context = source.context
    return copy


def _groups(steps: list[Step]) -> list[list[Step]]:
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


def _by_step(steps: list[Step], events: Iterable[Event]) -> Iterator[tuple[Step, list[Event]]]:
    """Yields each step with the events of the passes that it added to the manager."""
    left = list(events)
    position = 0
    for step in steps:
        position, start = position + signatures.count(step.pipeline), position
        yield step, [e for e in left if start <= e.index < position]


def _summary(step: Step, events: list[Event]) -> PassRecord:
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


def _snapshot(module: Any) -> tuple[int, str]:
    count = [0]

    def visit(_: object) -> None:
        count[0] += 1

    module.walk(visit)
    return count[0], str(module.str())


class RecordingManager(ir.pass_manager):  # type: ignore[misc]
    """A pass manager that keeps the list of what is added to it, until it is run."""

    def __init__(self, context: Any, stage: _StageRun) -> None:
        super().__init__(context)
        self.stage = stage
        self.steps: list[Step] = []
        self.debugged = False

    def enable_debug(self) -> bool:
        self.debugged = True
        return bool(super().enable_debug())

    def run(self, module: Any, label: str) -> None:
        self.stage.run_manager(self, module, label)


class WatchingManager(ir.pass_manager):  # type: ignore[misc]
    """A pass manager that runs as usual; an error says which of its passes failed, and why."""

    def __init__(self, context: Any, stage: _StageRun) -> None:
        super().__init__(context)
        self.stage = stage
        self.steps: list[Step] = []

    def run(self, module: Any, label: str) -> None:
        self.stage.run_watched(self, module, label)


class _Namespace(types.ModuleType):
    """Stands for a module of libtriton in a backend's ``compiler.py``."""

    def __init__(self, real: Any, prefix: str) -> None:
        super().__init__(real.__name__, real.__doc__)
        self._real = real
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._real, name)
        if isinstance(value, types.ModuleType):
            # `passes` says nothing in nvidia.passes.ttnvgpuir.add_…
            inner = _Namespace(value, self._prefix if name == "passes" else f"{self._prefix}{name}.")
            self.__dict__[name] = inner
            return inner
        if name.startswith("add_") and signatures.is_pass(value):
            add = functools.partial(_add, self._real, name, self._prefix + name.removeprefix("add_"))
            self.__dict__[name] = add
            return add
        if self._real is ir:
            return _new_manager if name == "pass_manager" else value
        stage = _current.get()
        if stage is not None and self._real is llvm:
            if stage.rehearsing:
                raise _PlanDone
            if name == "to_module":
                return functools.partial(_translate, value)
        return value

    def __dir__(self) -> list[str]:
        return dir(self._real)


def _add(real: Any, attribute: str, name: str, manager: Any, *args: Any) -> None:
    function = getattr(real, attribute)
    if type(manager) is RecordingManager:
        manager.steps.append(Step(name, function, args))
        return
    function(manager, *args)
    if type(manager) is WatchingManager:
        manager.steps.append(Step(name, function, args))


def _translate(to_module: Callable[..., Any], module: Any, *args: Any) -> Any:
    """Does ``llvm.to_module(module, ...)``; an error says why the module cannot be translated."""
    with Inspection(Level.FAILURES) as inspection:
        inspection.listen(module)
        try:
            return to_module(module, *args)
        except RuntimeError as error:
            raise RuntimeError(": ".join([str(error), *inspection.result().diagnostics[:1]])) from error


_run_manager = ir.pass_manager.run
_in_function: contextvars.ContextVar[bool] = contextvars.ContextVar("in_function", default=False)


@contextlib.contextmanager
def _explaining(*, of_user: bool = True) -> Iterator[None]:
    """Within the block, a pass manager that a user's function runs says in its error why a pass failed.

    Unless the block runs stages of Triton `of_user` functions, whose managers are watched.
    """
    ir.pass_manager.run = _run_in_function
    token = _in_function.set(of_user)
    try:
        yield
    finally:
        _in_function.reset(token)


def _run_in_function(manager: Any, module: Any, label: str) -> None:
    if not _in_function.get():
        _run_manager(manager, module, label)
        return
    with Inspection(Level.FAILURES) as inspection:
        inspection.attach(manager)
        try:
            _run_manager(manager, module, label)
        except RuntimeError as error:
            raise RuntimeError("\n".join([str(error), *inspection.result().diagnostics])) from error


def _new_manager(context: Any) -> Any:
    stage = _current.get()
    if stage is None:
        return ir.pass_manager(context)
    return (WatchingManager if stage.watches else RecordingManager)(context, stage)


def _instrument(real: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Triton's instrumentation points add passes of profilers to the manager that they are given."""
    if args and type(args[0]) is RecordingManager:
        manager = args[0]

        def add(actual: Any) -> None:
            real(actual, *args[1:], **kwargs)

        manager.steps.append(Step(f"instrument.{kwargs.get('point', '')}", add))
        return None
    return real(*args, **kwargs)


#: What MLIR may say when it has caught a signal in a pass, and what Triton says of every failure.
_CRASHED = "A signal was caught while processing the MLIR module"
_RUN_FAILED = "PassManager::run failed"

_proxied: set[str] = set()
_lock = threading.Lock()


def install_proxies(backend: Any) -> None:
    """Replaces the globals through which the stage functions of `backend` add passes, once for each module."""
    modules = {cls.__module__ for cls in type(backend).__mro__} - {"builtins", "abc", "triton.backends.compiler"}
    if modules <= _proxied:
        return
    with _lock:
        for module in map(sys.modules.get, modules - _proxied):
            for name, value in list(vars(module).items()) if module else ():
                if isinstance(value, types.ModuleType) and value.__name__.startswith("triton._C.libtriton."):
                    prefix = "" if name in ("passes", "ir") else f"{name}."
                    setattr(module, name, _Namespace(value, prefix))
                elif name == "instrument" and callable(value):
                    setattr(module, name, functools.partial(_instrument, value))
        _proxied.update(modules)
