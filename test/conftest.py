# SPDX-License-Identifier: Apache-2.0
"""The wheel, which several tests install: made once, however many processes the tests run in."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``make wheel``: one file for every Python."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent  # each worker has a directory of its own in that of the whole run
    made = shared / "wheel-is-made"
    with FileLock(shared / "wheel.lock"):
        if not made.exists():
            subprocess.run(["make", "wheel"], cwd=ROOT, check=True, capture_output=True)
            made.touch()
    (built,) = (ROOT / "dist").glob("*.whl")
    return built
