# SPDX-License-Identifier: Apache-2.0
"""Options for GPUs are in no key: launches with others share a kernel, and tuners try equal configurations once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton import knobs

import triton_ext as tx

WARPS = (1, 4, 8)


@triton.jit
def copied(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i))


@triton.jit
def takes_them(x, num_warps: tl.constexpr):
    tl.store(x, num_warps)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the kernels that are compiled, and not found on the disk, while the test runs."""
    names: list[str] = []

    def listen(*, src: Any, cache_hit: bool, **_: Any) -> None:
        names.extend([src.name] * (not cache_hit))

    monkeypatch.setattr(knobs.compilation, "listener", listen)
    return names


def test_launches_share_a_kernel(compiled: list[str]) -> None:
    x, y = torch.ones(32), torch.zeros(32)
    kernels = [copied[(1,)](x, y, BLOCK=32, num_warps=warps, num_stages=warps) for warps in WARPS]
    assert kernels[0] is kernels[1] is kernels[2]
    assert kernels[0].metadata.num_warps == 4
    assert copied[(1,)](x, y, BLOCK=32, num_threads=1) is not kernels[0]
    assert compiled == ["copied", "copied"]
    copied.device_caches.clear()
    copied[(1,)](x, y, BLOCK=32, num_ctas=2, maxnreg=64)
    assert len(compiled) == 2, "the key on disk has an option that does not matter"


def test_an_argument_of_that_name_matters() -> None:
    x = torch.zeros(1)
    for warps in WARPS:
        takes_them[(1,)](x, num_warps=warps)
        assert x.item() == warps


def measured(autotune: Any, configs: list[triton.Config], kernel: Any = copied) -> tuple[int, Any]:
    """Returns how many configurations a tuner measures, and the tuner."""
    timed: list[Any] = []

    def bench(call: Callable[[], object], **_: Any) -> list[float]:
        call()
        timed.append(call)
        return [1.0, 1.0, 1.0]

    tuner = autotune(configs, [], do_bench=bench)(kernel)
    tuner[(1,)](torch.ones(64), torch.zeros(64))
    return len(timed), tuner


def several(autotune: Any) -> Any:
    return (lambda *a, **k: tx.autotune(*a, **k, rounds=1, workers=0)) if autotune is tx.autotune else autotune


@pytest.mark.parametrize("autotune", [triton.autotune, tx.autotune])
def test_equal_configurations_are_tried_once(autotune: Any, compiled: list[str]) -> None:
    configs = [triton.Config({"BLOCK": 32 << (i % 2)}, num_warps=warps) for warps in WARPS for i in range(2)]
    count, tuner = measured(several(autotune), configs)
    assert count == 2
    assert len(compiled) <= 2
    assert tuner.best_config.num_warps == 1  # the first of those that are equal
    assert measured(several(autotune), configs[::2])[0] == 0, "one configuration is left, which needs no measurement"


def test_configurations_that_only_look_equal(compiled: list[str]) -> None:
    """A hook or a heuristic may read what the backend ignores."""

    def first(arguments: Any) -> None: ...

    def second(arguments: Any) -> None: ...

    hooked = [triton.Config({"BLOCK": 32}, pre_hook=hook) for hook in (first, second, second)]
    assert measured(triton.autotune, hooked)[0] == 2
    heuristic = triton.heuristics({"BLOCK": lambda arguments: 16 * arguments["num_warps"]})(copied)
    configs = [triton.Config({}, num_warps=warps) for warps in (1, 2)]
    assert measured(triton.autotune, configs, heuristic)[0] == 2
