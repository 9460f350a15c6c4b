# SPDX-License-Identifier: Apache-2.0
"""Tuning results on disk are found again if, and only if, nothing that matters has changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import triton
from triton.runtime import driver

import support
import triton_ext as tx
from support import forked_python
from support.tuning import standin
from support.tuning.standin import Bench, launches
from support.tuning.tuned import CONFIGS, PIPELINES, TIMES, doubled, ones, renamed, scale
from triton_ext.tuning import store


def measured(configs: Any = CONFIGS, n: int = 32, kernel: Any = scale, **options: Any) -> int:
    """Tunes a new kernel, and returns how many candidates were measured."""
    bench = Bench(TIMES)
    options = {"pipelines": PIPELINES, "cache_results": True, "rounds": 1} | options
    made = tx.autotune(configs, ["n"], do_bench=bench, **options)(kernel)
    y = standin.zeros()
    made[(1,)](ones(), y, n)
    assert y.data[0] == 2
    assert made.tuning_report.cached == (not bench.asked)
    if "pipelines" in options and options["pipelines"] is PIPELINES:
        assert launches[-1][0] == ("fast" if made.tuning_report.outer == "" else "scale")
    return len(bench.asked)


def files(cache: Path) -> list[Path]:
    return sorted(cache.rglob("*.tuning.json"))


def test_the_second_time_nothing_is_measured(kernel_cache: Path) -> None:
    assert [measured(), measured()] == [9, 0]
    assert len(files(kernel_cache)) == 1
    assert [measured(n=64), measured(n=64), measured()] == [9, 0, 0]
    assert measured(cache_results=False) == 9
    assert not [path for path in kernel_cache.rglob("*tmp*") if path.is_file()]


def test_the_environment_turns_it_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton.knobs.autotuning, "cache", True)
    assert [measured(cache_results=False), measured(cache_results=False)] == [9, 0]


def other(module: Any) -> None:
    """Is a pass in Python."""


@pytest.mark.slow
def test_whatever_matters_is_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(arguments: dict[str, Any]) -> bool:
        return True

    def hook(arguments: dict[str, Any]) -> None:
        pass

    assert measured() == 9
    different: list[dict[str, Any]] = [
        {"configs": CONFIGS[:2]},
        {"configs": [*CONFIGS[:2], triton.Config({"BLOCK": 128}, num_warps=8)]},
        {"configs": [triton.Config(c.kwargs, pre_hook=hook) for c in CONFIGS]},
        {"pipelines": PIPELINES | {"slow": renamed("slower")}},
        {"pipelines": PIPELINES | {"slow": tx.Pipeline().at_end("ttir", other)}},
        {"reference": doubled},
        {"reference": doubled, "tolerance": (0.1, 0.1)},
        {"check": check},
    ]
    for options in different:
        first = measured(**options)
        assert first >= 6, options
        assert measured(**options) == 0, options
    assert measured() == 0
    with tx.Pipeline().at_end("ttir", tx.passes.ttir.rename(old="fast", new="outer")):
        assert [measured(), measured()] == [9, 0]
    with monkeypatch.context() as patch:
        patch.setattr(driver, "_active", standin.Driver(80))
        assert [measured(kernel=triton.jit(scale.fn)), measured(kernel=triton.jit(scale.fn))] == [9, 0]
    with monkeypatch.context() as patch:  # of two chips with one architecture, which is fastest may differ
        named = SimpleNamespace(get_device_name=lambda: "H200", synchronize=lambda: None)
        patch.setattr(standin.Driver, "get_device_interface", lambda self: named, raising=False)
        assert [measured(), measured()] == [9, 0]
    with monkeypatch.context() as patch:
        patch.setenv("TRITON_ENABLE_LLVM_DEBUG", "0" if os.environ.get("TRITON_ENABLE_LLVM_DEBUG") != "0" else "1")
        assert measured() in (0, 9)  # Triton says which variables matter
    assert measured() == 0


@pytest.mark.slow
def test_the_source_of_the_kernel_matters() -> None:
    namespace: dict[str, Any] = {}

    @triton.jit
    def scale(x, y, n, BLOCK: triton.language.constexpr):
        i = triton.language.arange(0, BLOCK)
        triton.language.store(y + i, 2.0 * triton.language.load(x + i, mask=i < n), mask=i < n)

    del namespace
    assert [measured(), measured(kernel=scale), measured(kernel=scale), measured()] == [9, 9, 0, 0]


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: "[]",
        lambda text: "{}",
        lambda text: "\x00" * 100,
        lambda text: text.replace('"best": 7', '"best": 6'),
        lambda text: text.replace('"ok"', '"OK"'),
        lambda text: json.dumps(json.loads(text) | {"report": 3}),
    ],
)
def test_a_damaged_file_is_ignored_and_written_anew(kernel_cache: Path, damage: Callable[[str], str]) -> None:
    measured()
    (file,) = files(kernel_cache)
    good = file.read_text()
    assert damage(good) != good
    file.write_text(damage(good))
    assert [measured(), measured()] == [9, 0]
    assert files(kernel_cache) == [file]
    assert json.loads(file.read_text()).keys() == {"sha256", "report"}


def test_a_file_that_cannot_be_read_or_written(kernel_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured()
    (file,) = files(kernel_cache)
    file.unlink()
    file.mkdir()  # root may read and write anything else
    with pytest.warns(UserWarning, match="the tuning results of 'scale' cannot be kept"):
        assert measured() == 9


@pytest.mark.slow
def test_failures_are_kept_too(kernel_cache: Path) -> None:
    options: dict[str, Any] = {"pipelines": {"plain": tx.Pipeline(), "wrong": renamed("wrong")}, "reference": doubled}
    assert [measured(**options), measured(**options)] == [3, 0]
    kernel = tx.autotune(CONFIGS, ["n"], cache_results=True, do_bench=Bench(TIMES), **options)(scale)
    kernel[(1,)](ones(), ones(), 32)
    assert kernel.tuning_report.cached
    assert [row.status for row in kernel.tuning_report.rows] == ["ok", "wrong result"] * 3
    assert kernel.tuning_report.rows[1].reason.startswith("y: Mismatched")


def test_functions_that_cannot_be_told_apart_keep_nothing(kernel_cache: Path) -> None:
    something = threading.Lock()

    def check(arguments: dict[str, Any]) -> bool:
        return something is not None

    assert [measured(check=check), measured(check=check)] == [9, 9]
    assert not files(kernel_cache)


PROGRAM = """
import sys
from support.tuning import standin, tuned
import triton_ext as tx
standin.activate()
bench = standin.Bench(tuned.TIMES)
pipelines = {"plain": tx.Pipeline()}
for name in sys.argv[1:]:
    pipelines[name] = tx.Pipeline().at_end("ttir", getattr(tx.passes.ttir, name)())
