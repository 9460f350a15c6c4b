# SPDX-License-Identifier: Apache-2.0
"""`RayExecutor`: with Ray where it is installed, and its own part with a stand-in for Ray's processes."""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
import types
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

import support
from triton_ext import TritonExtError
from triton_ext.tuning import RayExecutor
from triton_ext.tuning.workers import WorkerLostError, Workers, run_jobs


class ActorDiedError(Exception):
    """Stands for the error of a process that has ended."""


class TaskError(Exception):
    """Stands for the error of a job that raised."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


def stand_in(options: list[dict[str, Any]], killed: list[Any]) -> types.ModuleType:
    """Returns a module that has what `RayExecutor` uses of Ray, and runs jobs in the thread that waits for them."""
    module = types.ModuleType("ray")

    def remote(**given: Any) -> Callable[[type], Any]:
        options.append(given)

        def handle(made: type) -> Any:
            actor = made()
            call = types.SimpleNamespace(remote=lambda *arguments: lambda: actor.call(*arguments))
            return types.SimpleNamespace(call=call)

        return lambda made: types.SimpleNamespace(remote=lambda: handle(made))

    def get(job: Callable[[], Any]) -> Any:
        try:
            return job()
        except (ActorDiedError, SystemExit):
            raise
        except Exception as error:
            raise TaskError(error) from error

    module.remote, module.get, module.kill = remote, get, killed.append  # type: ignore[attr-defined]
    module.is_initialized = lambda: True  # type: ignore[attr-defined]
    module.exceptions = types.SimpleNamespace(RayActorError=ActorDiedError, RayTaskError=TaskError)  # type: ignore[attr-defined]
    return module


def die() -> None:
    raise ActorDiedError("the process has ended")


def test_jobs_and_their_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    options: list[dict[str, Any]] = []
    killed: list[Any] = []
    monkeypatch.setitem(sys.modules, "ray", stand_in(options, killed))
    both = threading.Barrier(2, timeout=10)
    with RayExecutor(2, num_gpus=1) as executor:
        assert options == [{"max_restarts": -1, "num_gpus": 1}]
        together = [executor.submit(both.wait) for _ in range(2)]  # ends only if both run at a time
        assert sorted(future.result() for future in together) == [0, 1]
        assert executor.submit(int, "7").result() == 7
        assert isinstance(executor.submit(int, "x").exception(), ValueError)
        assert isinstance(executor.submit(die).exception(), WorkerLostError)
        assert executor.submit(int, "8").result() == 8
        assert isinstance(executor.submit(sys.exit).exception(), SystemExit)
        ended: dict[int, Any] = {}
        jobs = deque(enumerate([("1",), ("2",)]))
        lost = run_jobs(Workers(executor), _parse, jobs, lambda i, result, error: ended.update({i: result}), 10)
        assert (lost, ended) == ({}, {0: 1, 1: 2})
        lost = run_jobs(Workers(executor), lambda job: die(), deque([(5, None)]), lambda *_: None, 10)
        assert isinstance(lost[5], WorkerLostError)  # so it is tried again, alone
    assert len(killed) == 2
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(int)


def _parse(job: tuple[str]) -> int:
    return int(*job)


def test_jobs_that_have_not_begun_are_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", stand_in([], []))
    may_end = threading.Event()
    executor = RayExecutor()
    first = executor.submit(may_end.wait, 10)
    while not first.running():
        pass
    second = executor.submit(int)
    executor.shutdown(wait=False, cancel_futures=True)
    may_end.set()
    assert first.result(10)
    assert second.cancelled()


def test_without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(TritonExtError, match="pip install ray"):
        RayExecutor()
    with pytest.raises(TritonExtError, match="workers: expected an int from 1"):
        RayExecutor(0)


if importlib.util.find_spec("ray") is not None:  # not among the packages of the tests, which it would triple in size

    @pytest.mark.slow
    def test_a_search_on_ray(monkeypatch: pytest.MonkeyPatch) -> None:
        import ray

        import triton_ext as tx
        from support.search import planted

        monkeypatch.setenv("PYTHONPATH", support.PYTHONPATH)
        monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        try:
            with RayExecutor(2) as executor:
                assert executor.submit(os.getpid).result() != os.getpid()
                assert isinstance(executor.submit(os.abort).exception(), WorkerLostError)
                result = tx.search(
                    planted.blend,
                    planted.grid,
                    planted.make_inputs,
                    configs=planted.CONFIGS,
                    pipelines={"bad": planted.choices([planted.CRASHES, planted.HELP[5]])},
                    knobs=["bad"],
                    sampler="grid",
                    trials=3,
                    target="cpu",
                    budget=200,
                    executor=executor,
                    progress=False,
                )
        finally:
            ray.shutdown()
        status = {trial.values.get("bad", "none"): trial.status for trial in result.history}
        assert status == {"none": "ok", "crashes": "worker error", "help_5": "ok"}
        assert result.best.values == {"bad": "help_5"}
