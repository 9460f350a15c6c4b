# SPDX-License-Identifier: Apache-2.0
"""Without pipelines and with one round, `tx.autotune` does what `triton.autotune` does: each test runs both and
compares everything."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import pytest
import triton
from triton import knobs
from triton.runtime.errors import OutOfResources

import triton_ext as tx
from support.tuning import standin
from support.tuning.standin import Bench, launches
from support.tuning.tuned import CONFIGS, TIMES, accumulate, ones, scale
from triton_ext.tuning import TuningError

Autotune = Callable[..., Any]


def both(
    use: Callable[[Autotune], object],
) -> tuple[object, object]:
    """Calls `use` with Triton's autotuner and with ours; returns both results, with the launches, events and printed
    names."""
    results = []
    for autotune in (triton.autotune, functools.partial(tx.autotune, rounds=1)):
        launches.clear()
        events: list[object] = []

        def listener(*, fn: Any, duration: Any, events: list[object] = events, **rest: Any) -> None:
            events.append((fn.__name__, duration is None, rest))

        knobs.autotuning.listener = listener
        try:
            returned = use(autotune)
        finally:
            knobs.autotuning.listener = None
        seen = [(name, a["BLOCK"], a["n"], a["y"].data.tolist()) for name, a in launches]
        results.append((returned, seen, events))
    return results[0], results[1]


def state(kernel: Any) -> tuple[object, ...]:
    return kernel.cache, kernel.best_config, getattr(kernel, "configs_timings", None)


def test_the_parameters_are_those_of_triton() -> None:
    theirs = list(inspect.signature(triton.autotune).parameters.values())
    ours = list(inspect.signature(tx.autotune).parameters.values())
    assert [(p.name, p.default) for p in ours[: len(theirs)]] == [(p.name, p.default) for p in theirs]
    assert all(p.kind is p.KEYWORD_ONLY for p in ours[len(theirs) :])


@pytest.mark.slow
def test_choice_keys_and_launches() -> None:
    def use(autotune: Autotune) -> object:
        bench = Bench(TIMES)
        kernel = autotune(CONFIGS, ["n"], do_bench=bench)(scale)
        x, y = ones(), ones()
        for n in (16, 32, 16, 32, 64):
            kernel[(1,)](x, y, n)
        kernel[(1,)](x, y, n=16)
        kernel[(1,)](standin.zeros(dtype="int32"), y, 16)  # another type is another key
        return *state(kernel), bench.asked

    theirs, ours = both(use)
    assert ours == theirs
    assert len(ours[0][0]) == 4


@pytest.mark.parametrize(
    "prune",
    [
        {"early_config_prune": lambda configs, args, **kwargs: [c for c in configs if c.kwargs["BLOCK"] > args["n"]]},
        {"early_config_prune": lambda configs, args, **kwargs: configs[:1]},
        {"perf_model": lambda BLOCK, n, **rest: -BLOCK * n, "top_k": 2},
        {"perf_model": lambda BLOCK, **rest: BLOCK, "top_k": 0.1},
        {
            "early_config_prune": lambda configs, args, **kwargs: [*configs[1:], triton.Config({"BLOCK": 16})],
            "perf_model": lambda BLOCK, num_warps, **rest: BLOCK,
            "top_k": 2,
        },
    ],
)
def test_pruning(prune: dict[str, Any]) -> None:
    def use(autotune: Autotune) -> object:
        bench = Bench(TIMES)
        kernel = autotune(CONFIGS, ["n"], prune_configs_by=prune, do_bench=bench)(scale)
        kernel[(1,)](ones(), ones(), 32)
        return *state(kernel), bench.asked

    theirs, ours = both(use)
    assert ours == theirs


@pytest.mark.parametrize(
    "prune",
    [
        {"early_config_prune": lambda configs, args, **kwargs: []},
        {"perf_model": lambda **rest: 0, "top_k": 1.5},
    ],
)
def test_wrong_pruning_is_refused_as_by_triton(prune: dict[str, Any]) -> None:
    messages = []
    for autotune in (triton.autotune, tx.autotune):
        kernel = autotune(CONFIGS, ["n"], prune_configs_by=prune, do_bench=Bench())(scale)
        with pytest.raises((triton.runtime.errors.AutotunerError, TypeError)) as error:
            kernel[(1,)](ones(), ones(), 32)
        messages.append(repr(error.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("names", [{"restore_value": ["y"]}, {"reset_to_zero": ["y"]}, {}])
def test_arguments_that_are_read_and_written(names: dict[str, list[str]]) -> None:
    def use(autotune: Autotune) -> object:
        kernel = autotune(CONFIGS, ["n"], do_bench=Bench(), **names)(accumulate)
        x, y = ones(), ones()
        results = []
        for _ in range(2):
            kernel[(1,)](x, y, 32)
            results.append(y.data[0])
        return *state(kernel), results

    theirs, ours = both(use)
    assert ours == theirs
    assert ours[0][3] == {"restore_value": [3, 5], "reset_to_zero": [2, 4]}.get(next(iter(names), ""), [9, 11])


def test_hooks_are_called_in_the_same_order_with_the_same_arguments() -> None:
    def use(autotune: Autotune) -> object:
        calls: list[object] = []

        def note(what: str) -> Callable[..., None]:
            def hook(kwargs: dict[str, Any], **more: Any) -> None:
                calls.append((what, kwargs["BLOCK"], kwargs["n"], kwargs["num_warps"], str(more)))

            return hook

        configs = [triton.Config({"BLOCK": block}, pre_hook=note("config")) for block in (32, 64)]
        kernel = autotune(configs, ["n"], do_bench=Bench(TIMES), pre_hook=note("pre"), post_hook=note("post"))(scale)
        for _ in range(2):
            kernel[(1,)](ones(), ones(), 32)
        return calls

    theirs, ours = both(use)
    # Compiling ahead calls the hook of each configuration once more, before anything else.
    assert ours[0][:2] == [("config", 32, 32, 4, "{}"), ("config", 64, 32, 4, "{}")]
    assert ours[0][2:] == theirs[0]


@pytest.mark.slow
def test_a_hook_that_fails_after_a_launch_that_failed() -> None:
    def post(kwargs: dict[str, Any], exception: Exception | None) -> None:
        seen.append(exception)

    seen: list[Exception | None] = []
    kernel = tx.autotune(
        CONFIGS,
        ["n"],
        pipelines={"crash": tx.Pipeline().at_end("ttir", tx.passes.ttir.rename(old="scale", new="crash"))},
        post_hook=post,
        do_bench=Bench(),
    )(scale)
    with pytest.raises(tx.TritonExtError):
        kernel[(1,)](ones(), ones(), 32)
    assert [type(e) for e in seen] == [RuntimeError] * 3


@pytest.mark.parametrize("configs", [[], None, CONFIGS[:1]])
def test_one_configuration_is_not_measured(configs: Any) -> None:
    def use(autotune: Autotune) -> object:
        bench = Bench()
        kernel = autotune(configs, ["n"], do_bench=bench)(scale)
        kernel[(1,)](ones(), ones(), 32, **({} if configs else {"BLOCK": 64}))
        assert not bench.asked
        return state(kernel)

    theirs, ours = both(use)
    assert ours == theirs


def test_what_triton_does_if_all_fail() -> None:
    """Triton raises the first error, or chooses a candidate that ran out of resources; ours lists the reasons."""

    def fails(error: Exception) -> Callable[..., Any]:
        def bench(fn: Callable[[], object], quantiles: object = None) -> Any:
            raise error

        return bench

    def launch(autotune: Autotune, error: Exception) -> Any:
        kernel = autotune(CONFIGS, ["n"], do_bench=fails(error))(scale)
        kernel[(1,)](ones(), ones(), 32)
        return kernel.best_config

    assert launch(triton.autotune, OutOfResources(2, 1, "shared memory")) in CONFIGS
    with pytest.raises(ValueError, match="first"):
        launch(triton.autotune, ValueError("first"))
    for error in (OutOfResources(2, 1, "shared memory"), ValueError("first")):
        with pytest.raises(TuningError, match=r"out of resource|first"):
            launch(tx.autotune, error)


def test_mistakes_are_refused_as_by_triton() -> None:
    for options in ({"key": ["m"]}, {"key": [], "reset_to_zero": ["z"]}, {"key": [], "restore_value": ["z"]}):
        messages = []
        for autotune in (triton.autotune, tx.autotune):
            with pytest.raises(ValueError, match="not kernel arguments") as error:
                autotune(CONFIGS, **options)(scale)
            messages.append(str(error.value))
        assert messages[0] == messages[1]
    for autotune in (triton.autotune, tx.autotune):
        with pytest.raises(ValueError, match="Conflicting meta-parameters: BLOCK"):
            autotune(CONFIGS, ["n"], do_bench=Bench())(scale)[(1,)](ones(), ones(), 32, BLOCK=16)


def test_warmup_compiles_each_configuration() -> None:
    # Types of PyTorch are wrapped by Triton; these stand for pointers without it.
    def pointers(autotune: Autotune) -> object:
        x = triton.runtime.jit.MockTensor(triton.language.float32)
        kernels = autotune(CONFIGS, ["n"], do_bench=Bench())(scale).warmup(x, x, 32, grid=(1,))
        return [kernel.hash for kernel in kernels]

    theirs, ours = both(pointers)
    assert ours == theirs
    assert len(set(ours[0])) == 3
    assert not launches


def test_heuristics_below_and_above() -> None:
    def use(autotune: Autotune) -> object:
        heuristic = triton.heuristics({"BLOCK": lambda args: 16 * args["num_warps"]})
        bench = Bench({("scale", 32): 1.0})
        configs = [triton.Config({}, num_warps=warps) for warps in (1, 2, 4)]
        below = autotune(configs, ["n"], do_bench=bench)(heuristic(scale))
        below[lambda meta: (triton.cdiv(32, meta["BLOCK"]),)](ones(), ones(), 32)
        above = triton.heuristics({"n": lambda args: 64})(autotune(CONFIGS, ["n"], do_bench=bench)(scale))
        above[(1,)](ones(), ones())
        return *state(below), bench.asked

    theirs, ours = both(use)
    assert ours == theirs
    assert ours[0][1].num_warps == 2


def test_deprecated_parameters_warn() -> None:
    for autotune in (triton.autotune, tx.autotune):
        with pytest.warns(DeprecationWarning, match="warmup, rep, and use_cuda_graph"):
            autotune(CONFIGS, ["n"], warmup=10, rep=10)(scale)


def test_the_default_benchmarker_is_that_of_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standin, "bench", bench := Bench(TIMES))
    kernel = tx.autotune(CONFIGS, ["n"])(scale)
    kernel[(1,)](ones(), ones(), 32)
    assert len(bench.asked) == 3
    assert kernel.best_config.kwargs == {"BLOCK": 64}
