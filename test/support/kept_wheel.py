# SPDX-License-Identifier: Apache-2.0
"""Keeps the wheel that tests install for the next run, so that it is made once for each state of the code.

The wheel depends on the checkout's files outside of `UNREAD`, on the SDK, on the compiler, on the Python packages that
make it, and on variables of the environment. These inputs name it in `support.kept`, and a change of one of them makes
it again. An edit of a test or of a page makes no new wheel.
"""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from support import ROOT, kept
from triton_ext import sdk
from triton_ext.authoring import build

#: What `make wheel` does not read: directories of the checkout, and files at its top.
UNREAD = {"test", "docs", "benchmarks", ".github", ".ci", "CONTRIBUTING.md", "conftest.py", "lit.cfg.py", "mkdocs.yml"}
#: How the names of variables begin that change what CMake, the compiler, pip or our Makefile do.
VARIABLES = (
    "CC",
    "CXX",
    "CFLAGS",
    "LDFLAGS",
    "CMAKE",
    "CPATH",
    "CPLUS",
    "SKBUILD",
    "TRITON",
    "PIP_",
    "MAKEFLAGS",
    "XDG",
)


def make(fill: Callable[[Path], object], directory: Path) -> None:
    """Puts a wheel into the empty `directory`, as `fill` does, or did when the inputs were the same.

    Without git, nothing tells the inputs from what builds and editors leave, and `fill` makes each wheel.

    Args:
        fill: makes one wheel.
        directory: where.
    """

    def compute() -> bytes:
        fill(directory)
        (wheel,) = directory.glob("*.whl")
        return wheel.name.encode() + b"\n" + wheel.read_bytes()

    if not (ROOT / ".git").exists():
        fill(directory)
        return
    name, _, content = kept.output(compute, *inputs(), kind="wheels").partition(b"\n")
    (directory / name.decode()).write_bytes(content)


def inputs() -> Iterator[str]:
    """Yields what determines the wheel, except for what `kept` adds: Python, Triton and the processor."""
    yield kept.digest(sorted(files()))
    yield repr(sorted(i for i in os.environ.items() if i[0].startswith(VARIABLES) and i[0] != "TRITON_CACHE_DIR"))
    yield repr(sorted((found.name, found.version) for found in importlib.metadata.distributions()))
    cache = (build.default_build_dir(ROOT) / "CMakeCache.txt").read_text().splitlines()
    (compiler,) = (line.partition("=")[2] for line in cache if line.startswith("CMAKE_CXX_COMPILER:"))
    yield compiler + subprocess.run([compiler, "--version"], check=True, capture_output=True, text=True).stdout
    # Each says what the SDK, or a part of it, was made from.
    yield kept.digest(sorted(sdk.sdk_root().glob("*/*.json")), sdk.sdk_root())


def files() -> Iterator[Path]:
    """Yields every file that git tracks or would add, except for what is in `UNREAD`."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in listed.split("\0"):
        if name and name.split("/")[0] not in UNREAD and (ROOT / name).is_file():
            yield ROOT / name
