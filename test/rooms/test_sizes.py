# SPDX-License-Identifier: Apache-2.0
"""A module of Python does one thing, and so has at most 300 lines."""

from __future__ import annotations

import subprocess

from support import ROOT

MOST = 300


def test_no_module_is_longer() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "python/*.py", "backends/*.py", "dialects/*.py", "passes/*.py", "infra/*.py"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    files = [ROOT / name for name in listed.stdout.split() if "/test/" not in name]
    assert len(files) > 200
    lines = {str(file): file.read_text().count("\n") for file in files if file.is_file()}
    assert {file: count for file, count in lines.items() if count > MOST} == {}
