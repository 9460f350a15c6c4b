# SPDX-License-Identifier: Apache-2.0
"""An executor of Dask whose scheduler is gone: its jobs may never end, so waiting for them does."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Executor, Future
from types import SimpleNamespace
from typing import Any

import pytest

from triton_ext.tuning import workers
from triton_ext.tuning.workers import Workers, run_jobs


class Buffering(Executor):
    """Takes jobs that never end, as Dask's executor does without a scheduler; its client changes its status."""

    def __init__(self, statuses: list[str]) -> None:
        self.taken: list[Future[Any]] = []
        self._statuses = statuses
        self._client = self

    scheduler_info = SimpleNamespace()

    @property
    def status(self) -> str:
        return self._statuses.pop(0) if len(self._statuses) > 1 else self._statuses[0]

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.taken.append(Future())
        return self.taken[-1]


def run(executor: Executor) -> dict[int, Exception]:
    return run_jobs(Workers(executor), str, deque([(0, "a"), (1, "b")]), lambda *_: None, 600)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_LOOK", 0.01)
    monkeypatch.setattr(workers, "_LOST", 0.05)


def test_lost_while_jobs_are_under_way() -> None:
    executor = Buffering(["running", "running", "connecting"])
    with pytest.raises(ConnectionError, match="lost its scheduler"):
        run(executor)
    assert len(executor.taken) == 2
    assert all(future.cancelled() for future in executor.taken)


def test_lost_before() -> None:
    executor = Buffering(["closed"])
    with pytest.raises(ConnectionError, match="lost its scheduler"):
        run(executor)
    assert not executor.taken


def test_found_again() -> None:
    """A client that finds its scheduler again in time keeps its jobs; here the patience ends before they do."""
    executor = Buffering(["running", "connecting", "running"])
    assert run_jobs(Workers(executor), str, deque([(0, "a")]), lambda *_: None, 0.2) == {}
