# SPDX-License-Identifier: Apache-2.0
"""The dialect ``tally``, built as a project of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support import kept_build


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory with its libraries."""
    if given := os.environ.get("TALLY_LIBRARIES"):  # of somebody who works on these tests
        return Path(given)
    out = tmp_path_factory.mktemp("tally")
    project = Path(__file__).parent / "tally"
    kept_build.build_tree(project, out / "build", (f"TRITON_EXT_STAGE_DIR={out / 'lib'}",), results=out / "lib")
    return out / "lib"


@pytest.fixture(autouse=True)
def installed(libraries: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """triton-ext finds it."""
    monkeypatch.setenv("TRITON_EXT_PATH", str(libraries))
