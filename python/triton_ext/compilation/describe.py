# SPDX-License-Identifier: Apache-2.0
"""`describe`: compiles a kernel and records the passes that run."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..compilation.records import Compilation
from ..errors import TritonExtError
from ..pipeline import scope
from ..pipeline.edits import text_of_edits
from ..pipeline.inspection import Level
from ..pipeline.pipeline import Pipeline, ready
from ..pipeline.stack import Observer
from .requests import KernelRequest, request_for


def describe(
    kernel: object,
    *,
    target: object = None,
    signature: str | Mapping[str, object] | None = None,
    options: Mapping[str, Any] | None = None,
    pipeline: Pipeline | None = None,
) -> Compilation:
    """Compiles `kernel`, without Triton's cache, and returns the passes that ran.

    Args:
        kernel: a kernel; an ``ASTSource``; the path of a file with IR; or ``FILE.py:kernel``.
        target: e.g. ``cuda:90``, or a ``GPUTarget``; default: that of the active driver. No GPU is needed.
        signature: type or value of each argument, for a kernel: ``"*fp16:16, i32, 64"`` in order, or a mapping by name.
        options: options of the backend, e.g. ``{"num_warps": 8}``.
        pipeline: the edits to apply, inside of the pipelines that are active.

    Returns:
        The stages and passes, with times, sizes and whether they changed the IR. ``print`` shows a table.

    Raises:
        TritonExtError: the kernel cannot be found or its signature does not fit.
        PipelineError: an edit does not fit the kernel's pipeline, or a pass failed.
    """
    return compile_observed(request_for(kernel, target, signature, options), Level.SUMMARY, pipeline)


def compile_observed(
    task: KernelRequest, level: Level, pipeline: Pipeline | None = None, sources: str | os.PathLike[str] | None = None
) -> Compilation:
    """Compiles `task` and returns the record; Triton's cache is as before.

    Args:
        task: the compilation.
        level: how much is recorded. At `Level.IR` this includes the source files of the kernel.
        pipeline: the edits to apply.
        sources: a directory whose Python files are recorded, too, if the IR names them.
    """
    return compile_and_observe(task, level, pipeline, sources)[1]


def compile_and_observe(
    task: KernelRequest, level: Level, pipeline: Pipeline | None = None, sources: str | os.PathLike[str] | None = None
) -> tuple[Any, Compilation]:
    """Does what `compile_observed` does, and returns Triton's ``CompiledKernel`` and the record."""
    import triton

    observer = Observer(level)
    with contextlib.ExitStack() as scopes:
        scopes.callback(_forget, observer)
        scopes.callback(scope.stop_observing, scope.observe(observer))
        for outer in task.pipelines:
            active = ready(outer)
            scope.enter(active, by_use=True)
            scopes.callback(scope.leave, active)
        if pipeline:
            scopes.enter_context(pipeline)
        edits = text_of_edits(scope.active_edits())
        started = time.perf_counter()
        with _cache_errors():
            compiled = triton.compile(task.source, target=task.target, options=dict(task.options))
        seconds = time.perf_counter() - started
        if observer.compilation is None:
            raise TritonExtError(
                f"the backend of {task.target.backend}:{task.target.arch} does not call Triton's hook, so its pipeline "
                "cannot be seen"
            )
    file = getattr(getattr(task.source, "fn", None), "fn", None)
    return compiled, Compilation(
        kernel=compiled.metadata.name if not task.kernel else task.kernel,
        target=f"{task.target.backend}:{task.target.arch}",
        triton=triton.__version__,
        pipeline=edits,
        seconds=seconds,
        stages=observer.stages,
        file=file.__code__.co_filename if file is not None else None,
        sources=_sources(task, observer, sources) if level is Level.IR else (),
        sass=_sass(compiled) if level is Level.IR else None,
    )


@contextlib.contextmanager
def _cache_errors() -> Iterator[None]:
    """Turns an OSError of the body about Triton's cache, e.g. without a home directory, into one line.

    Raises:
        TritonExtError: the cache cannot be written.
    """
    from triton import knobs

    try:
        yield
    except OSError as error:
        cache, place = knobs.cache.dir, error.filename
        if isinstance(place, str) and (Path(cache).is_relative_to(place) or Path(place).is_relative_to(cache)):
            raise TritonExtError(
                f"Triton's cache, {cache}, cannot be written: {place}: {error.strerror}",
                fix="TRITON_CACHE_DIR=/a/directory/of/your/own",
            ) from error
        raise


def _sources(
    task: KernelRequest, observer: Observer, directory: str | os.PathLike[str] | None
) -> tuple[tuple[str, str], ...]:
    from .sources import read_sources

    return read_sources(task.source, observer.stages, directory)


def _sass(compiled: Any) -> str | None:
    """Returns the disassembled cubin; None for another binary, or if cuobjdump fails."""
    if "cubin" not in compiled.asm:
        return None
    try:
        return str(compiled.asm["sass"])
    except (OSError, RuntimeError, subprocess.SubprocessError):
        return None


def _forget(observer: Observer) -> None:
    """Removes the files of an observed compilation, whose key is not used again, from Triton's cache."""
    from triton.runtime.cache import get_cache_manager

    key = observer.compilation.cache_hash if observer.compilation else None
    directory = getattr(get_cache_manager(key), "cache_dir", None) if key else None
    if directory and os.path.isdir(directory):
        shutil.rmtree(Path(directory), ignore_errors=True)
