# SPDX-License-Identifier: Apache-2.0
"""Pipelines as a tuning dimension: which one is chosen, for which launches, and what happens to those that fail."""

from __future__ import annotations

import gc
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import triton
from triton import knobs

import support
import triton_ext as tx
from support import forked_python
from support.tuning import standin
from support.tuning.standin import Bench, Tensor, launches
from support.tuning.tuned import CONFIGS, PIPELINES, TIMES, accumulate, doubled, ones, renamed, scale
from triton_ext.tuning import Candidate, Report, TuningError


def tuned(bench: Bench | None = None, kernel: Any = scale, **options: Any) -> Any:
    options = {"pipelines": PIPELINES, "do_bench": bench or Bench(TIMES), "rounds": 1} | options
    return tx.autotune(CONFIGS, ["n"], **options)(kernel)


def launch(kernel: Any, n: int = 32) -> str:
    """Launches, and returns the name of the kernel that ran."""
    y = standin.zeros()
    kernel[(1,)](ones(), y, n)
    assert y.data[0] == 2
    return launches[-1][0]


@pytest.mark.slow
def test_each_configuration_is_tried_with_each_pipeline_and_the_best_is_launched() -> None:
    bench = Bench(TIMES)
    kernel = tuned(bench)
    assert launch(kernel) == "fast"
    assert bench.asked == [(name, block) for block in (32, 64, 128) for name in ("scale", "fast", "slow")]
    assert (kernel.best_config.kwargs, kernel.best_config.pipeline) == ({"BLOCK": 128}, "fast")
    assert kernel.best_pipeline is PIPELINES["fast"]
    assert launch(kernel) == "fast"
    assert launch(kernel, 64) == "fast"
    assert len(bench.asked) == 18
    assert knobs.runtime.add_stages_inspection_hook is None


def test_other_kernels_and_the_plain_pipeline_are_as_without_tuning() -> None:
    kernel = tuned(pipelines={"plain": tx.Pipeline()})
    launch(kernel)
    assert kernel.best_config.pipeline == "plain"
    tuned_kernel = kernel[(1,)](ones(), ones(), 32)
    plain = scale[(1,)](ones(), ones(), 32, BLOCK=64, num_warps=4, num_ctas=1, num_stages=3)
    assert plain is tuned_kernel  # it need not be compiled again
    assert launches[-1][0] == "scale"


@pytest.mark.slow
def test_what_is_tuned_inside_of_a_pipeline_holds_there_only() -> None:
    outer = tx.Pipeline().at_end("ttir", tx.passes.ttir.rename(old="fast", new="outer"))
    bench = Bench(TIMES | {("outer", block): 50.0 for block in (32, 64, 128)})
    kernel = tuned(bench)
    with outer:
        assert launch(kernel) == "scale"  # the outer pipeline edits the result of the inner one, and makes it slow
        assert kernel.tuning_report.outer == str(outer)
    assert launch(kernel) == "fast"
    assert len(bench.asked) == 18
    for _ in range(2):
        with outer:
            assert launch(kernel) == "scale"
        assert launch(kernel) == "fast"
        with tx.Pipeline().at_end("ttir", tx.passes.ttir.rename(old="fast", new="outer")):  # the same again
            assert launch(kernel) == "scale"
    outer.install()
    try:
        assert launch(kernel) == "scale"
    finally:
        outer.uninstall()
    assert launch(kernel) == "fast"
    assert len(bench.asked) <= 27  # installed is another scope, not another pipeline
    assert [report.outer for report in kernel.tuning_reports.values()] == [str(outer), ""]


@pytest.mark.slow
def test_a_hook_of_the_user_is_a_pipeline_too() -> None:
    bench = Bench(TIMES)
    kernel = tuned(bench)
    launch(kernel)
    for key in ("a", "b", "a"):
        knobs.runtime.add_stages_inspection_hook = lambda *args, key=key: (key, key)
        try:
            launch(kernel)
        finally:
            knobs.runtime.add_stages_inspection_hook = None
    assert len(bench.asked) == 27


