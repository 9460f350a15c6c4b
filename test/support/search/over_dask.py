# SPDX-License-Identifier: Apache-2.0
"""A program that searches on a Dask cluster of two workers, and kills one of them and then the scheduler.

It prints one line of JSON: what was killed, how many clusters there were, and what the search found.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from typing import Any

import distributed

import triton_ext as tx
from support.search import planted

#: What is killed before which job: the first one prepares, four compile, then four are measured, and so on.
_KILLED = {4: "worker", 8: "scheduler"}


class Clusters:
    """Starts a scheduler and two workers as processes, each time that an executor is asked for.

    Attributes:
        made: how many clusters were started.
        processes: the processes of the last cluster, the scheduler first.
        killed: what was killed.
        submitted: how many jobs there were.
    """

    def __init__(self) -> None:
        self.made = 0
        self.processes: list[subprocess.Popen[bytes]] = []
        self.killed: list[str] = []
        self.submitted = 0
        self._client: Any = None

    def __call__(self) -> Any:
        """Returns the executor of a new cluster."""
        self.end()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        address = f"tcp://127.0.0.1:{port}"
        self._start("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
        for _ in range(2):
            self._start("worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard")
        self._client = distributed.Client(address, timeout=60)
        self._client.wait_for_workers(2, timeout=60)
        self.made += 1
        executor = self._client.get_executor()
        submit = executor.submit

        def counted(*arguments: Any, **named: Any) -> Any:
            self.submitted += 1
            if self.submitted in _KILLED:
                self.kill(_KILLED[self.submitted])
            return submit(*arguments, **named)

        executor.submit = counted
        return executor

    def _start(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "dask", *arguments]
        self.processes.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def kill(self, what: str) -> None:
        """Kills the scheduler or a worker."""
        process = self.processes[0 if what == "scheduler" else 1]
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.killed.append(what)

    def end(self) -> None:
        """Ends the last cluster."""
        for process in self.processes:
            process.kill()
            process.wait()
        self.processes = []


def main(storage: str) -> None:
    """Searches with the study in `storage`."""
    clusters = Clusters()

    result = tx.search(
        planted.blend,
        planted.grid,
        planted.make_inputs,
        configs=planted.CONFIGS,
        pipelines={"help": planted.choices(planted.HELP[4:7])},
        knobs=["help"],
        sampler="grid",
        trials=4,
        target="cpu",
        budget=200,
        storage=storage,
        executor=clusters,
        progress=False,
    )
    print(
        json.dumps(
            {
                "killed": clusters.killed,
                "clusters": clusters.made,
                "best": result.best.values,
                "tried": sorted(t.values.get("help", "none") for t in result.history if t.status in ("ok", "pruned")),
            }
        ),
        flush=True,
    )
    clusters.end()
    # Dask's client would try for minutes to reach the scheduler that is gone.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
