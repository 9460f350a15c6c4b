# SPDX-License-Identifier: Apache-2.0
"""Describes candidates as jobs, and has workers measure them, on this machine or on others."""

from __future__ import annotations

import pickle
import sys
import time
import uuid
from collections import deque
from dataclasses import replace

from triton.runtime.autotuner import Heuristics

from ..errors import TritonExtError
from ..pipeline import scope
from ..pipeline.edits import text_of_edits
from . import limits
from .candidates import Candidate
from .check import Arguments
from .job import Job, TensorSpec, kernel_and_inner
from .measuring import Measurer
from .outcome import Launch, Outcome, device, state, text_of_error
from .progress import Bar
from .worker import evaluate
from .workers import Workers, process, run_jobs


def evaluate_on(
    workers: Workers, tuner: Measurer, candidates: list[Candidate], launch: Launch, bar: Bar
) -> list[Outcome]:
    """Measures `candidates` in `workers`, and returns their outcomes.

    A candidate may end its worker, e.g. by a crash. Then every candidate that was being measured may be the cause. Each
    is measured again, alone, in a new worker; one that ends this worker, too, has failed.

    Args:
        workers: the processes.
        tuner: the kernel.
        candidates: the candidates.
        launch: the launch that needs a choice.
        bar: gets a step for each candidate that has ended.

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
    seconds = [limit for limit in (tuner.compile_timeout, tuner.run_timeout) if limit is not None]
    patience = workers.attempts() * (sum(seconds) + 2 * limits.GRACE) + limits.STARTUP if len(seconds) == 2 else None
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
                ended(i, _death(again, time.monotonic() - started, seconds, patience, exit_codes()), None)
        if rest and not workers.renew():
            for i, _ in rest:
                ended(i, None, last or TritonExtError("the executor is broken, and cannot be made again"))
            break
    return outcomes


def _death(
    error: Exception, seconds: float, limited_to: list[float], patience: float | None, exit_codes: set[int]
) -> Outcome:
    """Returns the outcome of a candidate that has ended its worker while it was measured alone.

    A worker that exceeds its time exits with 1; one that does not answer is killed after `patience` seconds. The time
    alone does not tell, because it includes the start of the worker, which may take longer than a limit.

    Args:
        error: the exception of the executor.
        seconds: how long the worker lived.
        limited_to: the limits for compiling and running, in seconds, as far as there are any.
        patience: seconds after which a worker is killed; None for never.
        exit_codes: the exit codes of the workers, as far as they are known.
    """
    was_killed = patience is not None and seconds >= patience
    has_had_its_time = 1 in exit_codes or not exit_codes
    is_late = was_killed or (bool(limited_to) and seconds > min(limited_to) + limits.GRACE and has_had_its_time)
    reason = f"it ended its worker twice, the second time alone and after {seconds:.1f} s"
    if is_late:
        reason += (
            f", where a candidate may take {' + '.join(f'{limit:g} s' for limit in limited_to)} to compile and to run"
        )
    return Outcome("time limit" if is_late else "worker error", error=error, reason=f"{reason}: {text_of_error(error)}")


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


def _find_name(tuner: Measurer) -> tuple[str, str, str]:
    """Returns module, file and name by which another process imports `tuner`.

    Raises:
        TritonExtError: it is not a global variable of a module.
    """
    module = sys.modules.get(tuner.base_fn.__module__)
    file = getattr(module, "__file__", None) or ""
    for name, value in list(vars(module).items()) if module is not None and file else []:
        if any(kernel is tuner for kernel in kernel_and_inner(value)):
            return tuner.base_fn.__module__, file, name
    raise TritonExtError(
        f"{tuner.base_fn.__name__}: a worker cannot import this kernel", fix="make it a global of a module in a file"
    )
