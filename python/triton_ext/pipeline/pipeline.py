# SPDX-License-Identifier: Apache-2.0
"""`Pipeline`: edits to the pass pipelines that Triton's backends run, and where they apply."""

from __future__ import annotations

import copy
import functools
import os
from collections import defaultdict
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
#: Verbs of which a pass can bear only one.
_EXCLUSIVE = ("replace", "skip", "set")


@dataclass(frozen=True, repr=False)
class Pipeline:
    """An immutable list of edits to the pipeline of whatever backend compiles.

    Each method returns a new pipeline with one more edit. An anchor, ``[stage:]group.pass[#n|#last]`` (see `Anchor`),
    says where, e.g. ``"ttir.loop_unroll"``, ``"ttgpuir.remove_layout_conversions#2"``, ``"ttgir:common.cse#last"``
    or ``"nvidia.*"``; without ``#`` every match is meant. What is placed is an extension pass
    (``tx.passes.ttir.loop_split(...)``), a built-in one (``tx.builtin.common.cse()``) or a function that takes the
    ``ir.module`` and changes it in place. ``triton-ext pipeline show`` lists the anchors of a kernel.

    An anchor that does not occur is an error when a kernel is compiled; ``on_missing="warn"`` or ``"ignore"`` makes it
    less. Edits that contradict or repeat each other are errors at once.

    Apply it with ``with pipeline:`` (this thread, this block), ``install()`` (the process) or ``@tx.use(pipeline)``
    (one kernel). Where several apply, the inner one comes first, and the outer one edits what the inner one made.
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
        """The pipeline that `text` describes: what ``str(pipeline)`` or ``triton-ext pipeline show --text`` prints.

        Raises:
            PipelineError: the text is malformed (the message points at the place), or names what does not exist.
            PipelineTypeError: `text` is not a str.
        """
        from .text_form import parse

        return cls(parse(text))

    def before(self, anchor: str, *passes: Entry | Callable[[Any], None], on_missing: OnMissing = "error") -> Pipeline:
        """This pipeline with `passes`, in order, right before each match of `anchor`.

        Raises:
            PipelineError: `anchor` is malformed, or a pass is not one, or is for another stage.
        """
        return self._with(checked_edits.placed("before", anchor, *passes, on_missing=on_missing))

    def after(self, anchor: str, *passes: Entry | Callable[[Any], None], on_missing: OnMissing = "error") -> Pipeline:
        """This pipeline with `passes`, in order, right after each match of `anchor`.

        Raises:
            PipelineError: as of `before`.
        """
        return self._with(checked_edits.placed("after", anchor, *passes, on_missing=on_missing))

    def replace(self, anchor: str, *passes: Entry | Callable[[Any], None], on_missing: OnMissing = "error") -> Pipeline:
        """This pipeline with `passes`, in order, instead of each match of `anchor`.

        Raises:
            PipelineError: as of `before`, or no pass is given.
        """
        return self._with(checked_edits.placed("replace", anchor, *passes, on_missing=on_missing))

    def skip(self, anchor: str, *, on_missing: OnMissing = "error") -> Pipeline:
        """This pipeline without the matches of `anchor`.

        Raises:
            PipelineError: `anchor` is malformed.
        """
        return self._with(checked_edits.skip(anchor, on_missing=on_missing))

    def set(self, anchor: str, /, *, on_missing: OnMissing = "error", **arguments: Value) -> Pipeline:
        """This pipeline with other arguments for the passes that match `anchor`.

        Args:
            anchor: where.
            on_missing: what to do if it does not occur.
            arguments: new values by name, e.g. ``num_stages=4``; ``triton-ext pipeline show`` prints the names.

        Raises:
            PipelineError: `anchor` is malformed or no argument is given. That an argument is unknown or has another
                type turns out when a kernel is compiled.
        """
        return self._with(checked_edits.set_arguments(anchor, on_missing=on_missing, **arguments))

    def at_start(self, stage: str, *passes: Entry | Callable[[Any], None], on_missing: OnMissing = "error") -> Pipeline:
        """This pipeline with `passes` run, in order, on the module that enters `stage`.

        Raises:
            PipelineError: something that is not a pass, or a pass for another stage.
        """
        return self._with(checked_edits.at_edge("at_start", stage, *passes, on_missing=on_missing))

    def at_end(self, stage: str, *passes: Entry | Callable[[Any], None], on_missing: OnMissing = "error") -> Pipeline:
        """This pipeline with `passes` run, in order, after all others of `stage`.

        Args:
            stage: ``ttir``, ``ttgir`` or ``llir`` (there, before MLIR becomes text), or another one of the backend.
            passes: values such as ``tx.passes.ttir.rename(new="bar")``.
            on_missing: what to do if a compilation has no such stage.

        Raises:
            PipelineError: something that is not a pass, or a pass for another stage.
        """
        return self._with(checked_edits.at_edge("at_end", stage, *passes, on_missing=on_missing))

    def stage(self, name: str, function: StageFunction, *, on_missing: OnMissing = "error") -> Pipeline:
        """This pipeline with a whole stage replaced or wrapped.

        Args:
            name: the stage, e.g. ``ptx``.
            function: ``function(source, metadata, inner)`` returns what the stage makes of `source`; it may call
                ``inner(source, metadata)``, the stage as it was.
            on_missing: what to do if a compilation has no such stage.

        Raises:
            PipelineError: `function` is not callable.
        """
        return self._with(checked_edits.stage(name, function, on_missing=on_missing))

    def __add__(self, other: Pipeline) -> Pipeline:
        """Returns one pipeline with the edits of both, which see the passes of the backend, not each other's."""
        return Pipeline((*self.edits, *other.edits)) if isinstance(other, Pipeline) else NotImplemented

    def __str__(self) -> str:
        return text_of_edits(self.edits)

    def __repr__(self) -> str:
        return str(self) or "Pipeline()"

    def __reduce__(self) -> tuple[type[Pipeline], tuple[tuple[Edit, ...]]]:
        return Pipeline, (self.edits,)  # what is loaded belongs to this process

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
        """This pipeline with its libraries and its key, both of now."""
        if self._loaded:
            self._loaded[0].refresh()
        else:
            self._loaded.append(Active(self.edits))
        return self._loaded[0]

    def _with(self, edit: Edit) -> Pipeline:
        return Pipeline((*self.edits, edit))


