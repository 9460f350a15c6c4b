# SPDX-License-Identifier: Apache-2.0
"""The edits that a `Pipeline` consists of, and the entries that an edit brings in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import PipelineError
from ..support.shown import shown
from .anchors import Anchor
from .builtin_passes import BuiltinFactory, BuiltinPass
from .extension_passes import Pass, PassFactory
from .llvm_passes import LLVMFactory, LLVMPasses
from .values import Value, text_of

OnMissing = Literal["error", "warn", "ignore"]


@dataclass(frozen=True)
class PythonPass:
    """A Python function that changes a module in place.

    Attributes:
        function: takes the ``ir.module``, and returns nothing.
    """

    function: Callable[[Any], None]

    @property
    def name(self) -> str:
        """``module:qualified.name``, by which the text form of a pipeline finds the function."""
        return function_name(self.function)

    def __str__(self) -> str:
        return self.name


Entry = Pass | BuiltinPass | LLVMPasses | PythonPass
StageFunction = Callable[[Any, dict[str, Any], Callable[[Any, dict[str, Any]], Any]], Any]


@dataclass(frozen=True)
class Edit:
    """One change to a pipeline.

    Attributes:
        verb: ``before``, ``after``, ``at_start``, ``at_end``, ``replace``, ``skip``, ``set`` or ``stage``.
        stage: the stage that is edited; None if the anchor may be in any stage.
        anchor: the place; None for ``at_start``, ``at_end`` and ``stage``.
        entries: the passes that the edit brings in.
        arguments: the new values by name, for ``set``.
        function: the function, for ``stage``.
        on_missing: what happens if the anchor does not occur.
    """

    verb: str
    stage: str | None
    anchor: Anchor | None = None
    entries: tuple[Entry, ...] = ()
    arguments: tuple[tuple[str, Value], ...] = ()
    function: StageFunction | None = None
    on_missing: OnMissing = "error"

    def __str__(self) -> str:
        return f"{self.stage}: {self.text}" if self.stage else self.text

    @property
    def text(self) -> str:
        """The edit without its stage, e.g. ``after(loop_unroll, loop_split{max-splits=2})``."""
        items = [str(self.anchor)] if self.anchor else []
        items += map(str, self.entries)
        items += (f"{name}={text_of(value)}" for name, value in self.arguments)
        if self.function is not None:
            items.append(function_name(self.function))
        if self.on_missing != "error":
            items.append(f"on_missing={self.on_missing}")
        return f"{self.verb}({', '.join(items)})"


def text_of_edits(edits: Iterable[Edit]) -> str:
    """Returns the edits on one line; edits of one stage that follow each other share the name of the stage."""
    blocks: list[tuple[str | None, list[str]]] = []
    for edit in edits:
        if not blocks or blocks[-1][0] != edit.stage:
            blocks.append((edit.stage, []))
        blocks[-1][1].append(edit.text)
    # The name of a stage holds for all edits up to the next name; `*` stands for any stage.
    stages = [f"{stage or '*'}: " if stage or i else "" for i, (stage, _) in enumerate(blocks)]
    return "; ".join(stage + ", ".join(texts) for stage, (_, texts) in zip(stages, blocks, strict=True))


def as_entry(item: object, where: str) -> Entry:
    """Returns `item` as an entry of an edit: a function becomes a `PythonPass`.

    Args:
        item: a pass or a function.
        where: the edit, for messages.

    Raises:
        PipelineError: it is neither a pass nor a function.
    """
    if isinstance(item, Pass | BuiltinPass | LLVMPasses | PythonPass):
        return item
    hint = ", or a function that takes a module"
    if not callable(item):
        raise PipelineError(f"{where}: expected a pass such as tx.passes.ttir.rename(){hint}, got {shown(item)}")
    if isinstance(item, PassFactory | BuiltinFactory | LLVMFactory):
        raise PipelineError(f"{where}: {shown(item)} is not a pass yet, call it: add ()")
    if isinstance(item, type):
        raise PipelineError(f"{where}: expected a pass{hint}, got the class {item.__name__}")
    return PythonPass(item)


def function_name(function: object) -> str:
    """Returns ``module:qualified.name`` of a function, or of the class of a callable object."""
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}:{named.__qualname__}"