@pytest.mark.slow
def test_use_above_and_below() -> None:
    other = tx.Pipeline().at_end("ttir", tx.passes.ttir.rename(old="scale", new="fast"))
    bench = Bench(TIMES)
    kernel = tuned(bench, pipelines={"plain": tx.Pipeline(), "again": renamed("slow", "scale")})
    copy = tx.use(other)(kernel)
    # Of the two, the inner one finds the kernel by its name.
    assert launch(copy) == "fast"
    assert (copy.best_config.pipeline, copy.best_config.kwargs["BLOCK"]) == ("plain", 128)
    assert not kernel.cache
    assert kernel.tuning_report is None
    assert not kernel.tuning_reports
    assert launch(kernel) == "scale"
    assert kernel.best_config.kwargs["BLOCK"] == 64
    assert copy.tuning_report.outer == str(other)

    below = tuned(bench, tx.use(other)(scale), pipelines={"plain": tx.Pipeline(), "again": renamed("slow", "fast")})
    assert launch(below) == "fast"
    assert launch(tx.use(tx.Pipeline())(copy)) == "fast"


@pytest.mark.slow
def test_pipelines_that_give_the_same_binary_are_measured_once() -> None:
    same = {
        "same": tx.Pipeline().skip("ttgpuir.coalesce_async_copy"),
        "fast too": renamed("fast").skip("ttgpuir.coalesce_async_copy"),
    }
    bench = Bench(TIMES)
    kernel = tuned(bench, pipelines=PIPELINES | same)
    assert launch(kernel) == "fast"
    assert kernel.best_config.pipeline == "fast"  # the first of its kind
    assert len(bench.asked) == 9
    rows = kernel.tuning_report.rows[:5]
    assert [row.same_as for row in rows] == ["", "", "", "plain", "fast"]
    assert rows[3].milliseconds == rows[0].milliseconds
    assert " plain = same " in str(kernel.tuning_report)
    assert len(kernel.configs_timings) == 15
    bench = Bench(TIMES)
    launch(tuned(bench, pipelines=PIPELINES | same, pre_hook=lambda arguments, reset_only=False: None))
    assert len(bench.asked) == 15  # a hook may have changed what is launched


def test_pruning_of_candidates() -> None:
    asked: list[Any] = []

    def prune(candidates: list[Candidate], named: dict[str, Any], **kwargs: Any) -> list[Candidate]:
        asked.append((named["n"], "grid" in kwargs))
        return [c for c in candidates if c.pipeline != "fast" or c.kwargs["BLOCK"] == 32]

    bench = Bench(TIMES)
    kernel = tuned(bench, prune_configs_by={"prune_candidates": prune})
    assert launch(kernel) == "fast"
    assert kernel.best_config.kwargs["BLOCK"] == 32
    assert asked == [(32, True)]
    assert len(bench.asked) == 7
    assert kernel.tuning_report.pruned == 2
    with pytest.raises(tx.TritonExtError, match="prune_candidates left nothing"):
        launch(tuned(prune_configs_by={"prune_candidates": lambda *args, **kwargs: []}))


def test_a_performance_model_may_rank_pipelines() -> None:
    def model(pipeline: str, BLOCK: int, **rest: Any) -> float:
        return BLOCK + 1000 * (pipeline != "slow")

    bench = Bench(TIMES)
    kernel = tuned(bench, prune_configs_by={"perf_model": model, "top_k": 2})
    launch(kernel)
    assert bench.asked == [("slow", 32), ("slow", 64)]
    bench = Bench(TIMES)
    kernel = tuned(bench, prune_configs_by={"perf_model": lambda BLOCK, **rest: BLOCK, "top_k": 2})
    launch(kernel)
    assert bench.asked == [(name, block) for block in (32, 64) for name in ("scale", "fast", "slow")]


