# SPDX-License-Identifier: Apache-2.0
"""A driver that stands in for a GPU up to the launch."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

from triton_ext.authoring import build

HERE = Path(__file__).parent


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


@pytest.fixture(scope="session")
def report_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pass of ``report/``, which goes wrong as its option says."""
    tree = tmp_path_factory.mktemp("report")
    build.build_tree(HERE / "report", tree)
    return tree / "libtriton_ext_report.so"


@pytest.fixture
def run_python() -> Callable[..., str]:
    """Runs a program in a process of its own and returns what it prints."""

    def run(program: str, *arguments: str) -> str:
        command = [sys.executable, "-c", program, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """``modules(mod_a="text", mod_b="text")`` writes and imports them anew, and returns `f` of the last.

    Each begins with ``FILE``, the path of a file that a test may write.
    """
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def load(**texts: str) -> Any:
        for name, text in texts.items():
            (tmp_path / f"{name}.py").write_text(f"FILE = {str(tmp_path / 'file')!r}\n{text}\n")
        for name in texts:
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        *_, last = (importlib.import_module(name) for name in texts)
        return last.f

    yield load
    for name in [name for name in sys.modules if name.startswith("mod_")]:
        del sys.modules[name]
