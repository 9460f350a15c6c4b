# SPDX-License-Identifier: Apache-2.0
"""The knobs of extension passes: where they fit among the passes of a recorded compilation, and their options."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from .. import backends
from ..loading.discovery import Extension, extensions
from ..loading.manifest import Option
from ..pipeline.extension_passes import ANY, PLACEABLE
from ..pipeline.records import StageRecord
from ..pipeline.targets import is_among
from ..support.shown import said
from .knobs import Knob, Value, powers

#: The value of a knob for a pass that is not placed.
OFF = "off"


def extension_knobs(stages: Iterable[StageRecord], backend: str, arch: object) -> Iterator[Knob]:
    """Yields a knob for the place of each extension pass, one for each option, and those that a pass declares itself.

    A search turns a pass that declares knobs by these alone.

    Args:
        stages: the passes of a compilation without edits.
        backend: the target's backend, e.g. ``cuda``.
        arch: its architecture.
    """
    recorded = {stage.name: stage for stage in stages}
    for extension in extensions():
        manifest = extension.manifest
        if manifest is None or manifest.kind != "pass" or extension.problem:
            continue
        if not is_among(extension.targets, backend, arch):
            continue
        places = list(_places(extension, recorded))
        if not places:
            continue
        file = backends.knob_files().get(extension.name)
        if file is not None:
            yield from _declared(extension.name, file, tuple(recorded.values()), backend)
        yield Knob(
            extension.name,
            "extension pass",
            "choice",
            (OFF, *(place for place, _ in places)),
            OFF,
            manifest.summary,
            "rounding",  # other IR may let a backend fuse other multiplications and additions
            searched=file is None and not any(map(_needs_text, manifest.options)),
            place=places[0][0],
            texts=("", *(text for _, text in places)),
        )
        for option in manifest.options:
            knob = _option(extension.name, option)
            yield knob if file is None else replace(knob, searched=False)


def _declared(name: str, file: Path, stages: Sequence[StageRecord], backend: str) -> Iterator[Knob]:
    """Yields the knobs that an extension declares itself; warns if its file fails."""
    try:
        yield from tuple(_declaration(file)(stages, backend))
    except Exception as error:
        warnings.warn(f"{file}: the knobs of '{name}' are left out: {said(error)}", stacklevel=2)


@functools.cache
def _declaration(file: Path) -> Callable[[Sequence[StageRecord], str], Iterable[Knob]]:
    module = backends.import_file(file, f"triton_ext.knobs_of.{file.parent.parent.name}")
    function: Callable[[Sequence[StageRecord], str], Iterable[Knob]] = module.knobs
    return function


def _places(extension: Extension, recorded: dict[str, StageRecord]) -> Iterator[tuple[str, str]]:
    """Yields name and text of each place; in the text, ``@`` stands for the pass with its options."""
    fitting = [name for name in recorded if extension.stage == ANY or extension.stage in PLACEABLE.get(name, (name,))]
    own = [name for name in fitting if name == extension.stage]
    for stage in own or fitting[:1]:
        yield f"{stage} start", f"{stage}: at_start(@)"
        yield f"{stage} end", f"{stage}: at_end(@)"
        if stage == "llvm":  # its only pass is the optimiser, which the edges enclose
            continue
        last = [record for record in recorded[stage].passes if record.ordinal]
        for record in last[:-1]:
            if record.changed or record.name.endswith("loop_unroll"):
                anchor = f"{record.name}#{record.ordinal}"
                yield f"{stage} after {anchor}", f"{stage}: after({anchor}, @)"


def _needs_text(option: Option) -> bool:
    """Whether an option is a text without a default, which no search can guess."""
    return option.python_type is str and not option.values and not option.list and option.python_default == ""


def _option(extension: str, option: Option) -> Knob:
    default = option.python_default
    plain: Value = default if isinstance(default, bool | int | float | str) else None
    choices: tuple[Value, ...] = (plain,)
    low = high = None
    if isinstance(plain, bool):
        choices = (plain, not plain)
    elif isinstance(plain, int):
        low, high = option.range[0], option.range[-1]
        choices = tuple(value for value in powers(plain, max(low, 0), high))
    elif option.values:
        choices = option.values
    # A pass that may assume something is wrong where the assumption does not hold, which no check can rule out.
    assumes = option.description.startswith("Assume")
    return Knob(
        f"{extension}.{option.python_name}",
        "extension option",
        "choice" if option.values else option.python_type.__name__,
        choices,
        plain,
        option.description,
        "yes" if assumes else "rounding",
        searched=len(choices) > 1 and not assumes,
        low=low,
        high=high,
        place=extension,
    )
