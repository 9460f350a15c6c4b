# SPDX-License-Identifier: Apache-2.0
"""Compiles many kernels at once.

Triton's own asynchronous mode does it. A launch with ``warmup=True`` runs in the calling thread up to the compilation,
so hooks may change arguments there; the compilation goes to another thread. Passes, LLVM and ptxas run without the
interpreter's lock.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from typing import Any

from triton.runtime._async_compile import AsyncCompileMode, FutureKernel, active_mode

from ..errors import TritonExtError
from ..patches.kernel_parsing import parse_one_at_a_time


@dataclass(frozen=True)
class Compiled:
    """How a compilation ended.

    Attributes:
        kernel: the kernel; None if the compilation failed or did not happen here.
        seconds: how long it took; None if the kernel was in the cache.
        error: why it failed; None if it did not.
    """

    kernel: Any = None
    seconds: float | None = None
    error: Exception | None = None


def cores() -> int:
    """Returns the number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0))


class CompileTimeoutError(TritonExtError):
    """A compilation took too long; its thread goes on, and its result is not used."""


class _Threads(Executor):
    """An executor with a new thread for each job and a limit on how many run at once.

    The threads are daemons, so one that never ends, because a pass hangs, does not keep the process from ending.

    Attributes:
        started: the time, of `time.monotonic`, at which each job began.
    """

    def __init__(self, at_once: int) -> None:
        self._free = list(range(at_once))[::-1]
        self._waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._places: dict[Future[Any], int] = {}
        self._lock = threading.Lock()
        self.started: dict[Future[Any], float] = {}

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        with self._lock:
            self._waiting.append((future, lambda: fn(*args, **kwargs)))
        self._begin()
        return future

    def abandon(self, future: Future[Any]) -> None:
        """Gives the place of a job to another one, and does not wait for it any more."""
        self._leave(future)
        self._begin()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002 - as in the base
        """Cancels the jobs that have not begun."""
        with self._lock:
            for future, _ in self._waiting:
                future.cancel()
            self._waiting.clear()

    def _leave(self, future: Future[Any]) -> None:
        with self._lock:
            place = self._places.pop(future, None)
            if place is not None:  # otherwise it was abandoned
                self._free.append(place)

    def _begin(self) -> None:
        while True:
            with self._lock:
                if not self._free or not self._waiting:
                    return
                future, call = self._waiting.popleft()
                if not future.set_running_or_notify_cancel():
                    continue
                place = self._places[future] = self._free.pop()
                self.started[future] = time.monotonic()
            name = f"triton-ext-tuning_{place}"
            try:
                threading.Thread(target=self._run, args=(future, call), name=name, daemon=True).start()
            except RuntimeError:  # the process may have no more threads
                self._do(future, call)

    def _run(self, future: Future[Any], call: Callable[[], Any]) -> None:
        self._do(future, call)
        self._begin()

    def _do(self, future: Future[Any], call: Callable[[], Any]) -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)
        self._leave(future)


class _Mode(AsyncCompileMode):  # type: ignore[misc]
    """Triton's asynchronous mode, which also measures compilations and can be left without waiting for them.

    Attributes:
        seconds: how long each compilation took, by the `id` of its ``FutureKernel``, because reading an
            attribute of that would wait for the kernel.
    """

    def __init__(self, executor: Executor) -> None:
        super().__init__(executor)
        self.seconds: dict[int, list[float]] = {}

    def submit(self, key: str, compile_fn: Callable[[], Any], finalize_fn: Any, cleanup_fn: Any) -> Any:
        took: list[float] = []

        def timed() -> Any:
            started = time.perf_counter()
            try:
                return compile_fn()
            finally:
                took.append(time.perf_counter() - started)

        kernel = super().submit(key, timed, finalize_fn, cleanup_fn)
        self.seconds.setdefault(id(kernel), took)
        return kernel

    def __enter__(self) -> _Mode:
        self._token = active_mode.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        active_mode.reset(self._token)

    def give_up(self) -> None:
        """Drops the kernels that are not compiled yet, so that a later launch compiles them."""
        for kernel in self.future_kernels.values():
            if kernel.kernel is None and kernel.future is not None:
                kernel.future.cancel()
                kernel.cleanup_compile(kernel)


