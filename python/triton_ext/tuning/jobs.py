# SPDX-License-Identifier: Apache-2.0
"""Measures candidates in other processes, on this machine or on others.

A `Job` says which kernel, candidate and arguments in texts and numbers. A worker imports the kernel, with which come
the hooks, the reference and the benchmarker, makes arguments of its own, and answers with times.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import pickle
import sys
import time
import uuid
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from triton.runtime.autotuner import Heuristics

from ..compilation.requests import load_kernel
from ..errors import TritonExtError
from ..pipeline import scope
from ..pipeline.edits import text_of_edits
from ..pipeline.pipeline import Pipeline
from .candidates import Candidate
from .check import Arguments, Checker
from .measuring import Measurer
from .outcome import Launch, Outcome, device, state, text_of_error
from .progress import Bar
from .workers import GRACE, STARTUP, Workers, ends_process_after, process, run_jobs


@dataclass(frozen=True)
class TensorSpec:
    """What a tensor is like, without what is in it.

    Attributes:
        shape: its size in each dimension.
        stride: in elements.
        dtype: as ``str(tensor.dtype)`` has it, e.g. ``torch.float16``.
        device: e.g. ``cuda:0``.
    """

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: str
    device: str


@dataclass(frozen=True)
class Job:
    """One candidate to measure.

    Attributes:
        group: the same for all candidates of one tuning, which share the arguments.
        module: where the kernel is imported from.
        file: the same as a file.
        name: of the kernel in there.
        config: of the candidate, by which it is found among those of the kernel.
        pipeline: name of its pipeline.
        edits: its pipeline, as text.
        key: what the pipeline is known by here, with the libraries of here.
        outer: the pipelines that are active around it, outermost first, as text.
        device: what is tuned for.
        arguments: of the launch by name, tensors as `TensorSpec`.
        positional: how many of them come by position.
        grid: of the launch.
        sender: the process that has made it, as `process` calls it.
        attempt: how often it was sent before; Dask would answer the same job with the same failure.
    """

    group: str
    module: str
    file: str
    name: str
    config: dict[str, Any]
    pipeline: str
    edits: str
    key: str
    outer: tuple[str, ...]
    device: str
    arguments: dict[str, Any]
    positional: int
    grid: tuple[int, ...]
    sender: str = ""
    attempt: int = 0


def evaluate_on(
    workers: Workers, tuner: Measurer, candidates: list[Candidate], launch: Launch, bar: Bar
) -> list[Outcome]:
    """Measures `candidates` in `workers`.

    A candidate that ends its worker fails alone. All that were under way then are suspects; each is measured again with
    nothing beside it, in workers made anew, and what ends those, too, has failed.

    Raises:
        TritonExtError: the kernel or an argument cannot be described to another process.
    """
    module, file, name = _find_name(tuner)
    layers = scope.layers_of_thread()
    common = Job(
        uuid.uuid4().hex,
        module,
        file,
        name,
        config={},
        pipeline="",
        edits="",
        key="",
        outer=tuple(text_of_edits(layer.edits) for layer in layers),
        device=device(),
        arguments=_described(tuner, launch),
        positional=len(launch.args),
        grid=(),
        sender=process(),
    )
    outcomes: list[Outcome] = [Outcome("worker error")] * len(candidates)
    jobs: dict[int, Job] = {}

    def ended(number: int, outcome: Outcome | None, error: Exception | None) -> None:
        outcomes[number] = outcome if outcome is not None else _worker_error(error)
        bar.step("measuring")

    for i, candidate in enumerate(candidates):
        try:
            jobs[i] = replace(
                common,
                config=candidate.all_kwargs(),
                pipeline=candidate.pipeline,
                edits=str(candidate.edits),
                key=state(candidate.edits),
                grid=_grid(tuner, candidate, launch),
            )
        except Exception as error:  # of the grid's function
            ended(i, None, error)
    limits = [limit for limit in (tuner.compile_timeout, tuner.run_timeout) if limit is not None]
    patience = workers.attempts() * (sum(limits) + 2 * GRACE) + STARTUP if len(limits) == 2 else None
    rest = deque(jobs.items())
    last: Exception | None = None
    while rest:
        for i, death in run_jobs(workers, evaluate, rest, ended, patience).items():
            last = death
            if not workers.renew():
                ended(i, None, death)
                continue
            started, exit_codes = time.monotonic(), workers.exit_codes()
            alone = deque([(i, replace(jobs[i], attempt=1))])
            for again in run_jobs(workers, evaluate, alone, ended, patience).values():
                ended(i, _death(again, time.monotonic() - started, limits, patience, exit_codes()), None)
        if rest and not workers.renew():
            for i, _ in rest:
                ended(i, None, last or TritonExtError("the executor is broken, and cannot be made again"))
            break
    return outcomes


def _death(
    error: Exception, seconds: float, limits: list[float], patience: float | None, exit_codes: set[int]
) -> Outcome:
    """The outcome of a candidate whose worker has ended, with nothing beside it, after so many seconds.

    These hold the worker's start, too, which may take longer than a limit. A worker that has had its time exits with 1;
    one that does not answer any more is killed after `patience` seconds.
    """
    was_killed = patience is not None and seconds >= patience
    has_had_its_time = 1 in exit_codes or not exit_codes
    is_late = was_killed or (bool(limits) and seconds > min(limits) + GRACE and has_had_its_time)
    reason = f"it ended its worker twice, the second time alone and after {seconds:.1f} s"
    if is_late:
        reason += f", where a candidate may take {' + '.join(f'{limit:g} s' for limit in limits)} to compile and to run"
    return Outcome("time limit" if is_late else "worker error", error=error, reason=f"{reason}: {text_of_error(error)}")


def evaluate(job: Job) -> Outcome:
    """Measures one candidate; runs in a worker."""
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
        # In a pool of threads, the process is the tuner's own.
        limits = (None, None) if job.sender == process() else (tuner.compile_timeout, tuner.run_timeout)
        with ends_process_after(limits[0] and limits[0] + GRACE):
            (compiled,) = tuner.compile_all([candidate], launch)
        with ends_process_after(limits[1] and limits[1] + GRACE):
            outcome = tuner.measure(candidate, compiled, launch, checker)
    return replace(outcome, error=None) if outcome.error is not None else outcome  # exceptions may not pickle


_last: tuple[str, Launch, Checker | None] | None = None


def _prepared(tuner: Measurer, job: Job) -> tuple[Launch, Checker | None]:
    """The arguments, made once for all candidates of one tuning that a worker gets."""
    global _last  # noqa: PLW0603
    if _last is None or _last[0] != job.group:
        _last = None  # gives its memory back first
        make = tuner.arguments or random_arguments
        made = dict(make(dict(job.arguments)))
        missing = [name for name in job.arguments if name not in made]
        if missing:
            raise TritonExtError(f"the function given as arguments= made no '{missing[0]}'")
        positional = tuple(made[name] for name in tuner.arg_names[: job.positional])
        by_name = {name: made[name] for name in job.arguments if name not in tuner.arg_names[: job.positional]}
        launch = Launch(positional, by_name, dict(zip(tuner.arg_names, positional, strict=False)))
        # Lives as long as the worker: nobody needs the arguments as they were.
        checker = tuner.checker(launch)
        _last = job.group, launch, checker
    _, launch, checker = _last
    return replace(launch, kwargs={**launch.kwargs, "grid": job.grid, "warmup": False}), checker


def random_arguments(described: Arguments) -> Arguments:
    """Tensors like those that are described: standard normal where they have floats, zeros otherwise."""
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


def _described(tuner: Measurer, launch: Launch) -> Arguments:
    described: Arguments = {}
    for name, value in {**launch.named, **launch.kwargs}.items():
        if name in ("grid", "warmup"):
            continue
        if hasattr(value, "data_ptr") and hasattr(value, "stride"):
            described[name] = TensorSpec(
                tuple(value.shape), tuple(value.stride()), str(value.dtype), str(getattr(value, "device", "cpu"))
            )
            continue
        try:
            pickle.dumps(value)
        except Exception as error:
            raise TritonExtError(
                f"{tuner.base_fn.__name__}: argument '{name}' cannot be sent to a worker: {error}",
                fix="arguments=function, which makes it there",
            ) from None
        described[name] = value
    return described


def _grid(tuner: Measurer, candidate: Candidate, launch: Launch) -> tuple[int, ...]:
    grid = launch.kwargs["grid"]
    if not callable(grid):
        return tuple(grid)
    parameters = tuner.jit.signature.parameters.items() if tuner.jit is not None else ()
    known = {name: p.default for name, p in parameters if p.default is not p.empty}
    known |= launch.with_config(candidate)
    function = tuner.fn
    while function is not None:
        if isinstance(function, Heuristics):
            for name, heuristic in function.values.items():
                known[name] = heuristic(known)
        function = getattr(function, "fn", None)
    return tuple(int(size) for size in grid(known))


def _worker_error(error: Exception | None) -> Outcome:
    return Outcome("worker error", error=error, reason=text_of_error(error))


def _chain(kernel: Any) -> Iterator[Any]:
    while kernel is not None:
        yield kernel
        kernel = getattr(kernel, "fn", None)


def _find_name(tuner: Measurer) -> tuple[str, str, str]:
    """Module, file and name under which another process finds `tuner`.

    Raises:
        TritonExtError: it is no global of a module.
    """
    module = sys.modules.get(tuner.base_fn.__module__)
    file = getattr(module, "__file__", None) or ""
    for name, value in list(vars(module).items()) if module is not None and file else []:
        if any(kernel is tuner for kernel in _chain(value)):
            return tuner.base_fn.__module__, file, name
    raise TritonExtError(
        f"{tuner.base_fn.__name__}: a worker cannot import this kernel", fix="make it a global of a module in a file"
    )


@functools.cache
def _import(module: str, file: str, name: str) -> Measurer:
    try:
        if module in ("__main__", "__mp_main__"):
            raise ImportError
        kernel = getattr(importlib.import_module(module), name)
    except ImportError:
        kernel = load_kernel(file, name)
    for inner in _chain(kernel):
        if isinstance(inner, Measurer):
            return inner
    raise TritonExtError(f"'{name}' of {file} is not made by tx.autotune")
