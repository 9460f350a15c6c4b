# SPDX-License-Identifier: Apache-2.0
"""The stand-in device, fresh for each test; processes that tune."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import pytest
from triton.runtime import driver

from support.tuning import standin


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Launches go to Python; returns the list of them."""
    monkeypatch.setattr(driver, "_active", standin.Driver())
    standin.launches.clear()
    return standin.launches


@pytest.fixture
def processes() -> Iterator[ProcessPoolExecutor]:
    """Starts two processes that share no state with this one."""
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        yield pool
