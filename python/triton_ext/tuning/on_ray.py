# SPDX-License-Identifier: Apache-2.0
"""`RayExecutor`: Ray's workers behind the interface of `concurrent.futures`, which Ray does not have itself."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from types import ModuleType
from typing import Any

from ..errors import TritonExtError
from ..support.shown import said
from .options import check_count
from .workers import WorkerLostError

_Item = tuple[Future[Any], Callable[..., Any], tuple[Any, ...], dict[str, Any]] | None


class _Actor:
    """The function that runs in a process of Ray."""

    def call(self, function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Returns ``function(*arguments, **named)``."""
        return function(*arguments, **named)


class RayExecutor(Executor):
    """Processes of a Ray cluster, each of which does one job at a time.

    A job that ends its process costs only itself. Its future gets a `WorkerLostError`, and Ray starts the process anew.
    For `autotune` and `search`, e.g. ``executor=RayExecutor(4, num_gpus=1)``.

    Args:
        workers: how many processes, from 1.
        options: options of Ray's actors, e.g. ``num_gpus=1`` for a GPU of its own for each process, or ``runtime_env``.

    Raises:
        TritonExtError: Ray is not installed, or no cluster is running and Ray cannot start one here.
    """

    def __init__(self, workers: int = 1, **options: Any) -> None:
        check_count("workers", workers, 1)
        self._ray = _ray()
        made = self._ray.remote(**{"max_restarts": -1, **options})(_Actor)
        self._actors = [made.remote() for _ in range(workers)]
        self._jobs: queue.SimpleQueue[_Item] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._is_shut = False
        self._threads = [threading.Thread(target=self._serve, args=(actor,), daemon=True) for actor in self._actors]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Has the next free process call ``fn(*args, **kwargs)``; see `concurrent.futures.Executor`.

        Raises:
            RuntimeError: the executor was shut down.
        """
        future: Future[Any] = Future()
        with self._lock:
            if self._is_shut:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._jobs.put((future, fn, args, kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the processes once the jobs are done; see `concurrent.futures.Executor`. The cluster stays."""
        with self._lock:
            self._is_shut = True
            while cancel_futures and not self._jobs.empty():
                if (item := self._jobs.get()) is not None:
                    item[0].cancel()
            for _ in self._threads:
                self._jobs.put(None)
        for thread in self._threads if wait else ():
            thread.join()

    def _serve(self, actor: Any) -> None:
        """Gives jobs to one process, one after the other, until the executor is shut down."""
        while (item := self._jobs.get()) is not None:
            future, function, arguments, named = item
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = self._ray.get(actor.call.remote(function, arguments, named))
            except self._ray.exceptions.RayActorError as error:
                future.set_exception(WorkerLostError(said(error)))
            except self._ray.exceptions.RayTaskError as error:
                future.set_exception(error.cause)
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)
        self._ray.kill(actor)


def _ray() -> ModuleType:
    """Returns the module Ray, which is connected to a cluster: the program's, or one that starts here.

    Raises:
        TritonExtError: it is not installed, or cannot connect.
    """
    try:
        import ray
    except ImportError as error:
        raise TritonExtError(f"RayExecutor needs Ray: {error}", fix="pip install ray") from None
    if not ray.is_initialized():
        try:
            ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        except Exception as error:
            raise TritonExtError(f"Ray has no cluster, and starts none: {said(error)}", fix="ray.init(...)") from error
    module: ModuleType = ray
    return module