kernel = tx.autotune(tuned.CONFIGS, ["n"], pipelines=pipelines, do_bench=bench, cache_results=True)(tuned.scale)
kernel[(1,)](tuned.ones(), tuned.ones(), 32)
print(len(bench.asked), standin.launches[-1][0])
"""


def in_process(*names: str) -> str:
    done = forked_python.run([sys.executable, "-c", PROGRAM, *names], env=support.environment())
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
def test_processes_share_results_until_a_library_is_rebuilt(install_stamp: Callable[[str], None]) -> None:
    install_stamp("v1")
    assert in_process("stamp") == "6 scale"
    assert in_process("stamp") == "0 scale"
    assert in_process() == "3 scale"
    install_stamp("v2")
    assert in_process("stamp") == "6 scale"
    assert in_process() == "0 scale"
    install_stamp("v1")
    assert in_process("stamp") == "0 scale"


@pytest.mark.slow
def test_a_process_notices_that_a_library_was_rebuilt(install_stamp: Callable[[str], None]) -> None:
    install_stamp("v1")
    times = TIMES | {("scale_v1", block): 50.0 for block in (32, 64, 128)}
    times |= {("scale_v2", block): 1.0 for block in (32, 64, 128)}
    bench = Bench(times)
    pipelines = {"plain": tx.Pipeline(), "stamp": tx.Pipeline().at_end("ttir", tx.passes.ttir.stamp())}
    kernel = tx.autotune(CONFIGS, ["n"], pipelines=pipelines, do_bench=bench, rounds=1)(scale)
    kernel[(1,)](ones(), ones(), 32)
    assert launches[-1][0] == "scale"
    install_stamp("v2")
    time.sleep(0.6)
    kernel[(1,)](ones(), ones(), 32)
    assert launches[-1][0] == "scale_v2"
    assert len(bench.asked) == 12
    kernel[(1,)](ones(), ones(), 32)
    assert len(bench.asked) == 12


@pytest.mark.slow
def test_two_processes_at_once(kernel_cache: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, "rename"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=support.environment()) for _ in range(2)]
    for process in both:
        output, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        assert output.split()[1] == "scale"
    assert len(files(kernel_cache)) == 1
    assert in_process("rename").split()[0] == "0"


NONSENSE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "negative time": lambda r: r["rows"][r["best"]].update(milliseconds=[-1.0]),
    "infinite time": lambda r: r["rows"][r["best"]].update(milliseconds=[float("inf")]),
    "no time": lambda r: r["rows"][r["best"]].update(milliseconds=[float("nan")]),
    "status": lambda r: r["rows"][0].update(status="excellent"),
    "best of others": lambda r: r.update(best=-1),
    "too far": lambda r: r.update(best=len(r["rows"])),
    "true": lambda r: r.update(best=True),
    "not the fastest": lambda r: r.update(best=max(range(9), key=lambda i: r["rows"][i]["milliseconds"])),
    "kernel": lambda r: r.update(kernel="another"),
    "texts": lambda r: r["rows"][0].update(milliseconds=["1"]),
    "duration": lambda r: r.update(seconds=-1.0),
    "measured": lambda r: r["rows"][0].update(measured=0),
    "more": lambda r: r.update(more=1),
    "failed with times": lambda r: r["rows"][0].update(status="launch error"),
}


@pytest.mark.parametrize("what", NONSENSE)
def test_a_report_that_cannot_be_is_a_miss(what: str, kernel_cache: Path) -> None:
    """The checksum is right, as in a file that somebody has forged."""
    assert measured() == 9
    (path,) = files(kernel_cache)
    report = json.loads(path.read_text())["report"]
    NONSENSE[what](report)
    path.write_text(json.dumps({"sha256": store._checksum(report), "report": report}))
    assert measured() == 9


def test_a_report_that_is_a_pipe_is_not_waited_for(kernel_cache: Path) -> None:
    assert measured() == 9
    (path,) = files(kernel_cache)
    path.unlink()
    os.mkfifo(path)
    assert measured() == 9


@pytest.mark.parametrize(
    "wrong",
    [
        {"seconds": 10**400},
        {"seconds": float("inf")},
        {"pruned": -5},
        {"pruned": 10**400},
        *({"rows": {"milliseconds": [time]}} for time in (10**400, 0.0, -1.0, 1e300, float("nan"))),
        {"rows": {"compile_seconds": 10**309}},
        {"rows": {"measured": 10**400}},
        {"rows": {"measured": 0}},
        {"rows": {"reason": "\ud800"}},
    ],
    ids=lambda wrong: str(wrong)[:40],
)
def test_a_report_that_says_what_cannot_be(wrong: dict[str, Any], kernel_cache: Path) -> None:
    """The file counts as a miss, although its checksum is right."""
    assert measured() == 9
    [file] = files(kernel_cache)
    report = json.loads(file.read_text())["report"]
    rows = [{**row, **wrong.get("rows", {})} for row in report["rows"]]
    report = {**report, **wrong, "rows": rows}
    file.write_text(json.dumps({"sha256": store._checksum(report), "report": report}))
    assert [measured(), measured()] == [9, 0]


def test_a_cache_manager_that_cannot_be_asked(monkeypatch: pytest.MonkeyPatch, kernel_cache: Path) -> None:
    def fail(entry: str) -> Any:
        raise LookupError("no such server")

    monkeypatch.setattr(store, "_manager", fail)
    with pytest.warns(UserWarning, match="no such server"):
        assert measured() == 9