def compile_all(
    jobs: Sequence[Callable[[], Any]],
    workers: int,
    done: Callable[[], None] = lambda: None,
    timeout: float | None = None,
) -> list[Compiled] | None:
    """Runs `jobs`, each a launch with ``warmup=True``, and waits for the kernels.

    Args:
        jobs: functions that are called one after the other in this thread.
        workers: how many threads compile.
        done: is called whenever a job has ended.
        timeout: seconds that each compilation may take, from the start of its thread; None for no limit.

    Returns:
        How each job ended; None if the caller is already in Triton's asynchronous mode.
    """
    if active_mode.get() is not None:
        return None
    parse_one_at_a_time()
    ended: list[Compiled | None] = [None] * len(jobs)
    under_way: dict[Future[Any], tuple[Any, list[int]]] = {}
    executor = _Threads(workers)
    mode = _Mode(executor)
    try:
        with mode:
            for i, job in enumerate(jobs):
                try:
                    kernel = job()
                except (Exception, SystemExit) as error:
                    ended[i] = Compiled(error=contained(error))
                    done()
                    continue
                if isinstance(kernel, FutureKernel) and id(kernel) in mode.seconds:
                    under_way.setdefault(kernel.future, (kernel, []))[1].append(i)
                else:  # it is there, or another thread is compiling it
                    ended[i] = Compiled(None if isinstance(kernel, FutureKernel) else kernel)
                    done()
        waiting = set(under_way)
        while waiting:
            ended_now, waiting = wait(waiting, _until_late(executor, waiting, timeout), FIRST_COMPLETED)
            late = {future for future in waiting if _until_late(executor, {future}, timeout) == 0}
            for future in late:
                executor.abandon(future)
            waiting -= late
            for future in ended_now | late:
                pending, indices = under_way[future]
                if future in late:
                    pending.cleanup_compile(pending)  # a later launch compiles it again
                    assert timeout is not None
                    result = Compiled(seconds=timeout, error=_too_late(timeout))
                else:
                    result = _finish(pending, sum(mode.seconds[id(pending)]))
                for i in indices:
                    ended[i] = result
                    done()
    except BaseException:
        mode.give_up()
        executor.shutdown(wait=False, cancel_futures=True)
        raise
    executor.shutdown()
    return [one or Compiled() for one in ended]


def compile_here(job: Callable[[], Any], timeout: float | None) -> Compiled | None:
    """Does what `compile_all` does for one job, in this thread. A job that ends too late has failed.

    Returns:
        How it ended; None if the caller is already in Triton's asynchronous mode.
    """
    if active_mode.get() is not None:
        return None
    started = time.perf_counter()
    kernel, error = None, None
    try:
        kernel = job()
    except (Exception, SystemExit) as raised:
        error = contained(raised)
    seconds = time.perf_counter() - started
    if timeout is not None and seconds > timeout:
        return Compiled(seconds=seconds, error=_too_late(timeout))
    return Compiled(kernel, seconds, error)


def _too_late(timeout: float) -> CompileTimeoutError:
    return CompileTimeoutError(f"compiling took longer than {timeout:g} s", fix="compile_timeout=seconds")


def _until_late(executor: _Threads, futures: set[Future[Any]], timeout: float | None) -> float | None:
    """Returns the seconds until the first of `futures` is late; None if there is no limit or none has begun."""
    begun = [executor.started[future] for future in futures if future in executor.started]
    if timeout is None or not begun:
        return None
    return max(0.0, min(begun) + timeout - time.monotonic())


def _finish(pending: Any, seconds: float) -> Compiled:
    try:
        return Compiled(pending.result(), seconds)
    except (Exception, SystemExit) as error:
        return Compiled(seconds=seconds, error=contained(error))


def contained(error: BaseException) -> Exception:
    """Returns `error` as an Exception, so that e.g. ``sys.exit`` in a pass fails one candidate and not the program."""
    if isinstance(error, SystemExit):
        return RuntimeError(f"it called sys.exit({error.code!r})")
    return error if isinstance(error, Exception) else RuntimeError(f"it raised {type(error).__name__}: {error}")
