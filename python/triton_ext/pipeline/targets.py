# SPDX-License-Identifier: Apache-2.0
"""Checks whether a pass is for a target: ``cuda``, or an architecture such as ``cuda:90`` or ``hip:gfx9*``."""

from __future__ import annotations

import fnmatch
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import PipelineError
from ..loading.discovery import Extension
from .edits import Edit, Entry
from .extension_passes import Pass
from .llvm_passes import LLVMPasses

if TYPE_CHECKING:
    from .steps import Layer


def is_among(targets: Sequence[str], backend: str, arch: object) -> bool:
    """Whether the `targets` of a pass include the target `backend` with `arch`; an empty list includes every target."""
    pairs = (target.partition(":")[::2] for target in targets)
    return not targets or any(
        backend == name and fnmatch.fnmatchcase(str(arch), wanted or "*") for name, wanted in pairs
    )


def _extensions_of(entry: Entry) -> tuple[Extension, ...]:
    """Returns the extensions whose passes `entry` places."""
    if isinstance(entry, LLVMPasses):
        return entry.extensions
    return (entry.extension,) if isinstance(entry, Pass) else ()


def for_target(layers: tuple[Layer, ...], target: Any) -> tuple[Layer, ...]:
    """Returns `layers` for a compilation for the ``GPUTarget`` `target`.

    An edit with a pass for other targets is treated like an edit whose anchor does not occur: with ``on_missing`` at
    ``"warn"`` or ``"ignore"`` it is left out, so one pipeline can serve several targets.

    Raises:
        PipelineError: a pass is for other targets, and its edit has ``on_missing="error"``.
    """

    def kept(edit: Edit) -> bool:
        for extension in (e for entry in edit.entries for e in _extensions_of(entry)):
            if is_among(extension.targets, target.backend, target.arch):
                continue
            problem = (
                f"'{edit}': pass '{extension.name}' is for the target {' or '.join(extension.targets)}, "
                f"this compilation is for {target.backend}:{target.arch}"
            )
            if edit.on_missing == "error":
                raise PipelineError(problem, fix="on_missing='ignore' leaves the edit out elsewhere")
            if edit.on_missing == "warn":
                warnings.warn(problem, stacklevel=2)
            return False
        return True

    return tuple(
        layer if len(edits) == len(layer.edits) else replace(layer, edits=edits)
        for layer in layers
        for edits in [tuple(edit for edit in layer.edits if kept(edit))]
    )
