# SPDX-License-Identifier: Apache-2.0
"""The entries of a stage: passes and Python functions, those of the backend and those that edits bring in."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..patches import signatures
from .builtin_passes import BuiltinPass
from .edits import Edit, Entry, PythonPass
from .extension_passes import Pass, texts_of
from .values import text_of


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
