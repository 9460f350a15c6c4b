# SPDX-License-Identifier: Apache-2.0
"""The site that `make site` builds can be searched without a server and without network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.browser import browser, wait  # noqa: F401 - a fixture


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(target)]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[2])
    return target


@pytest.mark.slow
@pytest.mark.parametrize("page", ["index.html", "reference/passes.html"])
def test_a_page_in_the_file_system_is_searched(page: str, site: Path, browser: Any) -> None:  # noqa: F811
    requests: list[str] = []
    context = browser.new_context(offline=True)
    tab = context.new_page()
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto((site / page).as_uri())
    tab.locator(".md-search__input").click()
    tab.keyboard.type("saturates")
    wait(tab, "document.querySelector('.md-search-result__link') !== null")
    assert "dialects.html" in tab.locator(".md-search-result__link").first.get_attribute("href")
    context.close()
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
