# SPDX-License-Identifier: Apache-2.0
"""What every test stands on: a cache of its own, so that no test sees another's kernels or the user's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # otherwise Triton 3.9 warns at every compilation


@pytest.fixture(autouse=True)
def kernel_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory for compiled kernels."""
    cache = tmp_path / "kernels"
    monkeypatch.setenv("TRITON_CACHE_DIR", str(cache))
    return cache
