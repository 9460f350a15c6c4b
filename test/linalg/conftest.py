# SPDX-License-Identifier: Apache-2.0
"""What tests that execute linalg need."""

from __future__ import annotations

import linalg_execute
import pytest

from triton_ext.sdk.sources import SourceUnavailableError


@pytest.fixture(scope="session")
def stock() -> None:
    """Stock mlir-opt, fetched where it is not cached: without network and cache there is nothing to run with."""
    try:
        linalg_execute.mlir_opt()
    except SourceUnavailableError as error:
        pytest.skip(f"stock mlir-opt can only be had over the network: {error.message}")
