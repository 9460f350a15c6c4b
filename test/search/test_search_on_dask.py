# SPDX-License-Identifier: Apache-2.0
"""A search on Dask with two workers, of which one is killed in between, and the scheduler after it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import support

#: Seconds after which the program and all that it has started are killed.
_LIMIT = 240


@pytest.mark.slow
def test_a_worker_and_the_scheduler_are_lost(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    environment = {
        **os.environ,
        "PYTHONPATH": support.PYTHONPATH,
        "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",
        "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0",
    }
    # In a session of its own, because Dask's threads may keep a process that has lost its scheduler from ending.
    with subprocess.Popen(
        [sys.executable, "-m", "support.search.over_dask", str(tmp_path / "study.db")],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as program:
        try:
            out, error = program.communicate(timeout=_LIMIT)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)
    assert program.returncode == 0, error[-3000:]
    said = json.loads(out.splitlines()[-1])
    assert said["killed"] == ["worker", "scheduler"]
    assert said["clusters"] == 2
    assert said["best"] == {"help": "help_5"}
    assert said["tried"] == ["help_4", "help_5", "help_6", "none"]
