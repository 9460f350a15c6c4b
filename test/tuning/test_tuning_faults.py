# SPDX-License-Identifier: Apache-2.0
"""Candidates that end their worker or never end, and disks to which no results can be written."""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import sys
import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import triton
from triton.runtime.cache import FileCacheManager

import support
import triton_ext as tx
from support import forked_python
from support.tuning import standin, tuned_faults
from support.tuning.standin import Bench
from support.tuning.tuned import CONFIGS, PIPELINES, TIMES, ones, renamed, scale
from triton_ext.tuning import TuningError


@pytest.fixture(autouse=True)
def workers_have_the_device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TUNING_STANDIN", "90")
    monkeypatch.setenv("TUNING_ONCE", str(tmp_path / "once"))
    monkeypatch.setenv("PYTHONPATH", f"{support.PYTHONPATH}{os.pathsep}{Path(__file__).parent}")


def statuses(kernel: Any, executor: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, set[str]]:
    """Tunes `kernel` with `executor`; returns by pipeline how its candidates ended."""
    monkeypatch.setattr(kernel, "cache", {})
    monkeypatch.setattr(kernel, "tuning_reports", {})
    monkeypatch.setattr(kernel, "_executor", executor)
    y = standin.zeros()
    kernel[(1,)](ones(), y, n=32)
    assert (y.data == 2).all()
    found: dict[str, set[str]] = {}
    for row in kernel.tuning_report.rows:
        found.setdefault(row.pipeline, set()).add(row.status)
    return found


def reason(kernel: Any, pipeline: str) -> str:
    return next(row.reason for row in kernel.tuning_report.rows if row.pipeline == pipeline)


