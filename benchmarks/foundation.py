# SPDX-License-Identifier: Apache-2.0
"""Measures how long it takes from an installed Triton to a pass of your own: ``make bench``.

Each row is measured several times, and the median is printed. The compiler cache is off; everything happens in a
temporary directory.
"""

from __future__ import annotations

import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from rich.console import Console
from rich.table import Table

from triton_ext import sdk
from triton_ext.sdk import debian, download, install_sdk

ROOT = Path(__file__).resolve().parent.parent


def seconds(command: list[str], **environment: str) -> float:
    """Returns the wall-clock time of a command, which must succeed."""
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "CCACHE_DISABLE": "1", **environment})
    return time.perf_counter() - begin


def median(measure: Callable[[], float], times: int) -> float:
    """Returns the median of `times` measurements."""
    return statistics.median(measure() for _ in range(times))


def build_rows(scratch: Path) -> list[tuple[str, float, str]]:
    """Measures a clean build of the first pass, and a build after an edit of one line."""
    tree = scratch / "tree"
    for part in ("CMakeLists.txt", "infra", "passes/rename", "python"):
        source, target = ROOT / part, tree / part
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)

    def clean() -> float:
        shutil.rmtree(tree / "build", ignore_errors=True)
        return build()

    def build() -> float:
        return seconds([sys.executable, "-m", "triton_ext", "build", "rename", "--source", str(tree)])

    def edited() -> float:
        source = tree / "passes" / "rename" / "Rename.cpp"
        source.write_text(source.read_text() + "// An edit.\n")
        return build()

    return [
        ("first pass, from clean (infrastructure included)", median(clean, 3), "< 20"),
        ("the same pass, after an edit of one line", median(edited, 3), "< 12"),
        ("nothing to do", median(build, 3), ""),
    ]


def sdk_rows(scratch: Path) -> list[tuple[str, float, str]]:
    """Measures a real installation into an empty cache, and its downloads separately."""
    downloading = 0.0

    def timed(*args: Any, **kwargs: Any) -> Path:
        nonlocal downloading
        begin = time.perf_counter()
        try:
            return download.fetch(*args, **kwargs)
        finally:
            downloading += time.perf_counter() - begin

    begin = time.perf_counter()
    with (
        mock.patch.dict(os.environ, XDG_CACHE_HOME=str(scratch / "cache")),
        mock.patch.object(install_sdk, "fetch", timed),
        mock.patch.object(debian, "fetch", timed),
    ):
        sdk.install(say=lambda _: None)
    total = time.perf_counter() - begin
    return [("SDK: download", downloading, ""), ("SDK: all but the download", total - downloading, "")]


def import_rows() -> list[tuple[str, float, str]]:
    """Measures each import inside a fresh process, without the noise of the process's start."""
    program = """
import time
begin = time.perf_counter()
import triton
middle = time.perf_counter()
import triton_ext
print(middle - begin, time.perf_counter() - middle)
"""
    runs = [
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
        for _ in range(11)
    ]
    plain, ours = (statistics.median(float(run[column]) for run in runs) for column in (0, 1))
    return [("import triton", plain, ""), ("import triton_ext, on top of it", ours, "< 0.05")]


def main() -> None:
    """Prints the table of all measurements."""
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        rows = [*sdk_rows(scratch), *build_rows(scratch), *import_rows()]
    table = Table(
        "what", "seconds", "aim", title=f"{os.cpu_count()} cores, {platform.processor() or platform.machine()}"
    )
    for name, elapsed, aim in rows:
        table.add_row(name, f"{elapsed:.4f}", aim)
    Console().print(table)


if __name__ == "__main__":
    main()
