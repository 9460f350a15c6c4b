# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of the documentation anew: ``python docs/images/make.py``.

``trace.png`` is the page of the kernel in docs/trace.md; making it takes Chromium and Playwright. Its files lie in a
directory whose name is the same on every machine. ``loop-split.svg`` shows benchmarks/results/gpu-loop-split.json;
making it takes Matplotlib.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import triton_ext as tx

HERE = Path(__file__).resolve().parent
PASS = "ttgir/ttgpuir.coalesce:1"


def bars() -> None:
    """Writes loop-split.svg: for each kernel and shape, how many times faster the tuned pipeline is."""
    import matplotlib as mpl
    from matplotlib import pyplot

    mpl.rcParams["svg.hashsalt"] = "loop-split"  # the same picture from the same results
    mpl.rcParams["svg.fonttype"] = "none"
    results = json.loads((HERE.parents[1] / "benchmarks" / "results" / "gpu-loop-split.json").read_text())
    rows = results["tuned"][::-1]
    gains = [row["ms"]["unsplit"] / row["ms"]["tuned"] for row in rows]
    figure, axes = pyplot.subplots(figsize=(8, 4.4), layout="constrained")
    drawn = axes.barh([f"{row['family']}  {row['shape']}" for row in rows], gains, color="#3f51b5")
    axes.bar_label(drawn, [f"{gain:.2f}" for gain in gains], padding=3)
    axes.axvline(1, color="grey", linewidth=1)
    environment = results["environment"]
    figure.suptitle(f"Speed-up by loop_split: {environment['device']}, Triton {environment['triton']}", fontsize=11)
    axes.set_xlim(0, max(gains) * 1.08)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE / "loop-split.svg", metadata={"Date": None})


def page() -> None:
    """Writes trace.png."""
    text = (HERE.parent / "trace.md").read_text()
    source = re.search(r"`kernels\.py`:\n\n```python\n(.*?)```", text, re.DOTALL)
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
    bars()
    page()
