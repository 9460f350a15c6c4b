# SPDX-License-Identifier: Apache-2.0
"""Runs jobs in an executor whose workers may die, and makes a broken executor again."""

from __future__ import annotations

import os
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from typing import Any

from . import limits
from .options import check_executor
from .parallel import contained

#: How often Dask runs a job whose workers die: its ``allowed-failures``, plus one.
_ATTEMPTS = 4
#: How often Dask's client is asked whether it has a scheduler, and for how many seconds it may look for one.
_LOOK, _LOST = 1.0, 15.0

_here = uuid.uuid4().hex


def process() -> str:
    """Returns an id of this process; a forked process has another one."""
    return f"{_here}-{os.getpid()}"


class WorkerLostError(RuntimeError):
    """A worker has ended during a job; the executor has others, or starts one."""


class Workers:
    """An executor, and how to get another one when it is broken.

    Args:
        given: an executor, or a function that returns one.

    Attributes:
        executor: the executor that takes jobs now.

    Raises:
        TritonExtError: the function returned something other than an executor.
    """

    def __init__(self, given: Executor | Callable[[], Executor]) -> None:
        self._given = given
        self.executor = given if isinstance(given, Executor) else self._made(given)
        self._made_here: list[Executor] = []
        self._is_broken = False
        self._connected = time.monotonic()

    @staticmethod
    def _made(make: Callable[[], Executor]) -> Executor:
        executor = make()
        check_executor(executor, made=True)
        return executor

    def at_once(self) -> int:
        """Returns how many jobs the executor should have at a time.

        For a pool this is the number of its processes: when one of them dies, all jobs in the pool are lost, and each
        may be the cause.
        """
        if not isinstance(self.executor, ProcessPoolExecutor):
            return sys.maxsize
        pool: Any = self.executor  # the standard library has no public way to ask for the number
        return int(pool._max_workers)

    def attempts(self) -> int:
        """Returns how often the executor may run one job by itself."""
        return 1 if isinstance(self.executor, ProcessPoolExecutor) else _ATTEMPTS

    def give_up(self) -> bool:
        """Kills the processes of a pool that does not answer; returns False if the executor is not a pool."""
        if not isinstance(self.executor, ProcessPoolExecutor):
            return False
        self._is_broken = True
        for worker in list((self.executor._processes or {}).values()):
            worker.kill()
        return True

    def exit_codes(self) -> Callable[[], set[int]]:
        """Returns a function that returns the exit codes of the pool's processes, of those that exist now or later.

        The code of a process that a signal ended is minus the number of the signal. For other executors the set is
        empty.
        """
        # The executor's own dictionary, which may be empty now and is filled later.
        known = getattr(self.executor, "_processes", None)
        processes: dict[int, Any] = {} if known is None else known

        def codes() -> set[int]:
            # The executor's own thread may be reading the code at this moment; then it shows a little later.
            until = time.monotonic() + 1
            while True:
                found = {code for worker in list(processes.values()) if (code := worker.exitcode) is not None}
                if found or not processes or time.monotonic() > until:
                    return found
                time.sleep(0.01)

        return codes

    @property
    def is_dask(self) -> bool:
        """Whether the executor is Dask's."""
        return hasattr(getattr(self.executor, "_client", None), "scheduler_info")

    def check_connection(self) -> None:
        """Checks that Dask's client has a scheduler. Without one, a job may never end.

        Raises:
            ConnectionError: it has lost it, and has not found it again for some seconds.
        """
        status = self.executor._client.status if self.is_dask else "running"  # type: ignore[attr-defined]
        if status == "running":
            self._connected = time.monotonic()
        elif status == "closed" or time.monotonic() - self._connected > _LOST:
            raise ConnectionError("Dask's client has lost its scheduler")

    def found_broken(self) -> None:
        """Notes that the executor takes no more jobs."""
        self._is_broken = True

    def renew(self) -> bool:
        """Replaces a broken executor; returns False if that fails, or the new one takes no jobs, either."""
        if not self._is_broken:
            return True
        try:
            made = self._again()
            if made is None or made.submit(process).result(limits.STARTUP) == "":
                return False
        except Exception:  # the user's function and the pool may raise anything
            return False
        self.executor = made
        self._is_broken = False
        return True

    def _again(self) -> Executor | None:
        old = self.executor
        if not isinstance(self._given, Executor) and (made := self._made(self._given)) is not old:
            return made
        if type(old) is not ProcessPoolExecutor:
            return None
        pool: Any = old  # the standard library has no public way to ask how it was made
        made = ProcessPoolExecutor(
            pool._max_workers,
            pool._mp_context,
            pool._initializer,
            pool._initargs,
            max_tasks_per_child=pool._max_tasks_per_child,
        )
        self._made_here.append(made)
        return made

    def close(self) -> None:
        """Shuts down the pools that were made here, and not the executor that the user gave."""
        for executor in self._made_here:
            executor.shutdown(wait=False, cancel_futures=True)