@pytest.mark.slow
def test_what_fails_is_reported_and_left_out() -> None:
    failing = {
        "crash": renamed("crash"),
        "greedy": renamed("greedy"),
        "wrong": renamed("wrong"),
        "nowhere": tx.Pipeline().skip("ttgpuir.no_such_pass"),
        "1st": renamed("1st"),
        "python": tx.Pipeline().at_end("ttir", boom),
    }
    kernel = tuned(kernel=triton.jit(scale.fn), pipelines=PIPELINES | failing, reference=doubled)
    assert launch(kernel) == "fast"
    report = kernel.tuning_report
    ended = {row.pipeline: (row.status, row.summary) for row in report.rows}
    assert {name: status for name, (status, _) in ended.items()} == {
        **dict.fromkeys(PIPELINES, "ok"),
        "crash": "launch error",
        "greedy": "out of resources",
        "wrong": "wrong result",
        "nowhere": "compile error",
        "1st": "compile error",
        "python": "compile error",
    }
    assert "illegal memory access" in ended["crash"][1]
    assert "Required: 300000" in ended["greedy"][1]
    assert ended["wrong"][1].startswith("y: Mismatched elements: 256 / 256")
    assert "no pass 'ttgpuir.no_such_pass'" in ended["nowhere"][1]
    assert "boom" in ended["python"][1]
    assert [row.pipeline for row in report.rows if row.milliseconds] == list(PIPELINES) * 3
    assert all(row.compile_seconds for row in report.rows if row.status != "compile error")
    assert kernel.configs_timings[Candidate(CONFIGS[0], "crash", failing["crash"])] == [float("inf")] * 3


def boom(module: Any) -> None:
    raise ValueError("boom")


@pytest.mark.slow
def test_if_all_fail_the_error_says_why_each_did_and_nothing_is_remembered() -> None:
    pipelines = {"crash": renamed("crash"), "nowhere": tx.Pipeline().skip("no.where"), "wrong": renamed("wrong")}
    kernel = tuned(pipelines=pipelines, reference=doubled, cache_results=True)
    for _ in range(2):
        with pytest.raises(TuningError) as error:
            launch(kernel)
        text = str(error.value)
        assert "scale: each of 9 candidates failed" in text
        for part in ("launch error: RuntimeError", "compile error: 'skip(no.where)'", "wrong result: y: Mismatched"):
            assert text.count(part) == 1
        assert "crash with BLOCK: 32" in text
        assert error.value.report is kernel.tuning_report
        assert error.value.report.best is None
        assert isinstance(error.value.__cause__, Exception)
    assert not kernel.cache


def test_a_kernel_that_does_not_compile_at_all() -> None:
    @triton.jit
    def broken(x, y, n, BLOCK: triton.language.constexpr):
        triton.language.store(y, undefined_name)  # noqa: F821

    with pytest.raises(TuningError, match=r"compile error: (\S+: )?.*undefined_name is not defined"):
        launch(tuned(kernel=broken))


# Checks


