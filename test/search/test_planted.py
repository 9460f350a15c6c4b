# SPDX-License-Identifier: Apache-2.0
"""Searches on the CPU: planted optima among decoys, 30 wrong passes, crashes, `kill -9`, and a file of the winner."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import support
import triton_ext as tx
from support.search import planted
from triton_ext.searching import SearchResult, report, verify
from triton_ext.searching.history import OWNER, is_dead, trials_of
from triton_ext.searching.optimiser import load_study

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def workers_import_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", support.PYTHONPATH)


@pytest.fixture(autouse=True)
def a_launch_waits_for_no_other_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine, a launch of 0.02 ms with two threads can wait 10 ms for the one that has no processor."""
    monkeypatch.setenv("TRITON_EXT_CPU_THREADS", "1")


def look(pipelines: dict[str, dict[str, tx.Pipeline]], **options: Any) -> SearchResult:
    defaults = {"budget": 300, "target": "cpu", "knobs": list(pipelines), "progress": False}
    return tx.search(
        planted.blend,
        planted.grid,
        planted.make_inputs,
        configs=planted.CONFIGS,
        pipelines=pipelines,
        **{**defaults, **options},
    )


def test_the_one_argument_that_helps_wins_among_decoys(tmp_path: Path) -> None:
    knobs = {"help": planted.choices(planted.HELP), "decoy": planted.choices([*planted.WRONG[:4], planted.FAILS])}
    result = look(knobs, trials=30, sampler="tpe")
    assert result.best.values == {"help": "help_5"}
    assert result.gain > 2
    assert str(result.pipeline) == "ttir: stage(support.search.planted:help_5)"
    assert all(
        t.status in ("wrong result", "compile error", "known failure") for t in result.history if "decoy" in t.values
    )
    # The winner goes into a file, from which everything that tunes takes it.
    file = tmp_path / "winners.json"
    result.save(file)
    found = tx.found(file, planted.blend)
    assert found == tx.found(file, "blend", target=result.target)
    assert tx.use(found.pipeline)(planted.blend).triton_ext_pipelines == (result.pipeline,)
    assert found.config.kwargs == {"BLOCK": 256}
    assert [verdict.status for verdict in verify(file, seeds=1)] == ["ok"]
    # In a repository where the pass became wrong, the check says so.
    content = json.loads(file.read_text())
    content["findings"][0]["edits"] = "ttir: stage(support.search.planted:wrong_29)"
    file.write_text(json.dumps(content))
    (verdict,) = verify(file, seeds=1)
    assert verdict.status == "wrong"
    assert "launch 2" in verdict.reason


def test_no_wrong_pass_gets_through_the_gate() -> None:
    assert len(planted.WRONG) == 30
    result = look({"wrong": planted.choices(planted.WRONG)}, sampler="grid", trials=31, budget=300)
    assert result.best.values == {}
    tried = {t.values["wrong"]: t for t in result.history if t.values}
    assert len(tried) == 30
    # One of them writes out of bounds, and may end its worker.
    assert {t.status for t in tried.values()} <= {"wrong result", "worker error"}
    assert sum(t.status == "wrong result" for t in tried.values()) >= 29
    assert all(t.case for t in tried.values() if t.status == "wrong result")
    assert tried["wrong_27"].case == "launch 2, unaligned"
    assert tried["wrong_29"].case == "launch 2"


def test_a_candidate_that_crashes_costs_only_itself() -> None:
    result = look({"bad": planted.choices([planted.CRASHES, planted.HELP[5]])}, sampler="grid", trials=3)
    status = {t.values.get("bad", "none"): t.status for t in result.history}
    assert status == {"none": "ok", "crashes": "worker error", "help_5": "ok"}
    assert result.best.values == {"bad": "help_5"}


PROGRAM = """
import triton_ext as tx
from support.search import planted

if __name__ == "__main__":
    tx.search(
        planted.blend, planted.grid, planted.make_inputs, configs=planted.CONFIGS, target="cpu", budget=300,
        pipelines={"help": planted.choices(planted.HELP)}, knobs=["help"], sampler="grid", storage="study.db",
        on_trial=lambda trial, best: print(trial.number, flush=True), progress=False,
    )
"""


def test_kill_9_loses_only_what_was_running(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    with subprocess.Popen(
        [sys.executable, "program.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        seen = [process.stdout.readline().strip() for _ in range(3)]
        os.kill(process.pid, signal.SIGKILL)
    assert seen == ["0", "1", "2"]
    file = tmp_path / "study.db"
    before = [t for t in trials_of(load_study(file)) if t.status == "ok"]
    assert len(before) >= 3
    result = look({"help": planted.choices(planted.HELP)}, sampler="grid", storage=file, trials=9)
    assert [t for t in result.history if t.status == "ok"][: len(before)] == before
    assert {t.values.get("help", "none") for t in result.history if t.status != "lost"} == {
        "none",
        *(f"help_{k}" for k in range(8)),
    }
    assert result.best.values == {"help": "help_5"}
    assert report(file).best == result.best
    end = time.monotonic() + 20  # the workers of the killed process end with it
    while time.monotonic() < end and _in_session(process.pid):
        time.sleep(0.1)
    assert not _in_session(process.pid)
    assert is_dead(json.dumps([os.uname().nodename, process.pid, "0"]))


def test_a_candidate_is_not_lost_with_a_process_that_has_only_asked_for_it(tmp_path: Path) -> None:
    """The process dies before its trial has the candidate's parameters; `grid` proposes each candidate once."""
    file, knobs = tmp_path / "study.db", {"help": planted.choices(planted.HELP[:3])}
    assert len(look(knobs, sampler="grid", storage=file, trials=2).history) == 2
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        pass
    load_study(file).ask().set_user_attr(OWNER, json.dumps([os.uname().nodename, dead.pid, "0"]))
    result = look(knobs, sampler="grid", storage=file, trials=9)
    assert [(t.number, t.status) for t in result.history if t.status == "lost"] == [(2, "lost")]
    tried = [t.values.get("help", "none") for t in result.history if t.status == "ok"]
    assert sorted(tried) == ["help_0", "help_1", "help_2", "none"]


def _in_session(session: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(entry.name))
    return found
