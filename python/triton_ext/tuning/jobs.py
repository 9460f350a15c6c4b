# SPDX-License-Identifier: Apache-2.0
"""Describes candidates as jobs, and has workers measure them, on this machine or on others."""

from __future__ import annotations

import pickle
import uuid
from dataclasses import replace

from triton.runtime.autotuner import Heuristics

from ..errors import TritonExtError
from ..pipeline import scope
from ..pipeline.edits import text_of_edits
from .candidates import Candidate
from .check import Arguments
from .job import Job, TensorSpec, find_name
from .measuring import Measurer
from .outcome import Launch, Outcome, device, state
from .progress import Bar
from .resilient import end_all, worker_error
from .worker import evaluate
from .workers import Workers, process


def evaluate_on(
    workers: Workers, tuner: Measurer, candidates: list[Candidate], launch: Launch, bar: Bar
) -> list[Outcome]:
    """Measures `candidates` in `workers`, and returns their outcomes.

    Args:
        workers: the processes.
        tuner: the kernel.
        candidates: the candidates.
        launch: the launch that needs a choice.
        bar: gets a step for each candidate that has ended.

    Raises:
        TritonExtError: the kernel or an argument cannot be described to another process.
    """
    module, file, name = find_name(tuner)
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
        outcomes[number] = outcome if outcome is not None else worker_error(error)
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
    end_all(workers, evaluate, jobs, ended, (tuner.compile_timeout, tuner.run_timeout))
    return outcomes


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
