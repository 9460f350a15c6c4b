# SPDX-License-Identifier: Apache-2.0
"""Where candidates are compiled and measured: processes of this machine, or an executor of the user."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Executor, ProcessPoolExecutor
from typing import Any

from ..errors import TritonExtError
from ..tuning.parallel import cores
from ..tuning.resilient import end_all
from ..tuning.workers import Workers
from .task import Assignment
from .turns import PATIENCE, runs_beside_the_compiler

#: Seconds for which a lost executor, such as a cluster without its scheduler, is asked for again.
_PATIENCE = 120.0


def start_worker(parent: int) -> None:
    """Leaves Ctrl-C to the searching process, drops what the compiler says about candidates, and ends with its parent.

    A pool's own processes wait forever if their parent is killed, because each holds both ends of the pool's pipes.

    Args:
        parent: the searching process, which may have ended while this one was starting.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):  # Triton prints the PTX that ptxas refuses
        os.dup2(nowhere, stream.fileno() if stream else number)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


class Pools:
    """The workers of a search.

    Args:
        executor: the user's executor, or a function that returns one; None for processes of this machine.
        compilers: how many processes compile without a device; 0: the one that measures compiles, too.

    Attributes:
        batch: how many candidates are asked for at a time.
        overlap: whether the next candidates compile while others are measured.
    """

    def __init__(self, executor: Executor | Callable[[], Executor] | None, compilers: int) -> None:
        self._given = executor
        self._own: list[ProcessPoolExecutor] = []
        self._compilers = compilers if executor is None else 0
        self._measuring = Workers(executor if executor is not None else self._processes(1))
        self._compiling = Workers(self._processes(self._compilers)) if self._compilers else self._measuring
        self.batch = 8 if executor is not None else max(1, self._compilers)
        self.overlap = self._compilers > 0

    @property
    def compiles_apart(self) -> bool:
        """Whether candidates are compiled by processes that do not touch the device."""
        return self._compilers > 0

    def _processes(self, count: int) -> ProcessPoolExecutor:
        spawn = multiprocessing.get_context("spawn")  # a GPU does not survive a fork
        pool = ProcessPoolExecutor(count, spawn, initializer=start_worker, initargs=(os.getpid(),))
        self._own.append(pool)
        return pool

    def compile(self, function: Callable[[Assignment], Any], jobs: Mapping[int, Assignment]) -> dict[int, Any]:
        """Has workers compile; returns the results by number, and an exception for a job that has none."""
        return self._all("_compiling", function, jobs, lambda task: (task.compile_timeout,))

    def measure(self, function: Callable[[Assignment], Any], jobs: Mapping[int, Assignment]) -> dict[int, Any]:
        """Has workers measure; returns the results by number, and an exception for a job that has none."""
        return self._all("_measuring", function, jobs, lambda task: (task.compile_timeout, task.run_timeout))

    def _all(
        self,
        which: str,
        function: Callable[[Assignment], Any],
        jobs: Mapping[int, Assignment],
        limits: Callable[[Any], Any],
    ) -> dict[int, Any]:
        results: dict[int, Any] = {}

        def ended(number: int, result: Any, error: Exception | None) -> None:
            results[number] = result if error is None else error

        until = time.monotonic() + _PATIENCE
        while jobs:
            rest = {number: job for number, job in jobs.items() if number not in results}
            try:
                if rest:
                    parts = limits(next(iter(rest.values())).task)
                    end_all(getattr(self, which), function, rest, ended, parts, waits=PATIENCE)
                break
            except (CancelledError, OSError, RuntimeError) as error:  # the cluster has lost its scheduler
                if not callable(self._given) or time.monotonic() > until:
                    raise TritonExtError(
                        f"the executor is lost: {type(error).__name__}: {error}",
                        fix="search again with the same storage; executor=function that makes another one",
                    ) from error
                self._renew(until)
        return results

    def _renew(self, until: float) -> None:
        assert callable(self._given)
        while True:
            try:
                self._measuring = self._compiling = Workers(self._given)
                return
            except TritonExtError:
                raise
            except Exception as error:
                if time.monotonic() > until:
                    raise TritonExtError(f"the executor cannot be made again: {error}") from error
                time.sleep(1)

    def close(self) -> None:
        """Ends the processes that were started here; the user's executor stays."""
        for workers in {id(w): w for w in (self._measuring, self._compiling)}.values():
            workers.close()
        for pool in self._own:
            for process in list((pool._processes or {}).values()):
                process.terminate()
            pool.shutdown(wait=False, cancel_futures=True)


def compilers_for(backend: str, *, runs: bool = True) -> int:
    """Returns how many processes compile beside the one that measures.

    On a GPU all cores but one do, and if nothing runs all; a CPU that compiles cannot be measured at the same time.
    """
    if not runs:
        return cores()
    return max(1, cores() - 1) if runs_beside_the_compiler(backend) else 0
