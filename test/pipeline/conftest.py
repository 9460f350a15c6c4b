# SPDX-License-Identifier: Apache-2.0
"""A driver that stands in for a GPU up to the launch."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

import support
from support import forked_python, kept_build
from support.fixture_types import MakeOnce
from support.pipeline.no_gpu import NoGpu

HERE = Path(__file__).parent


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes ``kernel.warmup`` compile for cuda:90 on a machine without a GPU."""
    monkeypatch.setattr(driver, "_active", NoGpu(GPUTarget("cuda", 90, 32)))


@pytest.fixture(scope="session")
def report_library(make_once: MakeOnce) -> Path:
    """Builds the pass of ``report/``, which fails in the way that its option names; returns its library."""

    def fill(directory: Path) -> None:
        # From a copy, because ccache recognizes a file by its path relative to the build.
        source = shutil.copytree(HERE / "report", directory / "report")
        kept_build.build_tree(source, source / "build")

    return make_once("reports", fill) / "report" / "build" / "libtriton_ext_report.so"


@pytest.fixture
def run_python() -> Callable[..., str]:
    """Runs a program in a separate process and returns its output."""

    def run(program: str, *arguments: str) -> str:
        command = [sys.executable, "-c", program, *arguments]
        done = forked_python.run(command, cwd=HERE, env=support.environment())
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """``modules(mod_a="text", mod_b="text")`` writes and imports these modules anew, and returns `f` of the last one.

    Each module begins with ``FILE``, the path of a file that a test may write.
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