@pytest.mark.slow
def test_who_ends_a_process_fails_alone(processes: ProcessPoolExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = tuned_faults.one_dies
    expected = {"plain": {"ok"}, "dies": {"worker error"}, "fast": {"ok"}}
    assert statuses(kernel, processes, monkeypatch) == expected
    assert "ended its worker twice, the second time alone" in reason(kernel, "dies")
    assert kernel.best_config.pipeline == "fast"
    # The given pool stays broken, but its arguments are known.
    assert statuses(tuned_faults.some_die, processes, monkeypatch) == expected


@pytest.mark.slow
def test_who_calls_exit_fails_alone(processes: ProcessPoolExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    for executor in (processes, None):
        found = statuses(tuned_faults.one_exits, executor, monkeypatch)
        assert found == {"plain": {"ok"}, "exits": {"launch error"}, "fast": {"ok"}}
        assert "sys.exit(3)" in reason(tuned_faults.one_exits, "exits")


@pytest.mark.slow
def test_who_raises_what_ends_programs_fails_alone(
    processes: ProcessPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = statuses(tuned_faults.one_interrupts, processes, monkeypatch)
    assert found == {"plain": {"ok"}, "interrupts": {"worker error"}, "fast": {"ok"}}
    assert "it raised KeyboardInterrupt: of its own" in reason(tuned_faults.one_interrupts, "interrupts")


@pytest.mark.slow
def test_who_dies_of_a_signal_was_not_late(processes: ProcessPoolExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time that a worker takes to start does not count."""
    monkeypatch.setattr("triton_ext.tuning.limits.GRACE", -12.0)
    found = statuses(tuned_faults.one_alarms, processes, monkeypatch)
    assert found == {"plain": {"ok"}, "alarms": {"worker error"}, "fast": {"ok"}}


@pytest.mark.slow
def test_a_function_is_asked_for_another_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    pools: list[Executor] = []

    def make() -> Executor:
        pools.append(ProcessPoolExecutor(2, multiprocessing.get_context("spawn")))
        return pools[-1]

    found = statuses(tuned_faults.some_die, make, monkeypatch)
    assert found == {"plain": {"ok"}, "dies": {"worker error"}, "fast": {"ok"}}
    assert 2 <= len(pools) <= 4
    for pool in pools:
        pool.shutdown()


@pytest.mark.slow
def test_who_was_only_there_is_innocent(processes: ProcessPoolExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else may kill a worker, such as the system when memory runs out."""
    found = statuses(tuned_faults.one_dies_once, processes, monkeypatch)
    assert found == {"plain": {"ok"}, "dies_once": {"ok"}, "fast": {"ok"}}
    assert Path(os.environ["TUNING_ONCE"]).exists()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["hangs", "spins"])
def test_who_never_ends_is_ended(how: str, processes: ProcessPoolExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    """One candidate holds the lock of the interpreter, the other does not."""
    monkeypatch.setattr("triton_ext.tuning.limits.GRACE", 0.5)
    kernel = getattr(tuned_faults, f"one_{how}")
    found = statuses(kernel, processes, monkeypatch)
    assert found == {"plain": {"ok"}, how: {"time limit"}, "fast": {"ok"}}
    assert "300 s + 3 s" in reason(kernel, how)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["some_die", "one_dies_once", "one_hangs"])
def test_dask(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    import dask

    monkeypatch.setattr("triton_ext.tuning.limits.GRACE", 0.5)
    other, status = {
        "some_die": ("dies", "worker error"),
        "one_dies_once": ("dies_once", "ok"),
        "one_hangs": ("hangs", "time limit"),
    }[kernel]
    options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    # Otherwise Dask itself runs a job that ends its worker four times.
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = statuses(getattr(tuned_faults, kernel), client.get_executor(), monkeypatch)
    assert found == {"plain": {"ok"}, other: {status}, "fast": {"ok"}}


@pytest.mark.slow
def test_a_pool_whose_workers_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool is made again once, not for each candidate."""
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(2, context, initializer=os._exit, initargs=(3,)) as pool:
        started = time.monotonic()
        with pytest.raises(TuningError, match="worker error: BrokenProcessPool"):
            statuses(tuned_faults.one_dies, pool, monkeypatch)
        assert time.monotonic() - started < 60


class Silent(Executor):
    """Accepts jobs and never runs them."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        from concurrent.futures import Future

        return Future()


def test_an_executor_that_does_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triton_ext.tuning.limits.STARTUP", 0.2)
    monkeypatch.setattr("triton_ext.tuning.limits.GRACE", 0.0)
    monkeypatch.setattr(tuned_faults.some_die, "compile_timeout", 0.01)
    monkeypatch.setattr(tuned_faults.some_die, "run_timeout", 0.01)
    with pytest.raises(TuningError, match="no worker has answered"):
        statuses(tuned_faults.some_die, Silent(), monkeypatch)


@pytest.mark.slow
def test_a_pool_of_threads_does_not_end_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The workers of a pool of threads are this process."""
    monkeypatch.setattr(tuned_faults.some_die, "run_timeout", 1.0)
    monkeypatch.setattr("triton_ext.tuning.limits.GRACE", -0.99)  # sooner than any launch can end
    monkeypatch.setattr(
        tuned_faults.some_die, "pipelines", {k: v for k, v in tuned_faults.some_die.pipelines.items() if k != "dies"}
    )
    monkeypatch.setitem(
        standin.COMPUTE, "some_die", lambda arguments, _: (time.sleep(0.1), standin.scale(arguments, 2))
    )
    with ThreadPoolExecutor(1) as pool:
        assert statuses(tuned_faults.some_die, pool, monkeypatch) == {"plain": {"ok"}, "fast": {"ok"}}


def hang(module: Any) -> None:
    """Is a pass that never ends."""
    time.sleep(3600)


hang.cache_key = "hang"  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_compilation_that_never_ends() -> None:
    """A hang costs one candidate: the others get the place of its thread, and the process ends."""
    code = """
from support.tuning import standin
standin.activate()
import test_tuning_faults
test_tuning_faults.tune_with_a_hang()
"""
    done = forked_python.run([sys.executable, "-c", code], timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "fast ['ok', 'time limit', 'time limit', 'ok']\n"


def tune_with_a_hang() -> None:
    hanging = {
        name: tx.Pipeline().at_end("ttir", hang).set("ttgpuir.assign_latencies", num_stages=n)
        for name, n in (("first", 2), ("second", 4))
    }
    kernel = tx.autotune(
        CONFIGS[:1],
        ["n"],
        pipelines={"plain": tx.Pipeline(), **hanging, "fast": renamed("fast")},
        do_bench=Bench(TIMES),
        workers=1,
        rounds=1,
        compile_timeout=5,
    )(scale)
    kernel[(1,)](ones(), standin.zeros(), n=32)
    assert "compiling took longer than 5 s" in kernel.tuning_report.rows[1].reason
    print(kernel.best_config.pipeline, [row.status for row in kernel.tuning_report.rows])


@pytest.mark.slow
def test_a_compilation_that_takes_long_in_this_thread(kernel_cache: Path) -> None:
    def takes_long(module: Any) -> None:
        time.sleep(0.1)

    takes_long.cache_key = "takes long"  # type: ignore[attr-defined]
    pipelines = {"long": tx.Pipeline().at_end("ttir", takes_long)}
    kernel = tx.autotune(
        CONFIGS[:2], ["n"], pipelines=pipelines, do_bench=Bench(TIMES), workers=0, rounds=1, compile_timeout=0.05
    )(scale)
    with pytest.raises(TuningError, match=r"compiling took longer than 0.05 s \(fix: compile_timeout=seconds\)"):
        kernel[(1,)](ones(), standin.zeros(), n=48)


class Endless(Bench):
    """Launches ``slow`` until the test stops it."""

    def __call__(self, fn: Any, quantiles: object = None) -> list[float]:
        while fn.config.pipeline == "slow":
            fn()
            time.sleep(0.01)
        return super().__call__(fn, quantiles)


def test_a_measurement_that_never_ends() -> None:
    kernel = tx.autotune(CONFIGS[:1], ["n"], pipelines=PIPELINES, do_bench=Endless(TIMES), rounds=1, run_timeout=1.0)(
        scale
    )
    kernel[(1,)](ones(), standin.zeros(), n=32)
    assert [row.status for row in kernel.tuning_report.rows] == ["ok", "ok", "time limit"]
    assert "checking and measuring took longer than 1 s" in kernel.tuning_report.rows[2].reason


def test_no_limits() -> None:
    """Both ways of waiting work without a limit."""
    kernel = tx.autotune(
        CONFIGS[:1],
        ["n"],
        pipelines=PIPELINES,
        do_bench=Bench(TIMES),
        rounds=1,
        compile_timeout=None,
        run_timeout=None,
    )(scale)
    kernel[(1,)](ones(), standin.zeros(), n=32)
    assert [row.status for row in kernel.tuning_report.rows] == ["ok", "ok", "ok"]


@pytest.mark.slow
def test_no_limits_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = tuned_faults.one_dies_once
    Path(os.environ["TUNING_ONCE"]).touch()
    for name in ("compile_timeout", "run_timeout"):
        monkeypatch.setattr(kernel, name, None)
        with ThreadPoolExecutor(1) as pool:
            assert statuses(kernel, pool, monkeypatch) == {"plain": {"ok"}, "dies_once": {"ok"}, "fast": {"ok"}}


@pytest.mark.slow
def test_a_crash_without_an_executor() -> None:
    code = """
from support.tuning import standin
standin.activate()
from support.tuning import tuned, tuned_faults
tuned_faults.some_die[(1,)](tuned.ones(), standin.zeros(), n=32)
"""
    done = forked_python.run([sys.executable, "-c", code])
    assert done.returncode == -signal.SIGSEGV, done.stderr


@pytest.mark.parametrize("name", ["compile_timeout", "run_timeout"])
@pytest.mark.parametrize("value", [0, -1, "3", float("nan")])
def test_limits_that_are_none(name: str, value: Any) -> None:
    with pytest.raises(tx.TritonExtError, match=f"{name}: expected seconds above 0"):
        tx.autotune(CONFIGS, ["n"], **{name: value})


class Full(FileCacheManager):
    """A cache manager on a full disk."""

    error: Exception = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def put(self, data: Any, filename: str, binary: bool = True) -> Any:
        if filename.endswith(".tuning.json"):
            raise self.error
        return super().put(data, filename, binary)


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), LookupError("no such server")])
def test_a_cache_that_takes_nothing(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second error is one that another cache manager may raise."""
    monkeypatch.setattr(Full, "error", error)
    monkeypatch.setattr(triton.knobs.cache, "manager_class", Full)
    for _ in range(2):
        kernel = tx.autotune(CONFIGS, ["n"], pipelines=PIPELINES, do_bench=Bench(TIMES), cache_results=True, rounds=1)(
            scale
        )
        with pytest.warns(UserWarning, match="cannot be kept"):
            kernel[(1,)](ones(), standin.zeros(), n=32)
        assert kernel.best_config.pipeline == "fast"
        assert not kernel.tuning_report.cached


LIMITED = """
import resource, warnings
from support.tuning import standin
standin.activate()
from support.tuning import tuned
import triton_ext as tx
for limit in (None, 100):
    bench = standin.Bench(tuned.TIMES)
    options = {"pipelines": tuned.PIPELINES, "do_bench": bench, "cache_results": True, "rounds": 1}
    kernel = tx.autotune(tuned.CONFIGS, ["n"], **options)(tuned.scale)
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kernel[(1,)](tuned.ones(), standin.zeros(), n=32 if limit is None else 16)
    print(kernel.best_config.pipeline, sum("cannot be kept" in str(one.message) for one in caught))
"""


@pytest.mark.slow
def test_a_limit_of_file_sizes() -> None:
    done = forked_python.run([sys.executable, "-c", LIMITED])
    assert done.returncode == 0, done.stderr
    assert done.stdout == "fast 0\nfast 1\n"
