# SPDX-License-Identifier: Apache-2.0
"""Candidates measured in other processes, through the interface of `concurrent.futures`."""

from __future__ import annotations

import multiprocessing
import os
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import triton

import support
import triton_ext as tx
from support import forked_python
from support.tuning import standin, tuned
from support.tuning.standin import launches
from support.tuning.tuned import CONFIGS, TIMES, ones, renamed, scale
from triton_ext.tuning import TensorSpec, TuningError
from triton_ext.tuning.job import Job
from triton_ext.tuning.worker import evaluate, random_arguments

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def workers_have_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUNING_STANDIN", "90")
    monkeypatch.setenv("PYTHONPATH", f"{support.PYTHONPATH}{os.pathsep}{HERE}")


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Returns `tuned.remote`, which workers import, with no tuning results."""
    monkeypatch.setattr(tuned.remote, "cache", {})
    monkeypatch.setattr(tuned.remote, "executor", None)
    monkeypatch.setattr(tuned.remote, "tuning_reports", {})
    monkeypatch.setattr(tuned.remote._do_bench, "times", TIMES | {("remote", 32): 5.0, ("fast", 32): 3.0})
    return tuned.remote


class Here(Executor):
    """Runs jobs at once, in this process, through their pickled form."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        import pickle

        fn, args = pickle.loads(pickle.dumps((fn, args)))
        self.jobs += args
        future: Future[Any] = Future()
        try:
            future.set_result(pickle.loads(pickle.dumps(fn(*args, **kwargs))))
        except Exception as error:
            future.set_exception(error)
        return future


def check(kernel: Any) -> None:
    """The result is the same as without an executor."""
    y = standin.zeros()
    launches.clear()
    kernel[lambda meta: (triton.cdiv(256, meta["BLOCK"]),)](ones(), y, n=32)
    assert (y.data == 2).all()
    assert launches[-1][0] == "fast"
    assert len(launches) == 1 or isinstance(kernel.executor, Here)
    rows = kernel.tuning_report.rows
    assert (kernel.best_config.pipeline, kernel.best_config.kwargs["BLOCK"]) == ("fast", 128)
    by_pipeline = {row.pipeline: row.status for row in rows}
    assert by_pipeline == {
        "plain": "ok",
        "nowhere": "compile error",
        "fast": "ok",
        "wrong": "wrong result",
        "crash": "launch error",
    }
    assert [row.milliseconds[0] for row in rows if row.pipeline == "fast"] == [3.0, 2.0, 1.0]
    assert "no pass 'no.where'" in rows[1].reason


@pytest.mark.slow
def test_a_pool_of_processes(kernel: Any, processes: ProcessPoolExecutor) -> None:
    kernel.executor = processes
    check(kernel)
    kernel.cache.clear()
    kernel.executor = lambda: processes  # made when it is needed
    check(kernel)
    with renamed("slow", "fast"):
        kernel[(1,)](ones(), standin.zeros(), 32)
    rows = kernel.tuning_report.rows
    assert [row.milliseconds[0] for row in rows if row.pipeline == "fast"] == [9.0, 8.0, 7.0]  # in the workers, too


@pytest.mark.slow
def test_dask(kernel: Any) -> None:
    distributed = pytest.importorskip("distributed")
    options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        kernel.executor = client.get_executor()
        check(kernel)


@pytest.mark.slow
def test_jobs_are_texts_and_numbers(kernel: Any) -> None:
    kernel.executor = executor = Here()
    outer = tx.Pipeline().at_end("llir", tx.builtin.common.cse())
    inner = tx.Pipeline().set("ttgpuir.assign_latencies", num_stages=2)
    with outer, inner:
        check(kernel)
    assert len(executor.jobs) == 15
    job = executor.jobs[2]
    assert (job.module, job.name, Path(job.file)) == ("support.tuning.tuned", "remote", Path(tuned.__file__))
    assert job.config == CONFIGS[0].all_kwargs()
    assert (job.pipeline, job.edits) == ("fast", "ttir: at_end(rename{new=fast old=remote})")
    assert job.outer == (str(outer), str(inner))
    assert job.arguments["x"] == TensorSpec((256,), (1,), "float32", "cuda:0")
    assert job.arguments["n"] == 32
    assert (job.positional, job.grid) == (2, (8,))
    assert job.device == "cuda:90"
    assert kernel.tuning_report.outer == str(outer + inner)


