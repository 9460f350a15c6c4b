# SPDX-License-Identifier: Apache-2.0
"""Where candidates are measured elsewhere, and what goes on when a candidate takes its worker with it."""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

from .options import check_executor
from .parallel import contained

#: Seconds that a worker has for what is around a compilation and a measurement.
GRACE = 10.0
#: Seconds that a process may take to start and to import a kernel.
STARTUP = 120.0
#: How often Dask gives a job to another worker after one has died of it: its ``allowed-failures``, and once more.
_ATTEMPTS = 4

_here = uuid.uuid4().hex


def process() -> str:
    """What this process is known by; a fork is another one."""
    return f"{_here}-{os.getpid()}"


class Workers:
    """An executor, and how to get another one when it is broken.

    Args:
        given: an executor, or a function that returns one.

    Attributes:
        executor: what takes jobs now.

    Raises:
        TritonExtError: the function returned something else.
    """

    def __init__(self, given: Executor | Callable[[], Executor]) -> None:
        self._given = given
        self.executor = given if isinstance(given, Executor) else self._made(given)
        self._made_here: list[Executor] = []
        self._is_broken = False

    @staticmethod
    def _made(make: Callable[[], Executor]) -> Executor:
        executor = make()
        check_executor(executor, made=True)
        return executor

    def at_once(self) -> int:
        """How many jobs to have under way.

        As many as a pool has processes: when one of them dies, all jobs that the pool has are lost, and each may be the
        cause.
        """
        if not isinstance(self.executor, ProcessPoolExecutor):
            return sys.maxsize
        pool: Any = self.executor  # the number is known to itself alone
        return int(pool._max_workers)

    def attempts(self) -> int:
        """How often the executor may try a job by itself."""
        return 1 if isinstance(self.executor, ProcessPoolExecutor) else _ATTEMPTS

    def give_up(self) -> bool:
        """Ends the processes of a pool, none of which has answered; False if these are not known."""
        if not isinstance(self.executor, ProcessPoolExecutor):
            return False
        self._is_broken = True
        for worker in list((self.executor._processes or {}).values()):
            worker.kill()
        return True

    def exit_codes(self) -> Callable[[], set[int]]:
        """A function that returns how those of the pool's processes that are there now, or come, have ended.

        Minus the number of the signal for one that a signal has ended. Of other executors nothing is known.
        """
        # The executor's own dictionary, which may be empty now.
        known = getattr(self.executor, "_processes", None)
        processes: dict[int, Any] = {} if known is None else known

        def codes() -> set[int]:
            # While the executor's own thread takes a code, nobody else gets it.
            until = time.monotonic() + 1
            while True:
                found = {code for worker in list(processes.values()) if (code := worker.exitcode) is not None}
                if found or not processes or time.monotonic() > until:
                    return found
                time.sleep(0.01)

        return codes

    def found_broken(self) -> None:
        """Says that the executor takes no more jobs."""
        self._is_broken = True

    def renew(self) -> bool:
        """Makes a broken executor again; False if it takes no jobs then, either."""
        if not self._is_broken:
            return True
        try:
            made = self._again()
            if made is None or made.submit(process).result(STARTUP) == "":
                return False
        except Exception:  # whatever it is, the pool cannot be had
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
        pool: Any = old  # how it was made is known to itself alone
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
        """Ends the pools that were made here; what was given is its owner's."""
        for executor in self._made_here:
            executor.shutdown(wait=False, cancel_futures=True)


def run_jobs(
    workers: Workers,
    function: Callable[[Any], Any],
    jobs: deque[tuple[int, Any]],
    ended: Callable[[int, Any, Exception | None], None],
    patience: float | None,
) -> dict[int, Exception]:
    """Has `workers` call `function` with each of `jobs`, until all have ended or no more are taken.

    Args:
        workers: who does it.
        function: what.
        jobs: numbers and arguments; those that have begun are taken out.
        ended: is called with the number, the result, and the exception of each that has ended.
        patience: seconds without a result after which `workers` are given up; None for never.

    Returns:
        By number, those whose worker has died or did not answer, with the exception that says so. The cause is among
        them.
    """
    lost: dict[int, Exception] = {}
    under_way: dict[Future[Any], int] = {}
    takes_more = True
    try:
        while True:
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
            done, _ = wait(under_way, patience, FIRST_COMPLETED)
            if not done:
                late = TimeoutError(f"no worker has answered for {patience:g} s")
                is_known = workers.give_up()
                for future, number in under_way.items():
                    future.cancel()
                    if is_known:
                        lost[number] = late
                    else:
                        ended(number, None, late)
                if not is_known:  # there is nothing to make again
                    while jobs:
                        ended(jobs.popleft()[0], None, late)
                return lost
            for future in done:
                number = under_way.pop(future)
                # The worker's exception is not raised here: what ends a program ends one candidate.
                if (raised := future.exception()) is None:
                    ended(number, future.result(), None)
                else:
                    failed = contained(raised)
                    if isinstance(failed, BrokenExecutor):
                        takes_more = False
                        workers.found_broken()
                    elif type(failed).__name__ != "KilledWorker":  # of Dask, which may not be there
                        ended(number, None, failed)
                        continue
                    lost[number] = failed
    except BaseException:
        for future in under_way:
            future.cancel()
        raise


_lock = threading.Lock()
_limits: dict[object, float] = {}


def _arm() -> None:
    if not _limits:
        faulthandler.cancel_dump_traceback_later()
        return
    left = max(0.001, min(_limits.values()) - time.monotonic())
    try:
        faulthandler.dump_traceback_later(left, exit=True)
    except (AttributeError, OSError, RuntimeError, ValueError):  # standard error is no file
        # As long as the process: its watchdog writes there at any time.
        global _nowhere  # noqa: PLW0603
        _nowhere = _nowhere or open(os.devnull, "w")  # noqa: SIM115
        faulthandler.dump_traceback_later(left, exit=True, file=_nowhere)


_nowhere: Any = None


@contextmanager
def ends_process_after(seconds: float | None) -> Iterator[None]:
    """Ends this process, which is a worker, if the block takes longer; None for never.

    A kernel on a GPU that never returns ends no other way; nor does a pass that never does, and holds the interpreter's
    lock.
    What watches is a thread of C, which needs no lock. Python's own keeps one time for a process, so the earliest of
    several jobs has it.
    """
    if seconds is None:
        yield
        return
    this = object()
    with _lock:
        _limits[this] = time.monotonic() + seconds
        _arm()
    try:
        yield
    finally:
        with _lock:
            del _limits[this]
            _arm()
