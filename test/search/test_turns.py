# SPDX-License-Identifier: Apache-2.0
"""Turns on a device: processes measure one at a time, none waits for long, and one that is killed blocks nobody."""

from __future__ import annotations

import contextlib
import itertools
import json
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import support
import triton_ext as tx
from support.search import planted, seen_in_turn
from triton_ext.searching import turns, worker
from triton_ext.searching.task import Assignment, Candidate, Prepared, Task, refer_to
from triton_ext.tuning.job import find_name
from triton_ext.tuning.workers import process

#: Takes turns on a device for a while, and prints when each began and ended.
PROGRAM = """
import sys, time
from triton_ext.searching.turns import turn

device, count = sys.argv[1], int(sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
for _ in range(count):
    with turn(device):
        began = time.monotonic()
        time.sleep(0.03)
        ended = time.monotonic()
    print(began, ended, flush=True)
"""


@contextlib.contextmanager
def program(device: str, count: int) -> Iterator[subprocess.Popen[str]]:
    """Yields a process that takes turns as soon as it gets a line."""
    command = [sys.executable, "-c", PROGRAM, device, str(count)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def begin(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


@pytest.mark.slow
def test_turns_of_processes_do_not_overlap_and_nobody_waits_for_long() -> None:
    device = f"planted-{uuid.uuid4().hex}"
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(program(device, 12)) for _ in range(3)]
        for process in processes:
            begin(process)
        texts = [process.communicate(timeout=60)[0] for process in processes]
    found = sorted(
        (*map(float, line.split()), number) for number, text in enumerate(texts) for line in text.splitlines()
    )
    assert len(found) == 36
    assert all(ended <= began for (_, ended, _), (began, _, _) in itertools.pairwise(found))
    order = [number for *_, number in found]
    together = order[max(map(order.index, range(3))) : min(map(len(order).__sub__, map(order[::-1].index, range(3))))]
    runs = [len(list(run)) for _, run in itertools.groupby(together)]
    assert len(runs) > 6, order  # nobody has taken turn after turn while others waited
    assert max(runs) <= 4, order


@pytest.mark.slow
def test_a_holder_that_is_killed_blocks_nobody() -> None:
    device = f"planted-{uuid.uuid4().hex}"
    holding = PROGRAM.replace("time.sleep(0.03)", "print(began, flush=True); time.sleep(600)")
    with subprocess.Popen([sys.executable, "-c", holding, device, "1"], stdin=-1, stdout=-1, text=True) as holder:
        try:
            begin(holder)
            assert holder.stdout is not None
            assert holder.stdout.readline() == "ready\n"
            assert float(holder.stdout.readline()) > 0
            with program(device, 1) as other:
                begin(other)
                time.sleep(0.3)
                holder.send_signal(signal.SIGKILL)
                killed = time.monotonic()
                began, _ = map(float, other.communicate(timeout=20)[0].split())
            assert began >= killed
        finally:
            holder.kill()


def test_who_waits_too_long_goes_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "PATIENCE", 0.2)
    device = f"planted-{uuid.uuid4().hex}"
    holding = PROGRAM.replace("time.sleep(0.03)", "print(began, flush=True); time.sleep(600)")
    with subprocess.Popen([sys.executable, "-c", holding, device, "1"], stdin=-1, stdout=-1, text=True) as holder:
        try:
            begin(holder)
            assert holder.stdout is not None
            holder.stdout.readline()
            holder.stdout.readline()
            with turns.turn(device):
                assert holder.poll() is None
        finally:
            holder.kill()


def test_without_a_place_for_locks_there_are_no_turns(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(turns, "_ROOTS", (str(tmp_path / "missing"),))
    with turns.turn("planted"), turns.turn("planted"):
        pass


def test_a_gpu_has_one_name_whatever_its_number_is(monkeypatch: pytest.MonkeyPatch) -> None:
    class Driver:
        """A driver of a GPU that other processes count in another way."""

        def get_current_target(self) -> Any:
            return SimpleNamespace(backend="cuda", arch=90)

        def get_current_device(self) -> int:
            return 0

        def get_device_interface(self) -> Any:
            return SimpleNamespace(get_device_properties=lambda number: SimpleNamespace(uuid=f"UUID-of-{number}"))

    monkeypatch.setattr(turns, "driver", SimpleNamespace(active=Driver()))
    assert turns.device_in_use() == "cuda-UUID-of-0"
    monkeypatch.setattr(Driver, "get_device_interface", lambda self: SimpleNamespace())
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")
    assert turns.device_in_use() == "cuda-3"
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert turns.device_in_use() == "cuda-0"


@pytest.mark.slow
def test_a_search_compiles_and_measures_on_the_cpu_in_its_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", support.PYTHONPATH)
    monkeypatch.setenv(seen_in_turn.FILE, str(tmp_path / "seen"))
    result = tx.search(
        planted.blend,
        planted.grid,
        seen_in_turn.make_inputs,
        configs=planted.CONFIGS,
        pipelines={"seen": planted.choices([seen_in_turn.STAGE])},
        knobs=["seen"],
        reference=seen_in_turn.reference,
        sampler="grid",
        trials=2,
        budget=60,
        target="cpu",
        progress=False,
    )
    assert [trial.status for trial in result.history] == ["ok", "ok"]
    seen = [json.loads(line) for line in (tmp_path / "seen").read_text().splitlines()]
    assert {what for what, _ in seen} == {"inputs", "reference", "compiled"}
    assert all(held for _, held in seen), seen


def test_whether_a_turn_is_held_can_be_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(turns, "_ROOTS", (str(tmp_path),))  # other tests take turns on the CPU at the same time
    assert not seen_in_turn.is_held()
    with turns.turn("cpu"):
        assert seen_in_turn.is_held()
    assert not seen_in_turn.is_held()


@pytest.mark.slow
def test_on_a_gpu_nothing_is_compiled_in_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the CPU as a stand-in for a device of its own."""
    held: list[bool] = []
    seen: dict[str, set[tuple[bool, bool]]] = {"prepare": set(), "measure": set()}
    launch = worker.Kernel.launch

    @contextlib.contextmanager
    def noted() -> Iterator[None]:
        held.append(True)
        yield
        held.pop()

    def launched(self: Any, candidate: Any, arguments: Any, *, warmup: bool = False) -> Any:
        seen[doing].add((warmup, bool(held)))
        return launch(self, candidate, arguments, warmup=warmup)

    monkeypatch.setattr(worker, "turn", noted)
    monkeypatch.setattr(worker, "turn_to_compile", contextlib.nullcontext)
    monkeypatch.setattr(worker, "runs_beside_the_compiler", lambda backend: True)
    monkeypatch.setattr(worker.Kernel, "launch", launched)
    task = Task(
        group=uuid.uuid4().hex,
        kernel=find_name(planted.blend),
        grid=refer_to("grid", planted.grid),
        inputs=refer_to("inputs", planted.make_inputs),
        reference=None,
        configs=({"BLOCK": 256},),
        target="cpu:native",
        seed=0,
        tolerance=None,
        unaligned=True,
        compile_timeout=None,
        run_timeout=None,
        sender=process(),
    )
    with tx.target.active("cpu"):
        doing = "prepare"
        prepared = worker.prepare(Assignment(task, Candidate({}, "")))
        doing = "measure"
        measured = worker.measure_candidate(Assignment(task, Candidate({"BLOCK": 128}, "")))
    assert isinstance(prepared, Prepared), prepared
    assert measured.outcome.status == "ok", measured
    assert seen["prepare"] == seen["measure"] == {(True, False), (False, True)}
