# SPDX-License-Identifier: Apache-2.0
"""Waits in a page that forbids `eval`."""

from __future__ import annotations

from time import monotonic
from typing import Any


def wait(page: Any, condition: str) -> None:
    """Waits until a JavaScript expression holds; Playwright's own function needs what the page forbids, eval."""
    end = monotonic() + 20
    while not page.evaluate(condition):
        assert monotonic() < end, condition
        page.wait_for_timeout(20)