@pytest.mark.slow
def test_results_of_an_earlier_launch_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that writes nothing is wrong even if the right values are there already."""
    compute = standin.scale

    def lazy(arguments: dict[str, Any], factor: int) -> None:
        if launches[-1][0] != "slow":
            compute(arguments, factor)

    monkeypatch.setitem(standin.COMPUTE, "scale", lazy)
    for dtype in ("float32", "int32"):
        kernel = tuned(reference=doubled)
        x, y = Tensor(np.ones(256, dtype)), Tensor(np.full(256, 2, dtype))
        kernel[(1,)](x, y, 32)
        assert {r.pipeline for r in kernel.tuning_report.rows if r.status == "wrong result"} == {"slow"}


@pytest.mark.slow
def test_arguments_are_as_they_were_after_checks() -> None:
    seen: list[np.ndarray] = []

    def reference(arguments: dict[str, Any]) -> dict[str, Any]:
        seen.append(arguments["y"].data.copy())
        return {"y": arguments["y"].data + 2 * arguments["x"].data}

    wrong = {"plain": tx.Pipeline(), "wrong": renamed("wrong", "accumulate")}
    kernel = tuned(kernel=accumulate, pipelines=wrong, restore_value=["y"], reference=reference)
    x, y = ones(), Tensor(np.full(256, 5, "float32"))
    kernel[(1,)](x, y, 32)
    assert y.data[0] == 7
    assert seen[0][0] == 5
    assert [r.status for r in kernel.tuning_report.rows] == ["ok", "wrong result"] * 3

    failing = tuned(pipelines={"crash": renamed("crash")}, reference=doubled)
    y = Tensor(np.full(256, 5, "float32"))
    with pytest.raises(TuningError):
        failing[(1,)](x, y, 32)
    assert (y.data == 5).all()


@pytest.mark.slow
@pytest.mark.parametrize("raises", [True, False])
def test_check(raises: bool) -> None:
    def check(arguments: dict[str, Any]) -> bool | None:
        right = (arguments["y"].data == 2).all()
        assert right or not raises, "y is not 2"
        assert {"x", "y", "n", "BLOCK", "num_warps"} <= set(arguments)
        return None if right else False

    kernel = tuned(pipelines=PIPELINES | {"wrong": renamed("wrong")}, check=check)
    launch(kernel)
    reasons = {row.reason for row in kernel.tuning_report.rows if row.status == "wrong result"}
    (reason,) = reasons
    assert reason.startswith("y is not 2" if raises else "check returned False")


def test_tolerance_and_mistakes_in_references() -> None:
    def near(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"y": 2.01 * arguments["x"].data}

    with pytest.raises(TuningError):
        launch(tuned(reference=near))
    assert launch(tuned(reference=near, tolerance=(0.01, 0.0))) == "fast"
    with pytest.raises(tx.TritonExtError, match="'n' is not a tensor"):
        launch(tuned(reference=lambda arguments: {"n": 3}))


@pytest.mark.slow
def test_pytorch_tensors() -> None:
    torch = pytest.importorskip("torch")
    from triton_ext.tuning.check import Checker

    arguments = {"y": torch.ones(8, dtype=torch.float16), "i": torch.zeros(8, dtype=torch.int64)}
    expected = {"y": torch.full((8,), 2.0), "i": np.arange(8)}
    checker = Checker(lambda _: expected, None, None, set(), arguments)
    checker.spoil()
    assert "Mismatched elements: 8 / 8" in (checker.problem(arguments) or "")
    arguments["y"].fill_(2)
    assert (checker.problem(arguments) or "").startswith("i: Mismatched")
    arguments["i"].copy_(torch.arange(8))
    assert checker.problem(arguments) is None
    checker.restore()
    assert arguments["y"].tolist() == [1] * 8
    assert arguments["i"].tolist() == [0] * 8


# Compilation


@pytest.mark.slow
def test_candidates_are_compiled_in_threads_before_any_is_measured() -> None:
    threads: set[str] = set()

    def note(module: Any) -> None:
        threads.add(threading.current_thread().name)
        time.sleep(0.05)

    note.cache_key = "note"  # type: ignore[attr-defined]
    where = tx.Pipeline().at_end("ttir", note)
    kernel = tuned(pipelines={"a": where, "b": where + renamed("fast")}, workers=2)
    launch(kernel)
    assert len(threads) == 2
    assert all(name.startswith("triton-ext-tuning") for name in threads)
    threads.clear()
    kernel = tuned(pipelines={"a": where.skip("common.cse"), "b": where + renamed("fast")}, workers=0)
    launch(kernel)
    assert threads == {"MainThread"}


def test_within_asynchronous_compilation() -> None:
    from concurrent.futures import ThreadPoolExecutor

    from triton.runtime._async_compile import AsyncCompileMode

    kernel = tuned()
    with ThreadPoolExecutor(2) as executor, AsyncCompileMode(executor):
        assert launch(kernel) == "fast"
        assert [k.name for k in kernel.warmup(ones(), ones(), 32, grid=(1,))] == ["scale", "fast", "slow"] * 3


@pytest.mark.slow
def test_warmup_compiles_every_candidate_that_can_be_compiled() -> None:
    kernel = tuned(pipelines={"plain": tx.Pipeline(), "nowhere": tx.Pipeline().skip("no.where")})
    assert [k.name for k in kernel.warmup(ones(), ones(), 32, grid=(1,))] == ["scale"] * 3
    assert not launches
    with pytest.raises(TuningError, match="each of 3 candidates failed"):
        tuned(pipelines={"nowhere": tx.Pipeline().skip("no.where")}).warmup(ones(), ones(), 32, grid=(1,))


def test_threads_that_launch_at_once_tune_once() -> None:
    bench = Bench(TIMES)
    kernel = tuned(bench)
    barrier = threading.Barrier(3)

    def work() -> None:
        barrier.wait()
        kernel[(1,)](ones(), standin.zeros(), 32)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(bench.asked) == 9


# Interruption


def test_an_interrupt_while_measuring_leaves_everything_as_it_was() -> None:
    class Interrupted(Bench):
        def __call__(self, fn: Any, quantiles: Any = None) -> list[float]:
            result = super().__call__(fn, quantiles)
            if len(self.asked) == 4:
                raise KeyboardInterrupt
            return result

    kernel = tuned(Interrupted(TIMES), reference=doubled, cache_results=True)
    y = standin.zeros()
    with pytest.raises(KeyboardInterrupt):
        kernel[(1,)](ones(), y, 32)
    assert (y.data == 0).all()
    assert not kernel.cache
    assert kernel.tuning_report is None
    assert launch(kernel) == "fast"


@pytest.mark.slow
def test_an_interrupt_in_the_kernel_restores_its_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(arguments: dict[str, Any], factor: int) -> None:
        arguments["y"].data += 1
        raise KeyboardInterrupt

    monkeypatch.setitem(standin.COMPUTE, "accumulate", interrupted)
    kernel = tuned(kernel=accumulate, restore_value=["y"])
    y = ones()
    with pytest.raises(KeyboardInterrupt):
        kernel[(1,)](ones(), y, 32)
    assert y.data[0] == 1


PROGRAM = """
import sys, threading, time
from support.tuning import standin, tuned
import triton_ext as tx
standin.activate()
def slow(module):
    if not quick:
        print("compiling", flush=True)
        time.sleep(5)
