# SPDX-License-Identifier: Apache-2.0
"""Kernels that went to linalg, and through stock MLIR to the machine, give the numbers of NumPy and torch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import linalg_execute
import linalg_kernels
import pytest

from triton_ext.sdk.sources import SourceUnavailableError

ROUNDS = 3


@pytest.fixture(scope="module", autouse=True)
def stock() -> None:
    """Without network and cache there is nothing to run with."""
    try:
        linalg_execute.mlir_opt()
    except SourceUnavailableError as error:
        pytest.skip(f"stock mlir-opt can only be had over the network: {error.message}")


@pytest.mark.parametrize("name", list(linalg_kernels.CASES))
def test_kernel_executed(name: str) -> None:
    """Every tensor ends, and in other rounds begins, where nobody may touch memory."""
    for seed in range(ROUNDS):
        with linalg_execute.through_linalg(at_end=seed % 2 == 0):
            linalg_kernels.check(name, seed)


def test_there_are_enough() -> None:
    assert len(linalg_kernels.CASES) >= 60


def test_interpreter_has_the_same_numbers() -> None:
    script = Path(linalg_kernels.__file__)
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(script)], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == len(linalg_kernels.CASES) - len(linalg_kernels.NOT_INTERPRETED)