def run_jobs(
    workers: Workers,
    function: Callable[[Any], Any],
    jobs: deque[tuple[int, Any]],
    ended: Callable[[int, Any, Exception | None], None],
    patience: float | None,
) -> dict[int, Exception]:
    """Has `workers` call `function` with each of `jobs`, until all have ended or the executor breaks.

    Args:
        workers: the executor.
        function: the function to call.
        jobs: number and argument of each job; jobs that have begun are removed.
        ended: is called with number, result and exception of each job that has ended.
        patience: seconds without a result after which `workers` are killed; None for never.

    Returns:
        By number, the exception of each job whose worker has died or did not answer. One of them is the cause.

    Raises:
        ConnectionError: the executor is Dask's, and its scheduler is lost.
    """
    lost: dict[int, Exception] = {}
    under_way: dict[Future[Any], int] = {}
    takes_more = True
    try:
        while True:
            workers.check_connection()
            while takes_more and jobs and len(under_way) < workers.at_once():
                number, job = jobs[0]
                try:
                    future = workers.executor.submit(function, job)
                except BrokenExecutor:
                    takes_more = False
                    workers.found_broken()
                    break
                except Exception as error:
                    future = Future()
                    future.set_exception(error)
                jobs.popleft()
                under_way[future] = number
            if not under_way:
                return lost
            done = _wait(workers, under_way, patience)
            if not done:
                late = TimeoutError(f"no worker has answered for {patience:g} s")
                is_known = workers.give_up()
                for future, number in under_way.items():
                    future.cancel()
                    if is_known:
                        lost[number] = late
                    else:
                        ended(number, None, late)
                if not is_known:  # the executor cannot be replaced
                    while jobs:
                        ended(jobs.popleft()[0], None, late)
                return lost
            for future in done:
                number = under_way.pop(future)
                # Not result(), which would raise e.g. a SystemExit of the worker here and end the program.
                if (raised := future.exception()) is None:
                    ended(number, future.result(), None)
                else:
                    failed = contained(raised)
                    if isinstance(failed, BrokenExecutor):
                        takes_more = False
                        workers.found_broken()
                    elif not isinstance(failed, WorkerLostError) and type(failed).__name__ != "KilledWorker":  # Dask's
                        ended(number, None, failed)
                        continue
                    lost[number] = failed
    except BaseException:
        for future in under_way:
            future.cancel()
        raise


def _wait(workers: Workers, futures: Iterable[Future[Any]], patience: float | None) -> set[Future[Any]]:
    """Waits until one of `futures` has ended, and returns those that have; none after `patience` seconds.

    Raises:
        ConnectionError: the executor cannot answer any more.
    """
    if not workers.is_dask:
        return wait(futures, patience, FIRST_COMPLETED).done
    until = time.monotonic() + (sys.maxsize if patience is None else patience)
    while True:
        done = wait(futures, max(0, min(_LOOK, until - time.monotonic())), FIRST_COMPLETED).done
        if done or time.monotonic() >= until:
            return done
        workers.check_connection()
