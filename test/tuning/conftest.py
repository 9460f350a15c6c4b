# SPDX-License-Identifier: Apache-2.0
"""The stand-in device, fresh for each test."""

from __future__ import annotations

import pytest
from triton.runtime import driver

from support.tuning import standin


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Launches go to Python; returns the list of them."""
    monkeypatch.setattr(driver, "_active", standin.Driver())
    standin.launches.clear()
    return standin.launches
