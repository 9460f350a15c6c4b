# SPDX-License-Identifier: Apache-2.0
"""Compiles many kernels at once.

Triton's own asynchronous mode does it: a launch works out here what there is to compile, which is when hooks may change
arguments, and the compilation itself goes to a thread. Passes, LLVM and ptxas run without the interpreter's lock.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

from triton.runtime._async_compile import AsyncCompileMode, FutureKernel, active_mode

from .._parsing import parse_one_at_a_time


@dataclass(frozen=True)
class Compiled:
    """How a compilation ended.

    Attributes:
        kernel: the kernel; None where it failed or there was nothing to do.
        seconds: how long it took; None if the kernel was there already.
        error: why it failed.
    """

    kernel: Any = None
    seconds: float | None = None
    error: Exception | None = None


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0))


class _Mode(AsyncCompileMode):  # type: ignore[misc]
    """Measures, and can be left without waiting.

    Attributes:
        seconds: how long each compilation took, by the `id` of the kernel to come, which would wait if it were asked.
    """

    def __init__(self, executor: ThreadPoolExecutor) -> None:
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
        """Forgets what has not been compiled, so that a later launch compiles it."""
        for kernel in self.future_kernels.values():
            if kernel.kernel is None and kernel.future is not None:
                kernel.future.cancel()
                kernel.cleanup_compile(kernel)


def compile_all(
    jobs: Sequence[Callable[[], Any]], workers: int, done: Callable[[], None] = lambda: None
) -> list[Compiled] | None:
    """Runs `jobs`, each a launch with ``warmup=True``, and waits for the kernels.

    Args:
        jobs: are called one after the other in this thread.
        workers: how many threads compile.
        done: is called whenever one has ended.

    Returns:
        How each of them ended; None if the caller is compiling asynchronously already.
    """
    if active_mode.get() is not None:
        return None
    parse_one_at_a_time()
    ended: list[Compiled | None] = [None] * len(jobs)
    under_way: dict[Future[Any], tuple[Any, list[int]]] = {}
    executor = ThreadPoolExecutor(workers, thread_name_prefix="triton-ext-tuning")
    mode = _Mode(executor)
    try:
        with mode:
            for i, job in enumerate(jobs):
                try:
                    kernel = job()
                except Exception as error:
                    ended[i] = Compiled(error=error)
                    done()
                    continue
                if isinstance(kernel, FutureKernel) and id(kernel) in mode.seconds:
                    under_way.setdefault(kernel.future, (kernel, []))[1].append(i)
                else:  # it is there, or another thread is compiling it
                    ended[i] = Compiled(None if isinstance(kernel, FutureKernel) else kernel)
                    done()
        for future in as_completed(list(under_way)):
            pending, indices = under_way[future]
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


def _finish(pending: Any, seconds: float) -> Compiled:
    try:
        return Compiled(pending.result(), seconds)
    except Exception as error:
        return Compiled(seconds=seconds, error=error)
