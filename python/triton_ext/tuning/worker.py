# SPDX-License-Identifier: Apache-2.0
"""The work of a worker: imports the kernel of a `Job`, makes its own arguments and measures the candidate.

With the kernel come its hooks, the reference and the benchmarker. The result is an `Outcome`, which pickles.
"""

from __future__ import annotations

import contextlib
import functools
from dataclasses import replace
from typing import Any

from ..errors import TritonExtError
from ..pipeline.pipeline import Pipeline
from . import limits
from .candidates import Candidate
from .check import Arguments, Checker
from .job import Job, TensorSpec, import_named, kernel_and_inner
from .limits import ends_process_after
from .measuring import Measurer
from .outcome import Launch, Outcome, device, state
from .workers import process


def evaluate(job: Job) -> Outcome:
    """Measures one candidate. It runs in a worker; every problem is part of the outcome."""
    tuner = _import(job.module, job.file, job.name)
    here = device()
    if here != job.device:
        return Outcome("worker error", reason=f"the worker has {here}, this is tuned for {job.device}")
    config = next((config for config in tuner.configs if config.all_kwargs() == job.config), None)
    try:
        if config is None:
            raise TritonExtError("the worker's version of the kernel has no such configuration")
        edits = Pipeline.parse(job.edits)
        if state(edits) != job.key:
            raise TritonExtError("the worker has other versions of the pipeline's libraries or functions")
        outer = [Pipeline.parse(text) for text in job.outer]
    except TritonExtError as error:
        return Outcome("worker error", reason=str(error))
    candidate = Candidate(config, job.pipeline, edits)
    with contextlib.ExitStack() as scopes:
        for pipeline in outer:
            scopes.enter_context(pipeline)
        try:
            launch, checker = _prepared(tuner, job)
        except TritonExtError as error:
            return Outcome("worker error", reason=str(error))
        except Exception as error:
            return Outcome("worker error", reason=f"arguments: {type(error).__name__}: {error}")
        # In a pool of threads, this process is the tuner itself and must not be ended.
        seconds = (None, None) if job.sender == process() else (tuner.compile_timeout, tuner.run_timeout)
        with ends_process_after(seconds[0] and seconds[0] + limits.GRACE):
            (compiled,) = tuner.compile_all([candidate], launch)
        with ends_process_after(seconds[1] and seconds[1] + limits.GRACE):
            outcome = tuner.measure(candidate, compiled, launch, checker)
    return replace(outcome, error=None) if outcome.error is not None else outcome  # exceptions may not pickle


_last: tuple[str, Launch, Checker | None] | None = None


def _prepared(tuner: Measurer, job: Job) -> tuple[Launch, Checker | None]:
    """Returns launch and checker for `job`; the arguments are made once for all candidates of a tuning."""
    global _last  # noqa: PLW0603
    if _last is None or _last[0] != job.group:
        _last = None  # frees the memory of the arguments before new ones are made
        make = tuner.arguments or random_arguments
        made = dict(make(dict(job.arguments)))
        missing = [name for name in job.arguments if name not in made]
        if missing:
            raise TritonExtError(f"the function given as arguments= made no '{missing[0]}'")
        positional = tuple(made[name] for name in tuner.arg_names[: job.positional])
        by_name = {name: made[name] for name in job.arguments if name not in tuner.arg_names[: job.positional]}
        launch = Launch(positional, by_name, dict(zip(tuner.arg_names, positional, strict=False)))
        # Lives as long as the worker and is never restored, because nothing else uses the arguments.
        checker = tuner.checker(launch)
        _last = job.group, launch, checker
    _, launch, checker = _last
    return replace(launch, kwargs={**launch.kwargs, "grid": job.grid, "warmup": False}), checker


def random_arguments(described: Arguments) -> Arguments:
    """Makes tensors like those that are described: standard normal values for floats, zeros for other types."""
    import torch

    def make(spec: TensorSpec) -> Any:
        dtype = getattr(torch, spec.dtype.removeprefix("torch."))
        tensor = torch.empty_strided(spec.shape, spec.stride, dtype=dtype, device=spec.device)
        if not dtype.is_floating_point:
            return tensor.zero_()
        return tensor.copy_(torch.randn(spec.shape, device=spec.device, generator=generator(spec.device)))

    @functools.cache
    def generator(device: str) -> Any:
        return torch.Generator(device).manual_seed(0)

    return {name: make(value) if isinstance(value, TensorSpec) else value for name, value in described.items()}


@functools.cache
def _import(module: str, file: str, name: str) -> Measurer:
    for inner in kernel_and_inner(import_named(module, file, name)):
        if isinstance(inner, Measurer):
            return inner
    raise TritonExtError(f"'{name}' of {file} is not made by tx.autotune")
