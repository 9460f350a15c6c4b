# SPDX-License-Identifier: Apache-2.0
"""What every test stands on: a cache of its own, so that no test sees another's kernels or the user's; the wheel."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from filelock import FileLock

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # otherwise Triton 3.9 warns at every compilation


@pytest.fixture(autouse=True)
def kernel_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory for compiled kernels."""
    cache = tmp_path / "kernels"
    monkeypatch.setenv("TRITON_CACHE_DIR", str(cache))
    return cache


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``make wheel``: one file for every Python, made once however many processes test."""
    root = Path(__file__).parent
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent  # each worker has a directory of its own in that of the whole run
    made = shared / "wheel-is-made"
    with FileLock(shared / "wheel.lock"):
        if not made.exists():
            subprocess.run(["make", "wheel"], cwd=root, check=True, capture_output=True)
            made.touch()
    (built,) = (root / "dist").glob("*.whl")
    return built
