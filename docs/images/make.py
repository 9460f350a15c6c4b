# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of the documentation anew: ``python docs/images/make.py``.

``trace.png`` is the page of the kernel in docs/trace.md, ``profile.png`` that of the program in docs/profile.md; making
them takes Chromium and Playwright. The files of the former lie in a directory whose name is the same on every machine.
``loop-split.svg`` shows benchmarks/results/gpu-loop-split.json;
making it takes Matplotlib. ``sanitizer.svg`` is what a terminal shows of the first program in docs/sanitizer.md. With
names of pictures, such as ``sanitizer``, only these are made.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import triton_ext as tx

if TYPE_CHECKING:
    from playwright.sync_api import Page

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


def code_of(page: str, file: str) -> str:
    """Returns the block of code of a page of the documentation that is the content of `file`."""
    text = (HERE.parent / page).read_text()
    source = re.search(rf"`{re.escape(file)}`:\n\n```python\n(.*?)```", text, re.DOTALL)
    assert source
    return source[1]


@contextlib.contextmanager
def opened(address: str, height: int) -> Iterator[Page]:
    """Yields a page that Chromium shows."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1360, "height": height})
        page.goto(address)
        yield page
        browser.close()


def trace() -> None:
    """Writes trace.png."""
    kernels = Path(tempfile.gettempdir()) / "triton-ext" / "kernels.py"
    kernels.parent.mkdir()
    try:
        kernels.write_text(code_of("trace.md", kernels.name))
        html = kernels.with_name("softmax.html")
        pipeline = tx.Pipeline().skip("ttir.loop_unroll")
        signature = "*fp32:16, *fp32:16, i32, 1024"
        tx.trace(f"{kernels}:softmax", target="cuda:90", signature=signature, pipeline=pipeline, html=html)
        with opened(f"{html.as_uri()}#{PASS}", 760) as page:
            page.wait_for_selector("#code .row")
            page.locator("#code .row").filter(has_text="tt.load").first.click()
            page.wait_for_timeout(500)  # until it has scrolled
            page.screenshot(path=HERE / "trace.png")
    finally:
        shutil.rmtree(kernels.parent)


def profile() -> None:
    """Writes profile.png."""
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "softmax.py"
        program.write_text(code_of("profile.md", program.name))
        command = [
            sys.executable,
            "-m",
            "triton_ext",
            "profile",
            "--loops",
            "--masked",
            "--html",
            "page.html",
            program.name,
        ]
        environment = {**os.environ, "TRITON_DEFAULT_BACKEND": "cpu"}
        subprocess.run(command, cwd=directory, env=environment, check=True, stdout=subprocess.DEVNULL)
        with opened((program.parent / "page.html").as_uri(), 680) as page:
            page.screenshot(path=HERE / "profile.png")


def in_terminal(command: list[str], directory: Path, environment: dict[str, str]) -> str:
    """Returns what a command writes to a terminal, with the escape sequences of colours."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, cwd=directory, env=environment, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        parts = []
        with contextlib.suppress(OSError):  # the end of the process
            while part := os.read(ours, 2**16):
                parts.append(part)
        process.wait()
    os.close(ours)
    return b"".join(parts).decode().replace("\r\n", "\n")


def sanitizer() -> None:
    """Writes sanitizer.svg."""
    from rich.console import Console
    from rich.text import Text

    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "train.py").write_text(code_of("sanitizer.md", "train.py"))
        command = [sys.executable, "-m", "triton_ext", "sanitize", "--", sys.executable, "-W", "ignore", "train.py"]
        # A kernel in the cache may have been compiled from a file elsewhere.
        environment = {**os.environ, "TRITON_DEFAULT_BACKEND": "cpu", "TRITON_CACHE_DIR": f"{directory}/cache"}
        written = in_terminal(command, Path(directory), environment)
    console = Console(record=True, width=96, file=io.StringIO(), color_system="truecolor")
    console.print("$ triton-ext sanitize -- python train.py", style="bold", highlight=False)
    console.print(Text.from_ansi(written.rstrip()))
    drawn = console.export_svg(title="triton-ext sanitize", unique_id="sanitizer")
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)  # which a reader's browser would download
    drawn = re.sub(r"font-family: Fira Code,", "font-family:", drawn)
    (HERE / "sanitizer.svg").write_text("\n".join(line.rstrip() for line in drawn.splitlines()) + "\n")


if __name__ == "__main__":
    for make in (bars, trace, profile, sanitizer):
        if not sys.argv[1:] or make.__name__ in sys.argv[1:]:
            make()
