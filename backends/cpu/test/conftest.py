# SPDX-License-Identifier: Apache-2.0
"""Every test here runs its kernels on the CPU, also where there is a GPU."""

from __future__ import annotations

from pathlib import Path

import facts_remarks
import pytest
import torch
import triton
from triton_ext.backends.cpu.driver import CPUDriver


@pytest.fixture(autouse=True)
def on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton.runtime.driver, "_active", CPUDriver())


@pytest.fixture(autouse=True)
def same_numbers() -> None:
    """Every test has the same random numbers in every run."""
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def facts_pass(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of the pass that prints facts and strides, with every wrong rule behind a switch."""
    return facts_remarks.build_pass(tmp_path_factory.mktemp("facts"))
