# SPDX-License-Identifier: Apache-2.0
"""Provides stock mlir-opt to the tests that execute linalg."""

from __future__ import annotations

import pytest

from support.linalg import execute
from triton_ext.sdk.sources import SourceUnavailableError


@pytest.fixture(scope="session")
def stock() -> None:
    """Downloads stock mlir-opt if it is not cached; without network and cache, the tests are skipped."""
    try:
        execute.mlir_opt()
    except SourceUnavailableError as error:
        pytest.skip(f"stock mlir-opt can only be had over the network: {error.message}")
