# SPDX-License-Identifier: Apache-2.0
"""What every test stands on: a cache of its own, so that no test sees another's kernels or the user's; the
wheel; a third-party pass that is really rebuilt.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
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


@pytest.fixture(scope="session")
def stamps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two builds of the pass `stamp`, which append ``_v1`` and ``_v2`` to the names of public functions."""
    from triton_ext.authoring import build

    built = {}
    for version in ("v1", "v2"):
        source = tmp_path_factory.mktemp(version) / "stamp"
        shutil.copytree(Path(__file__).parent / "test" / "pipeline" / "stamp", source)
        code = (source / "Stamp.cpp").read_text()
        (source / "Stamp.cpp").write_text(code.replace('VERSION "_v1"', f'VERSION "_{version}"'))
        build.build_tree(source, source / "build")
        built[version] = source / "build" / "libtriton_ext_stamp.so"
    return built


@pytest.fixture
def install_stamp(stamps: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """``install_stamp("v2")`` puts that build where ``TRITON_EXT_PATH`` points, as a rebuild does."""
    library = tmp_path / "libtriton_ext_stamp.so"
    monkeypatch.setenv("TRITON_EXT_PATH", str(library))

    def install(version: str) -> None:
        shutil.copy(stamps[version], library.with_suffix(".part"))
        library.with_suffix(".part").replace(library)

    return install
