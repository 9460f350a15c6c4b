# SPDX-License-Identifier: Apache-2.0
"""A source file, of Python or C++, does one thing, and so has at most 300 lines."""

from __future__ import annotations

import subprocess

from support import ROOT

MOST = 300
DIRECTORIES = ("backends", "dialects", "infra", "passes")


def _lines(*patterns: str) -> dict[str, int]:
    """Returns how many lines each file has that git tracks and that matches one of `patterns`."""
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [name for name in listed.stdout.split() if (ROOT / name).is_file()]
    return {name: (ROOT / name).read_text().count("\n") for name in files}


def test_no_module_is_longer() -> None:
    found = _lines("python/*.py", *(f"{directory}/*.py" for directory in DIRECTORIES))
    lines = {name: count for name, count in found.items() if "/test/" not in name}
    assert len(lines) > 200
    assert {name: count for name, count in lines.items() if count > MOST} == {}


def test_no_source_of_cpp_is_longer() -> None:
    lines = _lines(*(f"{directory}/*.{suffix}" for directory in (*DIRECTORIES, "test") for suffix in ("cpp", "h")))
    assert len(lines) > 200
    assert {name: count for name, count in lines.items() if count > MOST} == {}
