# SPDX-License-Identifier: Apache-2.0
"""No check is switched off by accident, and a user's own mistake is reported as such, as early as possible."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import triton_ext as tx
from support.tuning import standin
from support.tuning.standin import Bench, Tensor
from support.tuning.tuned import CONFIGS, TIMES, doubled, ones, remote, renamed, scale
from triton_ext.tuning import TuningError
from triton_ext.tuning.check import Checker

PLAIN = {"plain": tx.Pipeline()}
WRONG = {"wrong": renamed("wrong")}


def tuned(configs: Any = CONFIGS, **options: Any) -> Any:
    return tx.autotune(configs, ["n"], **{"do_bench": Bench(TIMES), "rounds": 1} | options)(scale)


def launch(kernel: Any) -> list[str]:
    """Launches, and returns how the candidates ended."""
    y = standin.zeros()
    kernel[(1,)](ones(), y, 32)
    assert y.data[0] == 2
    return [row.status for row in kernel.tuning_report.rows]


# References


def in_place(arguments: dict[str, Any]) -> dict[str, Any]:
    arguments["y"].data[...] = 2 * arguments["x"].data
    return {"y": arguments["y"]}


def as_array(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"y": in_place(arguments)["y"].data}


def rebound(arguments: dict[str, Any]) -> dict[str, Any]:
    arguments["y"] = Tensor(2 * arguments["x"].data)
    return {"y": arguments["y"]}


@pytest.mark.parametrize("reference", [in_place, as_array, rebound])
@pytest.mark.parametrize("options", [{}, {"restore_value": ["y"]}, {"reset_to_zero": ["y"]}])
def test_a_reference_that_works_in_place(reference: Callable[..., Any], options: dict[str, Any]) -> None:
    kernel = tuned(CONFIGS[:1], pipelines=PLAIN | WRONG, reference=reference, **options)
    assert launch(kernel) == ["ok", "wrong result"]


def careless(arguments: dict[str, Any]) -> dict[str, Any]:
    expected = in_place(arguments)
    arguments["x"].zero_()
    return expected


def careless_to_the_end(arguments: dict[str, Any]) -> dict[str, Any]:
    return careless(careless(arguments))  # there is no "x" in the inner one's answer


@pytest.mark.parametrize("reference", [careless, careless_to_the_end])
@pytest.mark.parametrize("options", [{}, {"restore_value": ["y"]}])
def test_a_reference_leaves_no_trace(reference: Callable[..., Any], options: dict[str, Any]) -> None:
    x, y = ones(), ones()
    with pytest.raises(tx.TritonExtError, match="wrong result" if reference is careless else "raised KeyError: 'x'"):
        tuned(CONFIGS[:1], pipelines=WRONG, reference=reference, **options)[(1,)](x, y, 32)
    assert (x.data == 1).all()
    assert (y.data == 1).all()


def test_a_reference_that_returns_its_argument() -> None:
    with pytest.raises(TuningError, match="wrong result"):
        launch(tuned(reference=lambda arguments: {"y": arguments["y"]}))


@pytest.mark.slow
@pytest.mark.parametrize("how", ["out", "view", "array"])
def test_a_reference_that_shares_memory_with_an_argument_of_pytorch(how: str) -> None:
    torch = pytest.importorskip("torch")

    def reference(arguments: dict[str, Any]) -> dict[str, Any]:
        y = torch.sum(arguments["x"], 1, out=arguments["y"])
        return {"y": {"out": y, "view": y[:], "array": y.numpy()}[how]}

    arguments = {"x": torch.ones(8, 1).expand(8, 4), "y": torch.full((8,), 7.0)}
    checker = Checker(reference, None, None, set(), arguments)
    assert arguments["y"].tolist() == [7] * 8
    arguments["y"].fill_(42)
    assert (checker.problem(arguments) or "").startswith("y: Mismatched elements: 8 / 8")
    arguments["y"].fill_(4)
    assert checker.problem(arguments) is None
    checker.restore()
    assert arguments["y"].tolist() == [7] * 8


# One candidate


def first(configs: list[Any], named: dict[str, Any], **rest: Any) -> list[Any]:
    return configs[:1]


@pytest.mark.parametrize(
    "options", [{"configs": CONFIGS[:1]}, {"prune_configs_by": {"early_config_prune": first}}, {"configs": []}]
)
def test_one_candidate_is_checked(options: dict[str, Any]) -> None:
    size = {} if options.get("configs") != [] else {"BLOCK": 64}
    y = standin.zeros()
    with_reference = tuned(reference=doubled, cache_results=True, **options)
    again = tuned(reference=doubled, cache_results=True, **options)
    for kernel, cached in ((with_reference, False), (again, True)):
        kernel[(1,)](ones(), y, 32, **size)
        assert [row.status for row in kernel.tuning_report.rows] == ["ok"]
        assert kernel.tuning_report.cached == cached
        kernel[(1,)](ones(), y, 32, **size)
        assert len(kernel._do_bench.asked) == 1 - cached
    wrong = tuned(pipelines=WRONG, check=lambda arguments: arguments["y"].data[0] == 2, **options)
    with pytest.raises(TuningError, match="scale: the only candidate failed\n  wrong result: check returned"):
        wrong[(1,)](ones(), y, 32, **size)
    assert wrong.tuning_report.best is None
    unchecked = tuned(**options)
    unchecked[(1,)](ones(), y, 32, **size)
    assert unchecked.tuning_report is None  # as Triton does it


# Mistakes


def raises_key_error(arguments: dict[str, Any]) -> Any:
    return arguments["nope"]


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        (raises_key_error, "check raised KeyError: 'nope'"),
        (
            lambda arguments: arguments["y"].data == 2,
            "check returned ndarray, expected True, False or None (fix: (...).all())",
        ),
    ],
)
def test_a_check_that_fails_itself(check: Callable[..., Any], reason: str) -> None:
    kernel = tuned(check=check)
    with pytest.raises(TuningError) as error:
        launch(kernel)
    assert {(row.status, row.reason) for row in kernel.tuning_report.rows} == {("check error", reason)}
    assert isinstance(error.value.__cause__.__cause__, KeyError | ValueError)  # the part that the user needs


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (raises_key_error, "reference raised KeyError: 'nope'"),
        (lambda arguments: None, "reference: expected tensors by the names of arguments, got nothing"),
        (lambda arguments: {}, "got nothing"),
        (lambda arguments: arguments["y"], "got Tensor"),
    ],
)
def test_a_reference_that_fails_itself(
    reference: Callable[..., Any], message: str, monkeypatch: pytest.MonkeyPatch, kernel_cache: Path
) -> None:
    bench = Bench()
    with pytest.raises(tx.TritonExtError, match=message) as error:
        launch(tuned(reference=reference, do_bench=bench))
    assert not isinstance(error.value, TuningError)
    assert not bench.asked
    assert not list(kernel_cache.glob("*/*.json"))  # nothing was compiled
    monkeypatch.setattr(remote, "_reference", reference)
    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(remote, "executor", pool)
        with pytest.raises(TuningError, match=f"worker error: {message if 'got' not in message else 'reference'}"):
            remote[(1,)](ones(), standin.zeros(), 56)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda torch: torch.zeros(5), r"reference: 'y': expected shape \(8,\), got \(5,\)"),
        (lambda torch: None, "reference: 'y': expected a tensor, got NoneType"),
    ],
)
def test_a_reference_of_another_kind(value: Callable[[Any], Any], message: str) -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(tx.TritonExtError, match=message):
        Checker(lambda _: {"y": value(torch)}, None, None, set(), {"y": torch.zeros(8)})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pipelines": [tx.Pipeline()]}, "expected pipelines by name"),
        ({"tolerance": 1e-3}, r"tolerance: .*, got 0.001 \(fix: tolerance="),
        ({"tolerance": (1e-3,)}, "tolerance: "),
        ({"tolerance": (1e-3, -1.0)}, "tolerance: "),
        ({"tolerance": (float("nan"), 0)}, "tolerance: "),
        ({"tolerance": (1e-3, None)}, "tolerance: "),
        ({"reference": {"y": 2}}, "reference: expected a function"),
        ({"check": True}, "check: expected a function"),
        ({"arguments": {}}, "arguments: expected a function"),
        ({"executor": "dask"}, r"executor: expected a concurrent.futures.Executor or .*, got 'dask' \(fix: "),
        ({"workers": -1}, "workers: expected an int from 0, got -1"),
        ({"workers": "2"}, "workers: "),
        ({"rounds": 0}, "rounds: expected an int from 1, got 0"),
        ({"rounds": None}, "rounds: "),
        # Python writes no integer of more than 4,300 digits.
        ({"rounds": -(10**5000)}, r"rounds: expected an int from 1, got an integer of 16,\d+ bits"),
        ({"run_timeout": -(10**5000)}, "run_timeout: expected seconds above 0, .*, got an integer"),
        ({"tolerance": (10**5000, 0)}, "tolerance: expected .*, got a tuple that cannot be shown"),
        ({"executor": 10**5000}, "executor: expected .*, got an integer"),
        ({"check": 10**5000}, "check: expected a function, got an integer"),
    ],
)
def test_mistakes_are_refused_before_there_is_a_kernel(options: dict[str, Any], message: str) -> None:
    with pytest.raises(tx.TritonExtError, match=message) as error:
        tx.autotune(CONFIGS, ["n"], **options)
    assert "\n" not in str(error.value)


def test_executors_that_are_none() -> None:
    kernel = tuned()
    with pytest.raises(tx.TritonExtError, match="executor: expected a concurrent"):
        kernel.executor = "dask"
    assert kernel.executor is None
    kernel.executor = lambda: None
    with pytest.raises(tx.TritonExtError, match=r"executor: expected the function to return .*, got None \(fix: "):
        launch(kernel)


@pytest.mark.parametrize("times", [None, [], "soon", [None] * 3])
def test_a_benchmarker_that_returns_no_times(times: Any) -> None:
    with pytest.raises(tx.TritonExtError, match=r"^do_bench: expected milliseconds, one number or several, got"):
        launch(tuned(do_bench=lambda call, quantiles: times))


@pytest.mark.parametrize("time", [-1, 0.0, float("nan"), float("inf")])
def test_times_that_cannot_be(time: float) -> None:
    kernel = tuned(do_bench=lambda call, quantiles: time if call.config.kwargs["BLOCK"] == 32 else call() or [1.0])
    assert launch(kernel) == ["launch error", "ok", "ok"]
    assert kernel.tuning_report.rows[0].reason == f"do_bench returned {time!r}, expected a finite time above 0"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tx.sweep("a.b", n=3), r"sweep: 'n': expected a list of values, got 3 \(fix: n=\[3\]\)"),
        (lambda: tx.sweep("a.b", n="23"), r"sweep: 'n': expected a list of values, got '23' \(fix: n=\['23'\]\)"),
        (lambda: tx.sweep("a.b", n=[1.0]), "sweep: 'n': expected int, bool or str, got 1.0"),
        (lambda: tx.sweep(lambda n: tx.Pipeline(), n=[None]), "sweep: 'n': expected int, bool or str, got None"),
        (lambda: tx.sweep(tx.Pipeline(), n=[1]), "sweep: expected an anchor or a function"),
        (tx.product, r"product: nothing to combine \(fix: "),
    ],
)
def test_mistakes_in_what_is_swept(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(tx.PipelineError, match=message):
        make()
