# SPDX-License-Identifier: Apache-2.0
"""One launch, how a candidate did in it, and where it ran."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from triton import knobs
from triton.runtime.driver import driver
from triton.runtime.errors import OutOfResources, PTXASError

from ..errors import TritonExtError
from ..pipeline.pipeline import Pipeline, ready
from . import store
from .candidates import Candidate
from .check import Arguments, CheckError
from .parallel import Compiled, CompileTimeoutError
from .report import Row, Status


@dataclass(frozen=True)
class Launch:
    """One call of the kernel: what was given, by position and by name, and all of it by name."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    named: Arguments

    def with_config(self, candidate: Candidate) -> Arguments:
        """What hooks get."""
        return {**self.named, **self.kwargs, **candidate.all_kwargs()}


@dataclass(frozen=True)
class Outcome:
    """How a candidate did.

    Attributes:
        status: as in `Row`.
        milliseconds: what `do_bench` returned.
        compile_seconds: as in `Row`.
        error: why it failed.
        reason: the same in words.
        same_as: as in `Row`.
        measured: as in `Row`.
    """

    status: Status
    milliseconds: tuple[float, ...] = ()
    compile_seconds: float | None = None
    error: Exception | None = None
    reason: str = ""
    same_as: str = ""
    measured: int = 1

    def row(self, candidate: Candidate) -> Row:
        """The same for the report."""
        config, pipeline = store.describe(candidate)
        return Row(
            config,
            pipeline,
            self.status,
            self.milliseconds,
            self.compile_seconds,
            self.reason,
            self.same_as,
            self.measured,
        )


def failure(error: Exception | None, compiled: Compiled) -> Outcome:
    """The outcome of a candidate that raised `error` while it was compiled or launched."""
    from triton.compiler.errors import CompilationError

    status: Status = "launch error"
    if isinstance(error, CompileTimeoutError):
        status = "time limit"
    elif isinstance(error, OutOfResources):
        status = "out of resources"
    elif isinstance(error, CheckError):
        status = "check error"
    elif error is compiled.error or isinstance(error, CompilationError | PTXASError | TritonExtError):
        status = "compile error"
    return Outcome(status, (), compiled.seconds, error, text_of_error(error)[:4000])


def text_of_error(error: Exception | None) -> str:
    """What a report says of `error`."""
    return str(error).strip() if isinstance(error, TritonExtError) else f"{type(error).__name__}: {error}"


def device() -> str:
    """The target, and the name of the device where there is one to ask."""
    try:
        target = driver.active.get_current_target()
    except RuntimeError:
        return "interpreter"
    try:
        name = driver.active.get_device_interface().get_device_name()
    except (AttributeError, ImportError, RuntimeError):
        return f"{target.backend}:{target.arch}"
    return f"{target.backend}:{target.arch} {name}"


def synchronize() -> None:
    """Waits for the device, if there is one to wait for."""
    if knobs.runtime.interpret:
        return
    wait: Callable[[], None] | None = None
    with contextlib.suppress(AttributeError, ImportError):
        wait = driver.active.get_device_interface().synchronize
    if wait is not None:
        wait()


def state(pipeline: Pipeline) -> str:
    """What a pipeline and its libraries are known by now."""
    if not pipeline.edits:
        return ""
    try:
        return ready(pipeline).key
    except TritonExtError as error:
        return f"cannot be used: {error}"


def inner_pipelines(function: Any) -> list[Pipeline]:
    """Those that ``@tx.use`` put below the autotuner."""
    found: list[Pipeline] = []
    while function is not None:
        found += getattr(function, "triton_ext_pipelines", ())
        function = getattr(function, "fn", None)
    return found
