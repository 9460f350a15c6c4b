# SPDX-License-Identifier: Apache-2.0
"""Makes the edits of a `Pipeline`. Each function checks all that can be checked before a kernel is compiled."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, get_args

from ..errors import PipelineError
from ..loading.manifest import digits
from ..support.shown import shown
from .anchors import Anchor
from .edits import Edit, Entry, OnMissing, StageFunction, as_entry
from .extension_passes import ANY, PLACEABLE, STAGES, Pass
from .llvm_passes import LLVM, LLVMPasses
from .values import Value


def placed(verb: str, anchor: str, *passes: object, on_missing: OnMissing = "error") -> Edit:
    """Returns the edit that places `passes` ``before`` or ``after`` each match of `anchor`, or instead (``replace``).

    Raises:
        PipelineError: `anchor` is malformed, or a pass is not one, or is for another stage.
    """
    place = _anchor(anchor)
    entries = _entries(f"{verb}('{anchor}')", place.stage, passes)
    stages = {e.stage for e in entries if isinstance(e, Pass) and e.stage not in (None, ANY)}
    if len(stages) > 1:
        names = ", ".join(sorted(filter(None, stages)))
        raise PipelineError(f"{verb}('{anchor}'): the passes are for different stages: {names}")
    stage = place.stage or next(iter(stages), None)
    if any(isinstance(entry, LLVMPasses) for entry in entries):
        stage = stage or LLVM
        _entries(f"{verb}('{anchor}')", stage, passes)
    entries = _bound(entries, stage)
    return Edit(verb, stage, replace(place, stage=stage), entries, on_missing=_checked(on_missing))


def at_edge(verb: str, stage: str, *passes: object, on_missing: OnMissing = "error") -> Edit:
    """Returns the edit that places `passes` ``at_start`` or ``at_end`` of `stage`.

    Raises:
        PipelineError: something that is not a pass, or a pass for another stage.
    """
    entries = _entries(f"{verb}('{stage}')", _stage_name(stage), passes)
    return Edit(verb, stage, entries=entries, on_missing=_checked(on_missing))


def skip(anchor: str, *, on_missing: OnMissing = "error") -> Edit:
    """Returns the edit that drops each match of `anchor`.

    Raises:
        PipelineError: `anchor` is malformed.
    """
    place = _anchor(anchor)
    return Edit("skip", place.stage, place, on_missing=_checked(on_missing))


def set_arguments(anchor: str, /, *, on_missing: OnMissing = "error", **arguments: Value) -> Edit:
    """Returns the edit that gives the passes that match `anchor` other arguments.

    Raises:
        PipelineError: `anchor` is malformed, no argument is given, or passes take no value of such a type.
    """
    place = _anchor(anchor)
    if not arguments:
        raise PipelineError(f"set('{anchor}'): expected an argument to set, such as num_stages=4")
    for name, value in arguments.items():
        if isinstance(value, int):
            digits(value)
        elif not isinstance(value, str) and not (isinstance(value, float) and math.isfinite(value)):
            raise PipelineError(
                f"set('{anchor}'): argument '{name}': expected int, finite float, bool or str, got {shown(value)}"
            )
    ordered = tuple(sorted(arguments.items()))
    return Edit("set", place.stage, place, arguments=ordered, on_missing=_checked(on_missing))


def stage(name: str, function: StageFunction, *, on_missing: OnMissing = "error") -> Edit:
    """Returns the edit by which `function` replaces or wraps the stage `name`.

    Raises:
        PipelineError: `function` is not callable, or `name` is not a stage.
    """
    if not callable(function):
        raise PipelineError(f"stage('{name}'): expected a function, got {shown(function)}")
    return Edit("stage", _stage_name(name), function=function, on_missing=_checked(on_missing))


def made(verb: str, place: str, items: Iterable[Any], keywords: dict[str, Any]) -> Edit:
    """Returns the edit that the text form writes as ``verb(place, items, keywords)``.

    Args:
        verb: name of the edit.
        place: the anchor, or the stage for ``at_start``, ``at_end`` and ``stage``.
        items: the passes, or the function for ``stage``.
        keywords: the arguments that are given by name.

    Raises:
        PipelineError: for the reasons that the functions above give.
    """
    if verb in ("before", "after", "replace"):
        return placed(verb, place, *items, **keywords)
    if verb in ("at_start", "at_end"):
        return at_edge(verb, place, *items, **keywords)
    if verb == "stage":
        return stage(place, *items, **keywords)
    return skip(place, **keywords) if verb == "skip" else set_arguments(place, **keywords)


def _entries(where: str, stage: str | None, passes: Iterable[object]) -> tuple[Entry, ...]:
    entries = tuple(as_entry(item, where) for item in passes)
    if not entries:
        raise PipelineError(f"{where}: expected at least one pass")
    for entry in entries:
        is_llvm = isinstance(entry, LLVMPasses) or (isinstance(entry, Pass) and entry.stage == LLVM)
        if stage is not None and is_llvm != (stage == LLVM) and not (isinstance(entry, Pass) and entry.stage != ANY):
            kind = "LLVM's modules" if is_llvm else "MLIR's modules"
            raise PipelineError(f"{where}: '{entry}' is for {kind}, not for stage '{stage}'")
        if not isinstance(entry, Pass) or stage is None or entry.stage in (None, ANY):
            continue
        if entry.stage not in PLACEABLE.get(stage, (stage,)):
            raise PipelineError(f"{where}: pass '{entry.name}' is for stage '{entry.stage}', not for '{stage}'")
    return _bound(entries, stage)


def _bound(entries: tuple[Entry, ...], stage: str | None) -> tuple[Entry, ...]:
    """Returns `entries`; passes for any stage become passes of `stage`, because the text form names them so."""
    if stage is None:
        return entries
    return tuple(
        replace(entry, stage=stage) if isinstance(entry, Pass) and entry.extension.stage == ANY else entry
        for entry in entries
    )


def _stage_name(name: object) -> str:
    if not (isinstance(name, str) and name.isidentifier()) or name in (ANY, "plugin"):
        stages = ", ".join(STAGES)
        raise PipelineError(
            f"{shown(name)} is not a stage; there is: {stages}, or another one of the backend, such as ptx"
        )
    return name


def _anchor(text: str) -> Anchor:
    """Returns the anchor that `text` means.

    Raises:
        PipelineError: it is malformed, or the stage that it names is not one.
    """
    place = Anchor.parse(text)
    if place.stage is not None:
        _stage_name(place.stage)
    return place


def _checked(on_missing: OnMissing) -> OnMissing:
    if on_missing not in get_args(OnMissing):
        raise PipelineError(f"on_missing: expected one of {', '.join(get_args(OnMissing))}, got {shown(on_missing)}")
    return on_missing
