# SPDX-License-Identifier: Apache-2.0
"""A third-party pass that is really rebuilt, and a driver that stands in for a GPU up to the launch."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

from triton_ext import build

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def stamps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two builds of the pass `stamp`, which append ``_v1`` and ``_v2`` to the names of public functions."""
    built = {}
    for version in ("v1", "v2"):
        source = tmp_path_factory.mktemp(version) / "stamp"
        shutil.copytree(HERE / "stamp", source)
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


class NoGpu:
    """As much of a Triton driver as a compilation through ``kernel[grid]`` asks for."""

    def __init__(self, target: GPUTarget) -> None:
        self.target = target

    def get_current_target(self) -> GPUTarget:
        return self.target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes ``kernel.warmup`` compile for cuda:90 on a machine without a GPU."""
    monkeypatch.setattr(driver, "_active", NoGpu(GPUTarget("cuda", 90, 32)))


@pytest.fixture
def run_python() -> Callable[..., str]:
    """Runs a program in a process of its own and returns what it prints."""

    def run(program: str, *arguments: str) -> str:
        command = [sys.executable, "-c", program, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