def ready(pipeline: Pipeline) -> Active:
    """`pipeline` with its libraries and its key, both of now.

    Raises:
        TritonExtError: a library that it needs cannot be used.
    """
    return pipeline._active()


def loaded(pipeline: Pipeline) -> Active:
    """As `ready`, but with the libraries as they were when it was last used: a launch has no time to look at them.

    The hook does that now and then.
    """
    return pipeline._loaded[0] if pipeline._loaded else pipeline._active()


def use(pipeline: Pipeline) -> Callable[[_Kernel], _Kernel]:
    """Decorator: a copy of a kernel that is always compiled with `pipeline`; others are not affected.

    Goes above ``@triton.jit``, ``@triton.autotune`` and ``@triton.heuristics``. Pipelines that are active where the
    kernel is launched apply as well, outside of this one. Above ``@triton.jit`` it also holds where the kernel is not
    launched: for ``triton.compile(ASTSource(kernel, ...))`` and for Triton's ``tools/compile.py``.

    Raises:
        PipelineError: what it is put on is not a kernel.
    """
    if not isinstance(pipeline, Pipeline):
        raise PipelineError(f"use: expected a Pipeline, got {shown(pipeline)}", fix="@tx.use(tx.Pipeline().skip(...))")

    def decorate(kernel: _Kernel) -> _Kernel:
        from triton.runtime import KernelInterface

        if not isinstance(kernel, KernelInterface):
            raise PipelineError(f"use: expected a kernel, got {shown(kernel)}", fix="put it above @triton.jit")
        mine: Any = copy.copy(kernel)
        if hasattr(mine, "device_caches"):
            # What makes them also sets up the kernel itself, which has to be this one.
            mine.device_caches = defaultdict(mine.create_binder)
            mine.pre_run_hooks = list(mine.pre_run_hooks)
        if hasattr(mine, "cache") and hasattr(mine, "configs"):
            mine.cache = {}  # of an autotuner: which configuration is best depends on the pipeline
            mine.warmup = functools.partial(_run_with, pipeline, mine.warmup)
        mine.triton_ext_pipelines = (pipeline, *getattr(kernel, "triton_ext_pipelines", ()))
        scope.follow_used_kernels()
        mine.run = functools.partial(_run_with, pipeline, mine.run)
        return mine  # type: ignore[no-any-return]

    return decorate


def _run_with(pipeline: Pipeline, run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    active = loaded(pipeline)
    scope.enter(active, by_use=True)
    try:
        return run(*args, **kwargs)
    finally:
        scope.leave(active)


def from_environment() -> None:
    """Installs the pipeline of ``TRITON_EXT_PIPELINE``, a text or ``@`` and a file name, if there is one.

    Raises:
        PipelineError: it is malformed, or the file cannot be read. What it names is looked up at the first compilation.
    """
    variable = os.environ.get("TRITON_EXT_PIPELINE", "")
    if not variable.strip():
        return
    from .text_form import read, syntax

    text = read(variable)
    syntax(text)
    scope.install_later(lambda: [Pipeline.parse(text)._active()])


def _refuse_conflicts(edits: tuple[Edit, ...]) -> None:
    """Raises PipelineError where edits repeat or contradict each other."""
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
    """Whether a pass that one of them means is sure to be meant by the other, in every stage that has it."""
    return a.covers(b) or b.covers(a)