slow.cache_key = "slow"
quick = False
kernel = tx.autotune(tuned.CONFIGS, ["n"], pipelines={"a": tx.Pipeline().at_end("ttir", slow), "b": tx.Pipeline()},
                     do_bench=standin.Bench(), workers=1, progress=False)(tuned.scale)
try:
    kernel[(1,)](tuned.ones(), tuned.ones(), 32)
except KeyboardInterrupt:
    print("interrupted", flush=True)
quick = True
kernel[(1,)](tuned.ones(), tuned.ones(), 32)
print(kernel.tuning_report.rows[0].status, len(kernel.tuning_report.rows), flush=True)
"""


@pytest.mark.slow
def test_ctrl_c_while_compiling() -> None:
    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=support.environment()
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "compiling\n"
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - begin < 4, "it waited for the compilation"
        assert process.stdout.readline() == "ok 6\n", process.stderr.read()
        assert process.wait() == 0


# What is shown


@pytest.fixture
def printing() -> Iterator[None]:
    knobs.autotuning.print = True
    yield
    knobs.autotuning.print = False


@pytest.mark.slow
def test_the_table_is_printed_on_request(printing: None, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = tuned(kernel=triton.jit(scale.fn), pipelines=PIPELINES | {"nowhere": tx.Pipeline().skip("no.where")})
    launch(kernel)
    shown = capsys.readouterr().out
    assert "best config selected: BLOCK: 128, num_warps: 4" in shown  # Triton's line
    lines = [line.split() for line in shown.splitlines()]
    assert next(line for line in lines if line[:1] == ["1"])[3] == "fast"
    assert "3 failed" in shown
    assert "compile error: 'skip(no.where)': no pass 'no.where'" in shown


@pytest.mark.slow
def test_the_report_as_an_object(capsys: pytest.CaptureFixture[str]) -> None:
    kernel = tuned(kernel=triton.jit(scale.fn), pipelines=PIPELINES | {"crash": renamed("crash")})
    launch(kernel)
    assert capsys.readouterr() == ("", "")
    report = kernel.tuning_report
    assert Report.from_dict(json.loads(report.to_json())) == report
    assert (report.kernel, report.device, report.pruned, report.cached) == ("scale", "cuda:90", 0, False)
    assert report.rows[report.best].milliseconds == pytest.approx((1.0, 0.9, 1.1))
    text = str(report)
    assert text.splitlines()[0].startswith("scale on cuda:90, key (32, 'float32', 'float32'): 12 tried in ")
    assert text.splitlines()[1] == "all with num_warps: 4, num_stages: 3"
    assert [line.split()[3] for line in text.splitlines()[3:12]].index("fast") == 0


@pytest.mark.slow
def test_progress_on_a_terminal_only(capfd: pytest.CaptureFixture[str]) -> None:
    launch(tuned())
    assert capfd.readouterr().err == ""
    mother, child = pty.openpty()
    program = "import triton_ext as tx; from support.tuning import standin, tuned; standin.activate(); "
    program += "k = tx.autotune(tuned.CONFIGS, ['n'], do_bench=standin.Bench())(tuned.scale); "
    program += "k[(1,)](tuned.ones(), tuned.ones(), 32); print('done')"
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=child, text=True, check=True,
        env=support.environment(TERM="xterm"),
    )  # fmt: skip
    os.close(child)
    shown = os.read(mother, 100_000).decode()
    os.close(mother)
    assert done.stdout == "done\n"
    for part in ("compiling scale", "measuring scale", "3/6"):
        assert part in shown


# Making pipelines


def test_sweep() -> None:
    pipelines = tx.sweep("ttgpuir.pipeline", num_stages=[2, 3])
    assert {name: str(p) for name, p in pipelines.items()} == {
        "pipeline(num_stages=2)": "set(ttgpuir.pipeline, num_stages=2)",
        "pipeline(num_stages=3)": "set(ttgpuir.pipeline, num_stages=3)",
    }
    grid = tx.sweep("ttgir:ttgpuir.pipeline#1", num_stages=[2, 3], dump=[True, False])
    assert list(grid)[:2] == ["pipeline#1(num_stages=2, dump=true)", "pipeline#1(num_stages=2, dump=false)"]
    assert len(grid) == 4
    made = tx.sweep(renamed, new=["a", "b"])
    assert list(made) == ["new=a", "new=b"]
    assert str(made["new=b"]) == "ttir: at_end(rename{new=b old=scale})"


def test_product() -> None:
    both = tx.product(
        {"plain": tx.Pipeline(), "fast": renamed("fast")},
        {"default": tx.Pipeline()} | tx.sweep("ttgpuir.pipeline", num_stages=[2, 3]),
    )
    assert list(both) == [
        "plain",
        "pipeline(num_stages=2)",
        "pipeline(num_stages=3)",
        "fast",
        "fast + pipeline(num_stages=2)",
        "fast + pipeline(num_stages=3)",
    ]
    assert both["fast + pipeline(num_stages=3)"] == renamed("fast").set("ttgpuir.pipeline", num_stages=3)


def test_mistakes_in_pipelines() -> None:
    for pipelines, message in (
        ({}, "expected pipelines by name"),
        ([tx.Pipeline()], "expected pipelines by name"),
        ({"": tx.Pipeline()}, "expected a name"),
        ({"a": "ttir: skip(x)"}, "'a': expected a Pipeline"),
    ):
        with pytest.raises(tx.PipelineError, match=message):
            tuned(pipelines=pipelines)
    with pytest.raises(tx.PipelineError, match="nothing to try for 'num_stages'"):
        tx.sweep("ttgpuir.pipeline", num_stages=[])
    with pytest.raises(tx.PipelineError, match="nothing to try"):
        tx.sweep("ttgpuir.pipeline")
    with pytest.raises(tx.PipelineError, match="is not an anchor"):
        tx.sweep("no anchor", n=[1])
    with pytest.raises(tx.PipelineError, match="n=1: expected a Pipeline"):
        tx.sweep(lambda n: n, n=[1])  # type: ignore[arg-type, return-value]
    two, three = (tx.sweep("ttgpuir.pipeline", num_stages=[n]) for n in (2, 3))
    with pytest.raises(tx.PipelineError, match="is set twice"):
        tx.product(two, three)


def test_the_inspection_tools_look_through() -> None:
    kernel = tuned()
    record = tx.describe(kernel, target="cuda:90", signature={"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": 64})
    assert record.kernel == "scale"


def test_a_launch_of_a_tuned_kernel_costs_little() -> None:
    """Compares the number of function calls with Triton's autotuner; benchmarks/tuning.py measures the times."""
    theirs = triton.autotune(CONFIGS, ["n"], do_bench=Bench(TIMES))(scale)
    calls = {}
    x, y = ones(), ones()
    for name, kernel in {"triton": theirs, "plain": tuned(pipelines=None), "pipelines": tuned()}.items():
        seen: list[str] = []
        for _ in range(3):  # the first tunes
            kernel[(1,)](x, y, 32)
        gc.disable()  # what it calls counts, too
        sys.setprofile(lambda _frame, event, _argument, seen=seen: seen.append(event))
        try:
            kernel[(1,)](x, y, 32)
        finally:
            sys.setprofile(None)
            gc.enable()
        calls[name] = seen.count("call") + seen.count("c_call")
    assert calls["plain"] < calls["triton"] + 10, calls
    assert calls["pipelines"] < calls["triton"] + 40, calls


