# SPDX-License-Identifier: Apache-2.0
"""A search over Dask with two workers, whose scheduler is killed in between."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Executor

import pytest

import support
import triton_ext as tx
from support.search import planted
from triton_ext.searching import Trial

pytestmark = pytest.mark.slow


class Clusters:
    """Starts a scheduler and two workers each time that it is called.

    Attributes:
        started: the processes of each cluster, the scheduler first.
    """

    def __init__(self) -> None:
        self.started: list[list[subprocess.Popen[str]]] = []

    def __call__(self) -> Executor:
        import distributed

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        address = f"tcp://127.0.0.1:{port}"
        program = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", port, "--no-dashboard"]
        self.started.append([subprocess.Popen(program, stderr=subprocess.DEVNULL, text=True)])
        options = ["--nthreads", "1", "--no-dashboard", "--death-timeout", "5"]
        for _ in range(2):
            worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, *options]
            self.started[-1].append(subprocess.Popen(worker, stderr=subprocess.DEVNULL, text=True))
        client = distributed.Client(address, timeout=60)
        client.wait_for_workers(2, timeout=60)
        return client.get_executor()  # type: ignore[no-any-return]

    def kill(self) -> None:
        """Kills the last cluster."""
        for process in self.started[-1]:
            process.kill()
            process.wait()


@pytest.fixture
def clusters(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clusters]:
    monkeypatch.setenv("PYTHONPATH", support.PYTHONPATH)
    made = Clusters()
    yield made
    made.kill()


def test_a_lost_scheduler_costs_no_candidate(clusters: Clusters) -> None:
    done: list[Trial] = []

    def told(trial: Trial, best: Trial | None) -> None:
        done.append(trial)
        if len(done) == 2:
            clusters.kill()

    result = tx.search(
        planted.blend,
        planted.grid,
        planted.make_inputs,
        configs=planted.CONFIGS,
        target="cpu",
        pipelines={"help": planted.choices(planted.HELP[2:6])},
        knobs=["help"],
        sampler="grid",
        trials=5,
        budget=120,
        executor=clusters,
        on_trial=told,
        progress=False,
    )
    assert len(clusters.started) == 2
    assert [trial.status for trial in result.history] == ["ok"] * 5
    assert result.best.values == {"help": "help_5"}
