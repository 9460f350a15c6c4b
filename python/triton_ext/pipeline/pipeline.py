# SPDX-License-Identifier: Apache-2.0
"""`Pipeline`: edits to the pass pipelines of Triton's backends, and the ways to apply them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, TypeVar

from ..errors import PipelineError, PipelineTypeError
from ..support.shown import shown
from . import checked_edits, scope
from .active import Active
from .anchors import Anchor
from .edits import Edit, Entry, OnMissing, StageFunction, text_of_edits
from .values import Value

_Kernel = TypeVar("_Kernel")
#: Verbs that contradict each other on the same pass.
_EXCLUSIVE = ("replace", "skip", "set")


@dataclass(frozen=True, repr=False)
class Pipeline:
    """An immutable list of edits to the pass pipeline of the backend that compiles a kernel.

    Each method returns a new pipeline with one more edit. An anchor, ``[stage:]group.pass[#n|#last]`` (see `Anchor`),
    gives the place, e.g. ``"ttir.loop_unroll"``, ``"ttgpuir.remove_layout_conversions#2"``, ``"ttgir:common.cse#last"``
    or ``"nvidia.*"``; without ``#`` it means every match. An edit places extension passes
    (``tx.passes.ttir.loop_split(...)``), built-in passes (``tx.builtin.common.cse()``) and functions that take the
    ``ir.module`` and change it in place. ``triton-ext pipeline show`` lists the anchors of a kernel.

    An anchor that does not occur is an error when a kernel is compiled; with ``on_missing="warn"`` it is a warning,
    with ``"ignore"`` nothing. Edits that contradict or repeat each other are errors at once.

    Apply a pipeline with ``with pipeline:`` (this thread, this block), ``install()`` (the process) or
    ``@tx.use(pipeline)`` (one kernel). If several apply, the innermost is placed first, and each outer one edits the
    result.
    """

    edits: tuple[Edit, ...] = ()
    _loaded: list[Active] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not (isinstance(self.edits, tuple) and all(isinstance(edit, Edit) for edit in self.edits)):
            raise PipelineTypeError(
                f"Pipeline: expected a tuple of edits, got {shown(self.edits)}", fix="Pipeline.parse reads a text"
            )
        _refuse_conflicts(self.edits)

    @classmethod
    def parse(cls, text: str) -> Pipeline:
        """Returns the pipeline that `text` describes.

        Args:
            text: what ``str(pipeline)`` or ``triton-ext pipeline show --text`` prints.

        Raises:
            PipelineError: the text is malformed (the message points at the place), or names something that does not
                exist.
            PipelineTypeError: `text` is not a str.
        """
        from .text_form import parse

        return cls(parse(text))

    def before(self, anchor: str, *passes: Entry | Callable[[Any], None], on_missing: OnMissing = "error") -> Pipeline:
        """Returns this pipeline with `passes`, in order, directly before each match of `anchor`.

        Raises:
            PipelineError: `anchor` is malformed, or a pass is not one, or is for another stage.
        """
        return self._with(checked_edits.placed("before", anchor, *passes, on_missing=on_missing))

    def after(self, anchor: str, *passes: Entry | Callable[[Any], None], on_missing: OnMissing = "error") -> Pipeline:
        """Returns this pipeline with `passes`, in order, directly after each match of `anchor`.

        Raises:
            PipelineError: `anchor` is malformed, or a pass is not one, or is for another stage.
        """
        return self._with(checked_edits.placed("after", anchor, *passes, on_missing=on_missing))

    def replace(self, anchor: str, *passes: Entry | Callable[[Any], None], on_missing: OnMissing = "error") -> Pipeline:
        """Returns this pipeline with `passes`, in order, in place of each match of `anchor`.

        Raises:
            PipelineError: `anchor` is malformed, no pass is given, or a pass is not one, or is for another stage.
        """
        return self._with(checked_edits.placed("replace", anchor, *passes, on_missing=on_missing))

    def skip(self, anchor: str, *, on_missing: OnMissing = "error") -> Pipeline:
        """Returns this pipeline without the matches of `anchor`.

        Raises:
            PipelineError: `anchor` is malformed.
        """
        return self._with(checked_edits.skip(anchor, on_missing=on_missing))

    def set(self, anchor: str, /, *, on_missing: OnMissing = "error", **arguments: Value) -> Pipeline:
        """Returns this pipeline with other arguments for the passes that match `anchor`.

        Args:
            anchor: the passes.
            on_missing: what to do if the anchor does not occur.
            arguments: new values by name, e.g. ``num_stages=4``; ``triton-ext pipeline show`` prints the names.

        Raises:
            PipelineError: `anchor` is malformed or no argument is given. An argument that the pass does not have, or of
                another type, is an error when a kernel is compiled.
        """
        return self._with(checked_edits.set_arguments(anchor, on_missing=on_missing, **arguments))

    def at_start(self, stage: str, *passes: Entry | Callable[[Any], None], on_missing: OnMissing = "error") -> Pipeline:
        """Returns this pipeline with `passes`, in order, run on the module that enters `stage`.

        Raises:
            PipelineError: something that is not a pass, or a pass for another stage.
        """
        return self._with(checked_edits.at_edge("at_start", stage, *passes, on_missing=on_missing))

    def at_end(self, stage: str, *passes: Entry | Callable[[Any], None], on_missing: OnMissing = "error") -> Pipeline:
        """Returns this pipeline with `passes`, in order, run after all others of `stage`.

        Args:
            stage: ``ttir``, ``ttgir``, ``llir`` (before MLIR becomes text) or another stage of the backend.
            passes: values such as ``tx.passes.ttir.rename(new="bar")``.
            on_missing: what to do if a compilation has no such stage.

        Raises:
            PipelineError: something that is not a pass, or a pass for another stage.
        """
        return self._with(checked_edits.at_edge("at_end", stage, *passes, on_missing=on_missing))

    def stage(self, name: str, function: StageFunction, *, on_missing: OnMissing = "error") -> Pipeline:
        """Returns this pipeline with a whole stage replaced or wrapped by a function.

        Args:
            name: the stage, e.g. ``ptx``.
            function: ``function(source, metadata, inner)`` returns the result of the stage for `source`; it may call
                the original stage with ``inner(source, metadata)``.
            on_missing: what to do if a compilation has no such stage.

        Raises:
            PipelineError: `function` is not callable.
        """
        return self._with(checked_edits.stage(name, function, on_missing=on_missing))

    def __add__(self, other: Pipeline) -> Pipeline:
        """Returns one pipeline with the edits of both; the anchors of neither match passes that the other places."""
        return Pipeline((*self.edits, *other.edits)) if isinstance(other, Pipeline) else NotImplemented

    def __str__(self) -> str:
        return text_of_edits(self.edits)

    def __repr__(self) -> str:
        return str(self) or "Pipeline()"

    def __reduce__(self) -> tuple[type[Pipeline], tuple[tuple[Edit, ...]]]:
        return Pipeline, (self.edits,)  # loaded libraries belong to this process

    def __enter__(self) -> Pipeline:
        scope.enter(self._active())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._loaded:
            raise PipelineError(
                f"the pipeline '{self}' ends, but it was never entered",
                fix="use a with statement or contextlib.ExitStack",
            )
        scope.leave(self._loaded[0])

    def install(self) -> Pipeline:
        """Applies this pipeline in the whole process, outside of any ``with``; returns it.

        Raises:
            TritonExtError: a library that it needs cannot be used.
        """
        scope.install(self._active())
        return self

    def uninstall(self) -> None:
        """Takes back one `install`.

        Raises:
            PipelineError: it is not installed.
        """
        if not (self._loaded and scope.uninstall(self._loaded[0])):
            raise PipelineError(f"the pipeline '{self}' is not installed")

    def _active(self) -> Active:
        """See `ready`."""
        if self._loaded:
            self._loaded[0].refresh()
        else:
            self._loaded.append(Active(self.edits))
        return self._loaded[0]

    def _with(self, edit: Edit) -> Pipeline:
        return Pipeline((*self.edits, edit))


def ready(pipeline: Pipeline) -> Active:
    """Returns `pipeline` with its libraries loaded and its key computed from their current state.

    Raises:
        TritonExtError: a library that it needs cannot be used.
    """
    return pipeline._active()


def loaded(pipeline: Pipeline) -> Active:
    """Returns `pipeline` with the libraries of its last use, or as `ready` does if it was not used yet.

    Launches call this, because checking the libraries takes too long; the hook checks them twice a second.
    """
    return pipeline._loaded[0] if pipeline._loaded else pipeline._active()


def from_environment() -> None:
    """Installs the pipeline that ``TRITON_EXT_PIPELINE`` describes, if it is set: a text, or ``@`` and a file name.

    The passes that it names are looked up at the first compilation.

    Raises:
        PipelineError: it is malformed, or the file cannot be read.
    """
    variable = os.environ.get("TRITON_EXT_PIPELINE", "")
    if not variable.strip():
        return
    from .text_form import read, syntax

    text = read(variable)
    syntax(text)
    scope.install_later(lambda: [Pipeline.parse(text)._active()])


def _refuse_conflicts(edits: tuple[Edit, ...]) -> None:
    """Raises PipelineError if edits repeat or contradict each other."""
    for i, edit in enumerate(edits):
        for earlier in edits[:i]:
            if edit == earlier:
                raise PipelineError(f"'{edit}' is given twice")
            if edit.verb == earlier.verb == "stage" and edit.stage == earlier.stage:
                raise PipelineError(f"stage '{edit.stage}' is replaced twice; call one function from the other")
            if edit.anchor is None or earlier.anchor is None:
                continue
            if edit.verb == earlier.verb == "set":
                for name, _ in edit.arguments if _same_passes(edit.anchor, earlier.anchor) else ():
                    if name in dict(earlier.arguments):
                        raise PipelineError(f"argument '{name}' of '{edit.anchor}' is set twice")
            elif edit.verb in _EXCLUSIVE and earlier.verb in _EXCLUSIVE and _same_passes(edit.anchor, earlier.anchor):
                raise PipelineError(f"'{edit}' contradicts '{earlier}'")


def _same_passes(a: Anchor, b: Anchor) -> bool:
    """Whether every pass that one of the anchors matches is matched by the other, in any list of passes."""
    return a.covers(b) or b.covers(a)
