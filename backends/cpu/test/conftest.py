# SPDX-License-Identifier: Apache-2.0
"""Every test in this directory runs its kernels on the CPU, even if there is a GPU."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from support.cpu import strides_remarks


@pytest.fixture(autouse=True)
def always_on_cpu(on_cpu: None) -> None:
    """Asks for `on_cpu` in each test."""


@pytest.fixture(autouse=True)
def same_numbers() -> None:
    """Seeds torch, so that every test gets the same random numbers in every run. `torch.manual_seed` would also seed
    the generators of GPUs, which takes milliseconds.
    """
    torch.default_generator.manual_seed(0)


@pytest.fixture(scope="session")
def strides_pass(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass that prints strides, with every wrong rule behind a switch, and returns its library."""
    return strides_remarks.build_pass(tmp_path_factory.mktemp("strides"))
