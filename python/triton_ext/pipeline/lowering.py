# SPDX-License-Identifier: Apache-2.0
"""The passes that lower the dialects of extensions, where a kernel uses operations of these.

A dialect declares its pass and the pass's place in its library's manifest (``LOWER_WITH`` and ``AT`` of
``triton_ext_add_dialect``). A kernel gets the pass without asking: when its first stage begins, its module says which
dialects it uses. The kernel's key covers the pass by way of the function that builds the operations.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import PipelineError
from ..loading.discovery import Extension, find_pass
from ..loading.loader import load_library
from ..patches import compile_requests
from .checked_edits import at_edge
from .edits import Edit
from .extension_passes import PassFactory
from .steps import Layer

if TYPE_CHECKING:
    from .edited_compilation import EditedCompilation

_VERBS = {"start": "at_start", "end": "at_end"}
Stage = Callable[[Any, dict[str, Any]], Any]


@dataclass(frozen=True)
class Lowering(Edit):
    """The edit that places the pass that lowers a dialect.

    Attributes:
        dialect: the name of the dialect.
    """

    dialect: str = ""

    def __str__(self) -> str:
        return f"{super().__str__()}, which lowers the dialect '{self.dialect}'"


#: The edits that lower the dialects whose library this process has, and a text for the bytes of each pass. The pass
#: that was loaded first stays, as the dialect does, because the keys of kernels that this process has computed are of
#: its bytes.
followed: dict[str, tuple[Layer, str]] = {}


def follow(extension: Extension) -> str:
    """Has `hook` add the pass that lowers the dialect of `extension` to each kernel that uses the dialect.

    Returns:
        A text for the bytes of the pass and for its place; empty if the dialect declares no pass.

    Raises:
        TritonExtError: the pass cannot be used.
        PipelineError: its place is not one.
    """
    manifest = extension.manifest
    if manifest is None or not manifest.lower_with:
        return ""
    if manifest.name not in followed:
        followed[manifest.name] = _lowering(extension)
    layer, digest = followed[manifest.name]
    return f"{digest} {layer.edits[0]}"


def is_wanted(request: compile_requests.Request | None) -> bool:
    """Whether the kernel of the compilation `request` may use a dialect that a pass lowers.

    A file of IR gets no pass, because its key would not cover the pass.
    """
    return bool(followed) and request is not None and hasattr(request.source, "fn")


def wrap(
    stages: dict[str, Stage], backend: Any, compilation: Callable[[tuple[Layer, ...]], EditedCompilation | None]
) -> None:
    """Makes the stages of `backend` run with the passes that lower the dialects that the kernel uses.

    Args:
        stages: the stages of the compilation.
        backend: the backend that they belong to.
        compilation: makes the compilation with further layers, innermost first; None if it has no edits.
    """
    original, edited = dict(stages), dict[str, Stage]()

    def run(name: str, source: Any, metadata: dict[str, Any]) -> Any:
        if not edited:  # the first stage
            edited.update(original)
            made = compilation(layers_for(source, original))
            if made is not None:
                made.wrap(edited, backend)
        return edited[name](source, metadata)

    for name in stages:
        stages[name] = functools.partial(run, name)


def layers_for(module: Any, stages: dict[str, Any]) -> tuple[Layer, ...]:
    """Returns the edits that lower the dialects whose operations `module` uses.

    Raises:
        PipelineError: the place of one is not in this compilation.
    """
    used: dict[str, None] = {}
    module.walk(lambda operation: used.setdefault(operation.get_name().partition(".")[0]))
    layers = []
    for dialect in (name for name in followed if name in used):
        layer, _ = followed[dialect]
        if layer.edits[0].stage not in stages:
            raise PipelineError(
                f"'{layer.edits[0]}': this compilation has no stage '{layer.edits[0].stage}', it has: "
                f"{', '.join(stages)}"
            )
        layers.append(layer)
    return tuple(layers)


def _lowering(extension: Extension) -> tuple[Layer, str]:
    """The edit that lowers the dialect of `extension`, with the pass loaded, and the digest of the pass's library."""
    manifest = extension.manifest
    assert manifest is not None
    stage, _, edge = manifest.lower_at.partition(":")
    if edge not in _VERBS:
        raise PipelineError(
            f"the dialect '{manifest.name}' of {extension.path} is lowered at '{manifest.lower_at}', expected a stage "
            "and :start or :end",
            fix="LOWER_WITH pass AT ttir:start",
        )
    item = PassFactory(find_pass(manifest.lower_with, stage), manifest.lower_with, stage)()
    placed = at_edge(_VERBS[edge], stage, item)
    library = load_library(item.extension)
    edit = Lowering(placed.verb, placed.stage, entries=placed.entries, dialect=manifest.name)
    add = dict.fromkeys(edit.entries, library.add[item.name])
    return Layer((edit,), add), library.digest  # type: ignore[arg-type]