@pytest.mark.slow
def test_equal_binaries_are_measured_by_workers(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the workers see equal binaries; in one process each binary is measured once."""
    same = kernel.pipelines["fast"].skip("ttgpuir.coalesce_async_copy")
    monkeypatch.setattr(kernel, "pipelines", {"fast": kernel.pipelines["fast"], "too": same})
    for executor, measured in ((None, 3), (Here(), 6)):
        monkeypatch.setattr(kernel, "executor", executor)
        kernel.cache.clear()
        launches.clear()
        kernel[(8,)](ones(), standin.zeros(), 32)
        rows = kernel.tuning_report.rows
        assert [row.status for row in rows] == ["ok"] * 6
        assert len([row for row in rows if not row.same_as]) == measured


@pytest.mark.slow
def test_a_worker_with_another_device_or_other_libraries(kernel: Any) -> None:
    executor = Here()
    kernel.executor = executor
    check(kernel)
    import dataclasses

    job = executor.jobs[2]
    for change, reason in (
        ({"device": "cuda:80"}, "the worker has cuda:90, this is tuned for cuda:80"),
        ({"key": "another"}, "other versions of the pipeline's libraries"),
        ({"config": {"BLOCK": 7}}, "no such configuration"),
        ({"edits": "ttir: at_end(no_such_pass)"}, "no_such_pass"),
        ({"outer": ("ttir: skip(",)}, "pipeline text"),
        ({"arguments": {"x": 3}}, "arguments:"),
    ):
        outcome = evaluate(dataclasses.replace(job, group=str(change), **change))
        assert outcome.status == "worker error"
        assert reason in outcome.reason


@pytest.mark.slow
def test_arguments_are_made_once_for_each_tuning(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[dict[str, Any]] = []

    def make(described: dict[str, Any]) -> dict[str, Any]:
        made.append(described)
        return tuned.make_arguments(described)

    monkeypatch.setattr(kernel, "arguments", make)
    kernel.executor = Here()
    check(kernel)
    assert len(made) == 1
    monkeypatch.setattr(kernel, "arguments", lambda described: {"x": ones()})
    kernel.cache.clear()
    with pytest.raises(TuningError, match="arguments= made no 'y'"):
        check(kernel)


@pytest.mark.slow
def test_workers_that_die(kernel: Any) -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork"), initializer=os._exit, initargs=(3,)) as pool:
        kernel.executor = pool
        with pytest.raises(TuningError, match="worker error: BrokenProcessPool"):
            check(kernel)
    with pytest.raises(TuningError, match="worker error: "):
        check(kernel)  # in a pool that was shut down


def test_an_interrupt_cancels_what_has_not_begun(kernel: Any) -> None:
    class Interrupted(Executor):
        futures: list[Future[Any]] = []  # noqa: RUF012

        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            if len(self.futures) == 5:
                raise KeyboardInterrupt
            self.futures.append(Future())
            return self.futures[-1]

    kernel.executor = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        check(kernel)
    assert all(future.cancelled() for future in kernel.executor.futures)
    assert not kernel.cache


def test_kernels_and_arguments_that_cannot_be_sent(kernel: Any) -> None:
    local = tx.autotune(CONFIGS, ["n"], executor=Here())(scale)
    with pytest.raises(tx.TritonExtError, match="a worker cannot import this kernel"):
        local[(1,)](ones(), ones(), 32)
    kernel.executor = Here()
    with pytest.raises(tx.TritonExtError, match="argument 'n' cannot be sent to a worker"):
        kernel[(1,)](ones(), ones(), lambda: 3)


@pytest.mark.slow
def test_copies_of_used_kernels_are_found(monkeypatch: pytest.MonkeyPatch, kernel: Any) -> None:
    copy = tx.use(renamed("slow", "fast"))(kernel)
    monkeypatch.setattr(tuned, "copied", copy, raising=False)
    copy.executor = executor = Here()
    y = standin.zeros()
    copy[(1,)](ones(), y, 32)
    assert executor.jobs[0].name == "copied"
    assert executor.jobs[0].outer == (str(renamed("slow", "fast")),)
    assert copy.best_config.pipeline == "plain"


@pytest.mark.slow
def test_kernels_of_a_program() -> None:
    """Workers import the main program as a file, as spawned processes do."""
    program = HERE / "program.py"

    done = forked_python.run([sys.executable, str(program)])
    assert done.returncode == 0, done.stderr
    assert done.stdout == "fast 1 9 fast\n"


def test_random_arguments() -> None:
    pytest.importorskip("torch")
    spec = TensorSpec((3, 4), (1, 3), "torch.float16", "cpu")
    one, two = (random_arguments({"a": spec, "i": TensorSpec((2,), (1,), "torch.int32", "cpu"), "n": 3}) for _ in "12")
    assert (one["a"].stride(), str(one["a"].dtype), one["n"]) == ((1, 3), "torch.float16", 3)
    assert one["a"].equal(two["a"])
    assert one["a"].std() > 0
    assert one["i"].tolist() == [0, 0]


@pytest.mark.slow
def test_a_pool_of_threads(kernel: Any) -> None:
    """An executor need not have other processes; in a pool of threads the kernel is the same object."""
    with ThreadPoolExecutor(1) as pool:
        kernel.executor = pool
        y = standin.zeros()
        kernel[(1,)](ones(), y, 32)
        assert y.data[0] == 2
        assert kernel.best_config.pipeline == "fast"
