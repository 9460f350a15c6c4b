# SPDX-License-Identifier: Apache-2.0
"""The steps of a stage: passes and Python functions, of the backend and of edits."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..errors import PipelineError
from ..patches import signatures
from . import llvm_library
from .builtin_passes import BuiltinPass
from .edits import Edit, Entry, PythonPass
from .extension_passes import Pass, texts_of
from .llvm_passes import LLVM, LLVMPasses
from .values import text_of

#: The options of passes that a compilation knows, as MLIR spells them, and Triton's names for them in its metadata.
FROM_LAUNCH = {"num-warps": "num_warps", "threads-per-warp": "warp_size"}


@dataclass
class Step:
    """One step of a stage: a pass, or a Python function.

    Attributes:
        name: ``group.pass``, or ``module:function``.
        add: adds the pass: takes a pass manager, and then `args`; None for a Python function.
        args: the arguments of `add` after the manager.
        call: the Python function, which takes the module; None for a pass.
        edit: the edit that brought in the step, changed it or dropped it; None if no edit did.
        text: its text in that edit.
        dropped: whether the edit dropped it, so that it does not run.
        library: the library of an extension pass; None for others.
        llvm: the textual pipeline of LLVM that the step runs; None for steps that change a module of MLIR.
        entries: for such a step, the entry points of the libraries that the pipeline needs.
        open_options: options of an extension pass that get their value from the compilation: those of `FROM_LAUNCH`
            that it declares with the default 0, and that the pipeline does not give.
    """

    name: str
    add: Callable[..., None] | None = None
    args: tuple[Any, ...] = ()
    call: Callable[[Any], object] | None = None
    edit: Edit | None = None
    text: str = ""
    dropped: bool = False
    library: Path | None = None
    llvm: str | None = None
    entries: tuple[int, ...] = ()
    open_options: tuple[str, ...] = ()

    def filled(self, metadata: Mapping[str, Any]) -> Step:
        """Returns the step with values for its `open_options`.

        Args:
            metadata: Triton's metadata of the kernel; an option that it does not have stays open.
        """
        known = dict(metadata)
        known.setdefault("warp_size", getattr(metadata.get("target"), "warp_size", None))
        values = {name: known.get(FROM_LAUNCH[name]) for name in self.open_options}
        texts = [f"{name}={value}" for name, value in values.items() if value is not None]
        return replace(self, args=([*self.args[0], *texts],), open_options=()) if texts else self

    def changed(self, edit: Edit) -> tuple[Any, ...]:
        """Returns the arguments of a call of LLVM with those that `edit` sets.

        Raises:
            PipelineError: there are none to set, or they have other names or types.
        """
        raise PipelineError(f"'{edit}': '{self.name}' is a pipeline of LLVM, it has no arguments to set; replace it")

    @property
    def brought_in(self) -> bool:
        """Whether an edit brought in the step."""
        return self.edit is not None and not self.dropped and self.edit.verb != "set"

    @property
    def is_extension(self) -> bool:
        """Whether the step is a pass of a plugin, which takes its options as a list of texts."""
        return bool(self.args) and isinstance(self.args[0], list)

    @functools.cached_property
    def pipeline(self) -> str:
        """The pass or passes that the step adds, in MLIR's spelling; empty for a Python function."""
        if self.llvm is not None:
            return self.llvm
        return signatures.pipeline_of(self.add, *self.args) if self.add else ""

    @property
    def arguments(self) -> tuple[tuple[str, str], ...]:
        """The arguments by name."""
        if not self.args or (self.add is None and self.llvm is None):
            return ()
        if self.is_extension:
            if self.name.startswith("plugin."):  # a foreign plugin, which declares no names
                return tuple((text, "") for text in texts_of(self.args[0], named=False))
            pairs = (text.partition("=") for text in texts_of(self.args[0]))
            return tuple((name.replace("-", "_"), value) for name, _, value in pairs)
        names = (name for name, _ in signatures.parameters(self.add))
        return tuple((name, text_of(value)) for name, value in zip(names, self.args, strict=False))


@dataclass(frozen=True)
class Layer:
    """The edits of one active pipeline.

    Attributes:
        edits: the edits.
        add: for each extension pass in them, the function that adds it to a pass manager.
        llvm: for each extension with an LLVM pass in them, the address by which LLVM learns of the pass.
    """

    edits: tuple[Edit, ...]
    add: Mapping[Pass, Callable[..., None]]
    llvm: Mapping[Path, int] = field(default_factory=dict)

    def steps(self, edit: Edit) -> list[Step]:
        """Returns the steps that `edit` brings in."""
        return [self._step(entry, edit) for entry in edit.entries]

    def _step(self, entry: Entry, edit: Edit) -> Step:
        if isinstance(entry, PythonPass):
            return Step(entry.name, call=entry.function, edit=edit, text=str(entry))
        if isinstance(entry, BuiltinPass):
            return Step(entry.name, add=entry.add, args=entry.args, edit=edit, text=str(entry))
        if isinstance(entry, LLVMPasses):
            entries = tuple(self.llvm[extension.path] for extension in entry.extensions)
            return Step(entry.name, args=(), edit=edit, text=str(entry), llvm=entry.passes, entries=entries)
        if entry.stage == LLVM:
            manifest = entry.extension.manifest
            assert manifest is not None
            lists = [option.name for option in manifest.options if option.list]
            text = llvm_library.element(manifest.argument, entry.args, lists)
            place = entry.extension.path
            return Step(
                entry.name,
                args=(list(entry.args),),
                edit=edit,
                text=str(entry),
                library=place,
                llvm=text,
                entries=(self.llvm[place],),
            )
        name = entry.name if entry.stage else f"plugin.{entry.name}"
        library = entry.extension.path
        return Step(
            name,
            self.add[entry],
            (list(entry.args),),
            edit=edit,
            text=str(entry),
            library=library,
            open_options=_open_options(entry),
        )


def _open_options(entry: Pass) -> tuple[str, ...]:
    """Returns the options of `entry` that get their value from the compilation."""
    manifest = entry.extension.manifest
    given = {text.partition("=")[0] for text in entry.args}
    declared = manifest.options if manifest is not None else ()
    return tuple(o.name for o in declared if o.name in FROM_LAUNCH and o.python_default == 0 and o.name not in given)
