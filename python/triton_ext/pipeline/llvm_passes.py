# SPDX-License-Identifier: Apache-2.0
"""The passes of LLVM as values that a `Pipeline` can place in its stage ``llvm``."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from ..errors import PipelineError
from ..loading.discovery import Extension, extensions
from ..support.shown import shown

#: The stage, which is the part of ``llir`` in which the backend has LLVM optimise the module.
LLVM = "llvm"
#: The stage of a backend during which the stage `LLVM` runs.
AROUND = "llir"
#: The name in the text form of a pipeline.
NAME = "llvm"
#: The extension points of LLVM's optimiser, in the order in which it reaches them, as anchors ``llvm.<name>``.
POINTS = (
    "pipeline_start",
    "peephole",
    "late_loop_optimizations",
    "loop_optimizer_end",
    "scalar_optimizer_late",
    "optimizer_early",
    "vectorizer_start",
    "vectorizer_end",
    "optimizer_last",
)
_PREFIX = "triton-ext-"
_ARGUMENTS = re.compile(r"<[^<>]*>")
_NAMES = re.compile(r"[\w-]+")


@dataclass(frozen=True)
class LLVMPasses:
    """A textual pipeline of LLVM, ready to be placed in the stage ``llvm``; made by ``tx.builtin.llvm``.

    Attributes:
        passes: the pipeline, e.g. ``function(instcombine,gvn)`` or ``default<O2>``; it may name passes of extensions.
        extensions: the extensions that it names.
    """

    passes: str
    extensions: tuple[Extension, ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """The name of the entry in a table of passes."""
        return NAME

    def __str__(self) -> str:
        return f"{NAME}{{passes={json.dumps(self.passes, ensure_ascii=False)}}}"


class LLVMFactory:
    """Makes `LLVMPasses` values: ``tx.builtin.llvm("function(instcombine,gvn)")``."""

    __name__ = NAME

    def __call__(self, passes: str) -> LLVMPasses:
        """Returns a textual pipeline of LLVM, which ``opt -passes=`` of LLVM takes.

        Args:
            passes: e.g. ``"function(instcombine,gvn)"``, ``"default<O2>"`` or, with the pass of an extension and its
                options, ``"function(my-pass<level=2>)"``.

        Raises:
            PipelineError: `passes` is not a text, or empty. Whether LLVM knows the passes shows when a kernel is
                compiled; ``triton-ext-opt --llvm --print-passes`` lists them.
        """
        if not isinstance(passes, str) or not passes.strip() or not passes.isprintable():
            raise PipelineError(
                f"llvm: expected a pipeline of LLVM's passes, got {shown(passes)}",
                fix='tx.builtin.llvm("function(instcombine,gvn)")',
            )
        return LLVMPasses(passes.strip(), named_extensions(passes))

    def __repr__(self) -> str:
        return f"<passes of LLVM {NAME}(passes: str)>"


def named_extensions(pipeline: str) -> tuple[Extension, ...]:
    """Returns the extensions whose LLVM passes a textual pipeline names."""
    while pipeline != (pipeline := _ARGUMENTS.sub("", pipeline)):
        pass
    names = {name.removeprefix(_PREFIX).replace("-", "_") for name in _NAMES.findall(pipeline)}
    return tuple(e for e in extensions() if e.stage == LLVM and not e.problem and e.name in names)
