# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of the documentation anew: ``python docs/images/make.py``, with Chromium and Playwright.

The page of docs/trace.md, of the kernel that is printed there. It lies where no path of a machine tells of anybody.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import triton_ext as tx

HERE = Path(__file__).resolve().parent
PASS = "ttgir/ttgpuir.coalesce:1"


def main() -> None:
    """Writes trace.png."""
    page_of = (HERE.parent / "trace.md").read_text()
    source = re.search(r"`kernels\.py`:\n\n```python\n(.*?)```", page_of, re.DOTALL)
    assert source
    kernels = Path(tempfile.gettempdir()) / "triton-ext" / "kernels.py"
    kernels.parent.mkdir()
    try:
        kernels.write_text(source[1])
        html = kernels.with_name("softmax.html")
        pipeline = tx.Pipeline().skip("ttir.loop_unroll")
        signature = "*fp32:16, *fp32:16, i32, 1024"
        tx.trace(f"{kernels}:softmax", target="cuda:90", signature=signature, pipeline=pipeline, html=html)
        with sync_playwright() as playwright:
            found = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
            browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1360, "height": 760})
            page.goto(f"{html.as_uri()}#{PASS}")
            page.wait_for_selector("#code .row")
            page.locator("#code .row").filter(has_text="tt.load").first.click()
            page.wait_for_timeout(500)  # until it has scrolled
            page.screenshot(path=HERE / "trace.png")
            browser.close()
    finally:
        shutil.rmtree(kernels.parent)


if __name__ == "__main__":
    main()
