# SPDX-License-Identifier: Apache-2.0
"""Chromium, and waiting in a page that forbids `eval`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from time import monotonic
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-headless-shell", "google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Starts Chromium without a screen."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        message = "no Chromium (fix: apt-get install --no-install-recommends chromium)"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def wait(page: Any, condition: str) -> None:
    """Waits until a JavaScript expression holds; Playwright's own function needs what the page forbids, eval."""
    end = monotonic() + 20
    while not page.evaluate(condition):
        assert monotonic() < end, condition
        page.wait_for_timeout(20)
