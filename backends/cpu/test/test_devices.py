# SPDX-License-Identifier: Apache-2.0
"""Triton keeps kernels by device, and tuning results by key: those of a GPU are not those of the CPU."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.runtime import driver
from triton.runtime.jit import MockTensor

import triton_ext as tx
from support import environment
from support.pipeline.no_gpu import NoGpu
from support.tuning import standin
from support.tuning.tuned import CONFIGS, ones, scale

pytestmark = pytest.mark.slow


@triton.jit
def twice(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, 2 * tl.load(x + i))


def test_a_kernel_of_the_first_gpu_is_not_launched_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_active", NoGpu(GPUTarget("cuda", 90, 32)))
    kernel, x = triton.jit(twice.fn), MockTensor(tl.float32)
    for _ in range(2):
        assert "ptx" in kernel.warmup(x, BLOCK=16, grid=(1,)).asm
        with tx.target.active("cpu"):
            assert "so" in kernel.warmup(x, BLOCK=16, grid=(1,)).asm
    assert len(kernel.device_caches) == 2


def test_a_kernel_is_tuned_for_each_target(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[int] = []

    def bench(launch: Callable[[], object], quantiles: object = None) -> list[float]:
        launch()
        measured.append(1)
        return [1.0, 1.0, 1.0]

    monkeypatch.setattr(driver, "_active", standin.Driver())
    kernel = tx.autotune(CONFIGS, ["n"], do_bench=bench, rounds=1)(triton.jit(scale.fn))
    for _ in range(2):
        kernel[(1,)](ones(), standin.zeros(), 32)
        with tx.target.active("cpu"):
            x, y = np.ones(256, "float32"), np.zeros(256, "float32")
            kernel[(1,)](x, y, 32)
            assert y.sum() == 64
    assert len(measured) == 2 * len(CONFIGS)
    assert "cpu" in kernel.tuning_report.device


PROGRAM = """
import os, sys
import numpy as np
import triton_ext as tx
from triton.backends import backends

_, directory, device = sys.argv
sys.path.append(directory)
from test_devices import twice

x = np.ones(16, "float32")
with tx.target.active("cpu"):
    twice[(1,)](x, BLOCK=16)
print(x.sum(), "torch" in sys.modules)
there = os.path.exists
os.path.exists = lambda path: path == device or there(path)
backends["amd"].driver.is_active = staticmethod(lambda: True)
print(backends["cpu"].driver.is_active())
"""


@pytest.mark.parametrize("device", ["/dev/kfd", "/dev/dxg"])
def test_torch_is_imported_only_to_look_for_a_gpu(device: str) -> None:
    """Triton's driver for AMD imports torch. It is not asked where Linux has no device for it."""
    command = [sys.executable, "-c", PROGRAM, str(Path(__file__).parent), device]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["32.0 False", "False"]
