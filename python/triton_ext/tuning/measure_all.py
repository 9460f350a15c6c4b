# SPDX-License-Identifier: Apache-2.0
"""Measures all candidates of one tuning, in this process or in an executor."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace

from . import store
from .candidates import Candidate
from .finals import settle
from .measuring import Measurer
from .outcome import Launch, Outcome
from .parallel import Compiled
from .progress import Bar


def measure_all(
    tuner: Measurer,
    candidates: list[Candidate],
    launch: Launch,
    *,
    executor: Executor | Callable[[], Executor] | None,
    rounds: int,
    progress: bool | None,
) -> list[Outcome]:
    """Compiles and measures `candidates`; those that come close to the fastest several times.

    Args:
        tuner: the kernel.
        candidates: what is tried.
        launch: the launch that needs a choice.
        executor: where to measure; None for this process.
        rounds: how often the closest are measured.
        progress: whether to draw a bar; None for where standard error is a terminal.

    Returns:
        How each candidate did.

    Raises:
        ValueError: a candidate sets an argument that the launch gives, too; the message is Triton's.
        TritonExtError: the reference cannot be computed, or the kernel cannot be sent to `executor`.
    """
    for candidate in candidates:
        conflicts = launch.kwargs.keys() & candidate.kwargs.keys()
        if conflicts:
            raise ValueError(
                f"Conflicting meta-parameters: {', '.join(conflicts)}."
                " Make sure that you don't re-define auto-tuned symbols."
            )
    if executor is not None:
        from .jobs import evaluate_on
        from .workers import Workers

        with (
            contextlib.closing(Workers(executor)) as workers,
            Bar(tuner.base_fn.__name__, len(candidates), progress) as bar,
        ):
            outcomes = evaluate_on(workers, tuner, candidates, launch, bar)

            def elsewhere(indices: list[int]) -> list[Outcome]:
                bar.more(len(indices))
                return evaluate_on(workers, tuner, [candidates[i] for i in indices], launch, bar)

            return settle(outcomes, elsewhere, rounds)
    # The reference is computed first, so that a mistake in it shows before anything is compiled.
    with Bar(tuner.base_fn.__name__, 2 * len(candidates), progress) as bar, tuner.checking(launch) as checker:
        compiled = tuner.compile_all(candidates, launch, lambda: bar.step("compiling"))
        outcomes = []
        seen: dict[tuple[object, ...], int] = {}
        first: list[int] = []
        for number, (candidate, result) in enumerate(zip(candidates, compiled, strict=True)):
            bar.step("measuring", len(candidates) + number)
            first.append(seen.setdefault(_identity(tuner, candidate, result) or (number,), number))
            if first[number] == number:
                outcomes.append(tuner.measure(candidate, result, launch, checker))
            else:
                pipeline = candidates[first[number]].pipeline
                outcomes.append(replace(outcomes[first[number]], compile_seconds=result.seconds, same_as=pipeline))

        def again(indices: list[int]) -> list[Outcome]:
            bar.more(len(indices))
            outcomes = []
            for i in indices:
                bar.step("measuring again")
                outcomes.append(tuner.measure(candidates[i], compiled[i], launch, None))
            return outcomes

        return settle(outcomes, again, rounds, first)


def _identity(tuner: Measurer, candidate: Candidate, compiled: Compiled) -> tuple[object, ...] | None:
    """Returns all that a launch of `candidate` depends on; if two candidates agree in it, only one is measured.

    Returns None if that is unknown, because the candidate is not compiled or a hook of the user may change arguments.
    """
    if compiled.kernel is None or tuner.user_defined_pre_hook:
        return None
    metadata = compiled.kernel.metadata._asdict()
    metadata.pop("hash", None)
    config, _ = store.describe(candidate)
    return config, candidate.pre_hook, compiled.kernel.kernel, repr(sorted(metadata.items()))