INTERPRETED = """
import torch, triton, triton.language as tl
import triton_ext as tx

asked = []

def bench(fn, quantiles):
    fn()
    asked.append(fn.config.pipeline)
    return [0.5 if len(asked) == 2 else 1.0] * 3

@tx.autotune([triton.Config({"BLOCK": b}) for b in (4, 8)], ["n"], do_bench=bench, cache_results=True,
             pipelines={"a": tx.Pipeline(), "b": tx.Pipeline().skip("common.cse")},
             reference=lambda arguments: {"y": 2 * arguments["x"]})
@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)

x = torch.ones(8)
y = torch.zeros(8)
double[lambda meta: (triton.cdiv(8, meta["BLOCK"]),)](x, y, 8)
double.warmup(x, y, 8, grid=(1,))
print(asked, double.best_config.pipeline, y.sum().item(), double.tuning_report.device)
"""


@pytest.mark.slow
def test_interpreted(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    program = tmp_path / "interpreted.py"
    program.write_text(INTERPRETED)
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    done = forked_python.run([sys.executable, program], env=environment)
    assert done.returncode == 0, done.stderr
    asked = done.stdout.split(" b ")
    assert asked[0] == "['a', 'b', 'a', 'b']"
    assert asked[1].startswith("16.0 ")


@pytest.mark.slow
def test_copies_that_are_tuned_at_once_share_compilations() -> None:
    kernels = [tuned(kernel=scale) for _ in range(3)]
    problems: list[BaseException] = []

    def work(kernel: Any) -> None:
        try:
            kernel[(1,)](ones(), standin.zeros(), 32)
        except BaseException as error:
            problems.append(error)

    fresh = triton.jit(scale.fn)
    for kernel in kernels:
        kernel.fn = fresh
    threads = [threading.Thread(target=work, args=(kernel,)) for kernel in kernels]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert all(row.status == "ok" for kernel in kernels for row in kernel.tuning_report.rows)
