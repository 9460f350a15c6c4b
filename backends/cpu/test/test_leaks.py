# SPDX-License-Identifier: Apache-2.0
"""Many compilations and launches leave nothing behind in a process (see leak_check.py for the long run)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

COMPILES = 160


@pytest.mark.slow
def test_nothing_is_left_behind() -> None:
    script = Path(__file__).parent / "leak_check.py"
    done = subprocess.run(
        [sys.executable, script, "--compiles", str(COMPILES), "--launches", "10000", "--warmup", "80"],
        capture_output=True,
        text=True,
        check=True,
    )
    grown = json.loads(done.stdout)
    for what in ("descriptors", "mappings", "threads", "libraries"):
        assert grown["compiles"][what] <= 2, grown
        assert grown["launches"][what] <= 0, grown
    # If the modules that Triton itself does not free stayed alive, each compilation would take 34 KB.
    assert grown["compiles"]["bytes"] < COMPILES * 24_000, grown
    assert grown["launches"]["bytes"] < 1 << 20, grown
