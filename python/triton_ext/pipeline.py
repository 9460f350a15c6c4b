# SPDX-License-Identifier: Apache-2.0
"""`Pipeline`: places extension passes in the pipelines that Triton's backends run.

Triton has one slot for a hook (``knobs.runtime.add_stages_inspection_hook``). With arguments the hook may change the
stages of a compilation; without, it returns what enters the keys of the in-memory and the disk cache. A hook that was
in the slot before keeps working: ours calls it.
"""

from __future__ import annotations

import contextvars
import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from ._infra import load_infra
from .errors import PipelineError
from .loader import LoadedLibrary, load_library
from .passes import Pass

Stage = Callable[[Any, dict[str, Any]], Any]


@dataclass(frozen=True)
class Edit:
    """Passes to run at the end of a stage."""

    stage: str
    passes: tuple[Pass, ...]

    def __str__(self) -> str:
        return f"{self.stage}: at_end({', '.join(map(str, self.passes))})"


@dataclass(frozen=True)
class Pipeline:
    """An immutable list of edits to the pipeline of a backend.

    ``with pipeline:`` applies it to every kernel that is compiled inside, in this thread. Blocks nest: the passes of
    the inner one run first.
    """

    edits: tuple[Edit, ...] = ()

    def at_end(self, stage: str, *passes: Pass) -> Pipeline:
        """This pipeline with `passes` run, in order, after all others of `stage`.

        Args:
            stage: ``ttir`` or ``ttgir``, or another stage of the backend that ends in an MLIR module.
            passes: values such as ``tx.passes.ttir.rename(new="bar")``.

        Raises:
            PipelineError: something that is not a pass, or a pass for another stage.
        """
        for item in passes:
            if not isinstance(item, Pass):
                raise PipelineError(f"at_end('{stage}'): expected a pass such as tx.passes.ttir.rename(), got {item!r}")
            if item.stage not in (None, stage):
                raise PipelineError(f"pass '{item.name}' is for stage '{item.stage}', not for '{stage}'")
        return Pipeline((*self.edits, Edit(stage, passes)))

    def __str__(self) -> str:
        return "; ".join(map(str, self.edits))

    def __enter__(self) -> Pipeline:
        entered = _Active.of(self)
        _hook.acquire()
        _stack.set(_Stack.of((*_stack.get().active, entered)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _stack.set(_Stack.of(_stack.get().active[:-1]))
        _hook.release()


@dataclass(frozen=True)
class _Active:
    """A pipeline with the libraries that it had when it was entered, and the cache key of both."""

    pipeline: Pipeline
    libraries: dict[Pass, LoadedLibrary]
    key: str

    @classmethod
    def of(cls, pipeline: Pipeline) -> _Active:
        libraries = {p: load_library(p.extension) for edit in pipeline.edits for p in edit.passes}
        edits = [[edit.stage, [[p.name, p.args, libraries[p].digest] for p in edit.passes]] for edit in pipeline.edits]
        key = hashlib.sha256(json.dumps([load_infra(), edits]).encode()).hexdigest()
        return cls(pipeline, libraries, key[:32])

    def wrap(self, stages: dict[str, Stage]) -> None:
        """Appends this pipeline's passes to the stages of one compilation."""
        for edit in self.pipeline.edits:
            if edit.stage not in stages:
                raise PipelineError(
                    f"'{edit}': this compilation has no stage '{edit.stage}', it has: {', '.join(stages)}"
                )
            stages[edit.stage] = self._append(edit, stages[edit.stage])

    def _append(self, edit: Edit, stage: Stage) -> Stage:
        def run(source: Any, metadata: dict[str, Any]) -> Any:
            from triton._C.libtriton import ir

            module = stage(source, metadata)
            if not isinstance(module, ir.module):
                raise PipelineError(f"'{edit}': stage '{edit.stage}' ends in text, an MLIR pass cannot follow it")
            for item in edit.passes:
                manager = ir.pass_manager(module.context)
                manager.enable_debug()
                try:
                    self.libraries[item].add[item.name](manager, list(item.args))
                    manager.run(module, f"triton_ext.{item.name}")
                except (RuntimeError, ValueError) as error:
                    kernel = module.get_entry_func_name()
                    raise PipelineError(f"'{edit}': pass '{item}' failed on kernel '{kernel}': {error}") from error
            return module

        return run


@dataclass(frozen=True)
class _Stack:
    """The pipelines that this thread is in, outermost first, with what the hook answers at every launch."""

    active: tuple[_Active, ...]
    answer: tuple[str, str]

    @classmethod
    def of(cls, active: tuple[_Active, ...]) -> _Stack:
        # Empty outside of any pipeline: such a kernel has the key that it has without us.
        key = "triton-ext:" + "+".join(pipeline.key for pipeline in active) if active else ""
        return cls(active, (key, key))


_NO_PIPELINE = _Stack.of(())
_stack: contextvars.ContextVar[_Stack] = contextvars.ContextVar("triton_ext_pipelines", default=_NO_PIPELINE)


class _Hook:
    """What sits in Triton's hook slot while any thread is inside a pipeline."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._previous: Callable[..., tuple[str, str]] | None = None

    def acquire(self) -> None:
        from triton import knobs

        with self._lock:
            if self._users == 0:
                self._previous = knobs.runtime.add_stages_inspection_hook
                knobs.runtime.add_stages_inspection_hook = self
            self._users += 1

    def release(self) -> None:
        from triton import knobs

        with self._lock:
            self._users -= 1
            # A hook that the user set in the meantime stays.
            if self._users == 0 and knobs.runtime.add_stages_inspection_hook is self:
                knobs.runtime.add_stages_inspection_hook = self._previous
                self._previous = None

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[str, str]:
        if self._previous is None and not args and not kwargs:
            return _stack.get().answer  # every launch comes here
        stack = _stack.get()
        theirs = (self._previous(*args, **kwargs) if self._previous else None) or ("", "")
        stages = args[1] if len(args) > 1 else kwargs.get("stages")
        if stages is not None:
            for pipeline in reversed(stack.active):
                pipeline.wrap(stages)
        return stack.answer[0] + theirs[0], stack.answer[1] + theirs[1]


_hook = _Hook()
