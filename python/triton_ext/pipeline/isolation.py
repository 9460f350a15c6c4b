# SPDX-License-Identifier: Apache-2.0
"""Runs the stages of a compilation with edits in a child process, so that a crash becomes an exception.

The environment variable ``TRITON_EXT_ISOLATE=1`` asks for it. The first stage forks. The child reads the module into a
new context, because the threads of the parent's context do not exist in the child. It runs this stage and all later
ones and leaves their results in a file. The parent returns these results when Triton calls its stages, so Triton's
cache gets them as usual. Changes that a stage makes to Python objects stay in the child.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pickle
import shlex
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triton._C.libtriton import ir

from ..errors import PipelineError
from ..support import scratch
from .crash_reports import FILE
from .forked_child import Child, in_child, is_child

if TYPE_CHECKING:
    from .edited_compilation import EditedCompilation

VARIABLE = "TRITON_EXT_ISOLATE"


def is_wanted() -> bool:
    """Whether compilations with edits are to run in a child process."""
    return os.environ.get(VARIABLE, "") not in ("", "0") and not is_child()


def command(before: str, template: str) -> str:
    """Writes the module `before` to a file, and returns the command that runs a pass on it.

    Args:
        before: the module.
        template: the command, with `FILE` in place of the file name.
    """
    path = "module.mlir, which could not be written"
    if root := scratch.scratch_root():
        with (
            contextlib.suppress(OSError),  # e.g. a full disk, which must not hide the error that is being reported
            tempfile.NamedTemporaryFile(
                "w", prefix="triton-ext-crash-", suffix=".mlir", dir=root, delete=False
            ) as file,
        ):
            file.write(before)
            path = file.name
    return template.replace(FILE, shlex.quote(path), 1)


def driver(library: Path | None = None) -> str:
    """Returns the shell command that runs this Python's ``triton-ext-opt``, with the passes of `library` if given."""
    return f"{_driver()} --load-extension={shlex.quote(str(library))}" if library else _driver()


@functools.cache
def _driver() -> str:
    beside = Path(os.path.abspath(sys.executable)).with_name("triton-ext-opt")
    return shlex.quote(str(beside)) if beside.is_file() else "triton-ext-opt"


@dataclass(frozen=True)
class _Result:
    """The result of one stage.

    Attributes:
        stage: name of the stage.
        value: the text or the bytes that it returned; for a module, the text of the module.
        is_module: whether it returned a module.
        metadata: the entries of Triton's metadata that it changed.
    """

    stage: str
    value: str | bytes
    is_module: bool
    metadata: dict[str, Any]


@dataclass(frozen=True)
class _Outcome:
    """What a child sends to its parent.

    Attributes:
        results: the results of the stages that ended.
        error: the exception of the stage after them; None if all stages ended.
        state: attributes of the `EditedCompilation` that the stages have changed.
    """

    results: list[_Result]
    error: Exception | None
    state: dict[str, Any]


def wrap(stages: dict[str, Callable[..., Any]], compilation: EditedCompilation, backend: Any) -> None:
    """Makes `stages` run in one child process, which is forked when the first of them is called."""
    isolated = _Isolated(dict(stages), compilation, backend)
    for name in stages:
        stages[name] = functools.partial(isolated.run, name)


class _Isolated:
    def __init__(self, stages: dict[str, Callable[..., Any]], compilation: EditedCompilation, backend: Any) -> None:
        self.stages = stages
        self.compilation = compilation
        self.backend = backend
        self._left: list[_Result] = []  # results that Triton has not asked for yet
        self._last: object = None  # the result that was returned last
        self._error: Exception | None = None

    def run(self, name: str, source: Any, metadata: dict[str, Any]) -> Any:
        """Takes the place of the stage `name`: returns its result from the child.

        Args:
            name: the stage.
            source: the module, text or bytes that enters it.
            metadata: Triton's metadata, to which the entries of the stage are added.
        """
        if source is not self._last or self._last is None:  # the first stage, or Triton has replaced our result
            self._left, self._error = self._compile(name, source, metadata)
        if not self._left:
            assert self._error is not None
            raise self._error
        result = self._left.pop(0)
        metadata.update(result.metadata)
        self._last = _parsed(result.value, source.context) if result.is_module else result.value
        return self._last

    def _compile(self, name: str, source: Any, metadata: dict[str, Any]) -> tuple[list[_Result], Exception | None]:
        names = list(self.stages)[list(self.stages).index(name) :]
        text = str(source.str()) if isinstance(source, ir.module) else source

        def work() -> _Outcome:
            return self._work(names, text if not isinstance(source, ir.module) else self._own_module(text), metadata)

        self.compilation.kernel = _kernel_of(source) or self.compilation.kernel
        done = in_child(work)
        if done.answer is None:
            return [], self._crash(done, names)
        vars(self.compilation).update(done.answer.state)
        return done.answer.results, done.answer.error

    def _own_module(self, text: str) -> Any:
        context = ir.context()
        ir.load_dialects(context)
        self.backend.load_dialects(context)
        return _parsed(text, context)

    def _work(self, names: list[str], source: Any, metadata: dict[str, Any]) -> _Outcome:
        """Runs the stages in the child, up to the first that fails."""
        results: list[_Result] = []
        error: Exception | None = None
        metadata = dict(metadata)
        for name in names:
            before = dict(metadata)
            try:
                source = self.stages[name](source, metadata)
            except Exception as raised:
                error = _portable(raised)
                break
            changed = {k: v for k, v in metadata.items() if k not in before or before[k] is not v}
            is_module = isinstance(source, ir.module)
            results.append(_Result(name, str(source.str()) if is_module else source, is_module, changed))
        state = {key: vars(self.compilation)[key] for key in ("records", "seen", "cache_hash", "kernel")}
        return _Outcome(results, error, state)

    def _crash(self, died: Child, names: list[str]) -> Exception:
        where = died.place or (
            f"in stage '{names[0]}' or a later one of kernel '{self.compilation.kernel}', "
            f"with the pipeline '{self.compilation.text}'"
        )
        lines = [f"the compilation {died.ended} {where}"]
        lines += [line.strip() for line in died.said.splitlines() if "LLVM ERROR" in line or "Assertion" in line][:1]
        if died.place and died.place.before:
            lines.append(f"to run it again: {command(died.place.before, died.place.command)}")
        lines += filter(None, [in_child(self.compilation.without_edits).answer])
        return PipelineError("\n".join(lines))


def _kernel_of(source: Any) -> str:
    return str(source.get_entry_func_name() or "") if isinstance(source, ir.module) else ""


def _parsed(text: Any, context: Any) -> Any:
    with scratch.scratch_file() as file:
        file.write(text.encode())
        module = ir.parse_mlir_module(scratch.path_of(file), context)
    module.context = context
    return module


def _portable(error: Exception) -> Exception:
    """Returns `error` if it can be pickled, otherwise a PipelineError with the same text and notes."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        same = PipelineError(f"{type(error).__name__}: {error}")
        for note in getattr(error, "__notes__", ()):
            same.add_note(note)
        return same
    return error
