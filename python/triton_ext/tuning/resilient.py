# SPDX-License-Identifier: Apache-2.0
"""Has jobs done by workers that they may end: each job gets an outcome, whatever happens to the worker."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import TritonExtError
from . import limits
from .outcome import Outcome, text_of_error
from .workers import Workers, run_jobs


def end_all(
    workers: Workers,
    function: Callable[[Any], Any],
    jobs: Mapping[int, Any],
    ended: Callable[[int, Any, Exception | None], None],
    limited_to: Sequence[float | None],
    *,
    waits: float = 0.0,
) -> None:
    """Has `workers` call `function` with each of `jobs`, until each has ended.

    A job may end its worker, e.g. by a crash. Then every job that was under way may be the cause. Each is done again,
    alone, in a new worker; one that ends this worker, too, has failed.

    Args:
        workers: the processes.
        function: the function to call.
        jobs: the jobs by number; each is a dataclass with a field ``attempt``, which is 1 in the second attempt.
        ended: is called with number, result (an `Outcome` if the job has ended its worker) and exception of each job.
        limited_to: the seconds that the parts of a job may take; None for no limit.
        waits: the seconds that a job may wait before its parts begin, for a device for example.
    """
    seconds = [limit for limit in limited_to if limit is not None]
    is_limited = len(seconds) == len(limited_to)
    patience = workers.attempts() * (waits + sum(seconds) + 2 * limits.GRACE) + limits.STARTUP if is_limited else None
    rest = deque(jobs.items())
    last: Exception | None = None
    while rest:
        for i, death in run_jobs(workers, function, rest, ended, patience).items():
            last = death
            if not workers.renew():
                ended(i, None, death)
                continue
            started, exit_codes = time.monotonic(), workers.exit_codes()
            alone = deque([(i, replace(jobs[i], attempt=1))])
            for again in run_jobs(workers, function, alone, ended, patience).values():
                ended(i, _death(again, time.monotonic() - started, seconds, patience, exit_codes()), None)
        if rest and not workers.renew():
            for i, _ in rest:
                ended(i, None, last or TritonExtError("the executor is broken, and cannot be made again"))
            break


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


def worker_error(error: Exception | None) -> Outcome:
    """Returns the outcome of a job whose worker raised `error`."""
    return Outcome("worker error", error=error, reason=text_of_error(error))
