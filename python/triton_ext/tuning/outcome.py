# SPDX-License-Identifier: Apache-2.0
"""A launch, and the outcome of a candidate in it."""

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
    """One call of the kernel.

    Attributes:
        args: the positional arguments.
        kwargs: the arguments that were given by name, including ``grid``.
        named: the positional arguments by name.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    named: Arguments

    def with_config(self, candidate: Candidate) -> Arguments:
        """Returns the arguments that hooks get: those of the launch and of the candidate's configuration."""
        return {**self.named, **self.kwargs, **candidate.all_kwargs()}


@dataclass(frozen=True)
class Outcome:
    """How the measurement of a candidate ended.

    Attributes:
        status: as in `Row`.
        milliseconds: the result of `do_bench`; empty if it failed.
        compile_seconds: as in `Row`.
        error: the exception, if it failed with one.
        reason: why it failed, as text.
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
        """Returns the row of the report for `candidate`."""
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
    """Returns the outcome of a candidate that raised `error` while it was compiled or launched."""
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
    """Returns the text for `error` in a report."""
    return str(error).strip() if isinstance(error, TritonExtError) else f"{type(error).__name__}: {error}"


def device() -> str:
    """Returns the target, with the name of the device if the driver knows it."""
    try:
        target = driver.active.get_current_target()
    except RuntimeError:
        return "interpreter"
    try:
        name = driver.active.get_device_interface().get_device_name()
    except (AttributeError, ImportError, RuntimeError):
        return f"{target.backend}:{target.arch}"
    return f"{target.backend}:{target.arch} {name}"


def device_name() -> str:
    """Returns `device` without the features of a CPU, which fill lines."""
    return device().partition(";")[0]


def synchronize() -> None:
    """Waits until the device has finished, if it works asynchronously."""
    if knobs.runtime.interpret:
        return
    wait: Callable[[], None] | None = None
    with contextlib.suppress(AttributeError, ImportError):
        wait = driver.active.get_device_interface().synchronize
    if wait is not None:
        wait()


def state(pipeline: Pipeline) -> str:
    """Returns the current key of a pipeline, or the reason why it cannot be used; empty if it has no edits."""
    if not pipeline.edits:
        return ""
    try:
        return ready(pipeline).key
    except TritonExtError as error:
        return f"cannot be used: {error}"


def inner_pipelines(function: Any) -> list[Pipeline]:
    """Returns the pipelines that ``@tx.use`` put below the autotuner."""
    found: list[Pipeline] = []
    while function is not None:
        found += getattr(function, "triton_ext_pipelines", ())
        function = getattr(function, "fn", None)
    return found
