# SPDX-License-Identifier: Apache-2.0
"""``sitecustomize`` gives the tests the key that Triton computes, and takes torch out of garbage collections."""

from __future__ import annotations

import builtins
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import triton.runtime.cache

import support

TRITON = Path(triton.__path__[0])


@pytest.fixture(autouse=True)
def _meta_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])  # which the module extends


def load(name: str, file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_each_file_that_triton_reads_is_looked_at_and_the_key_is_its(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = load("kept", Path(support.SITE) / "sitecustomize.py")
    original, read = load("triton.runtime.original", Path(triton.runtime.cache.__file__)), set()
    opened = builtins.open

    def recording(path: Any, *arguments: Any, **options: Any) -> Any:
        read.add(Path(path))
        return opened(path, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(builtins, "open", recording)
        key = original.triton_key()
    assert TRITON / "_C" / "libtriton.so" in read
    assert read <= set(kept.inputs(TRITON))
    program = "from triton.runtime.cache import triton_key; print(triton_key(), triton_key.__module__)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=support.environment()
    )
    assert done.stdout.split() == [key, "sitecustomize"]
    assert os.environ["PYTHONPATH"].split(os.pathsep)[0] == support.SITE


def test_the_next_module_of_this_name_runs_too(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "sitecustomize.py").write_text(f"import sys; sys.{name} = __name__")
    path = os.pathsep.join([support.SITE, str(tmp_path / "first"), str(tmp_path / "second")])
    program = "import sys; print(sys.first, hasattr(sys, 'second'), sys.modules['sitecustomize'].__file__)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=support.environment(PYTHONPATH=path),
    )
    assert done.stdout.split() == ["sitecustomize", "False", str(Path(support.SITE) / "sitecustomize.py")]
    assert not done.stderr


def test_links_are_followed(tmp_path: Path) -> None:
    """A Triton that is built in place links to the directories of its backends."""
    kept = load("kept_links", Path(support.SITE) / "sitecustomize.py")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "compiler.py").touch()
    (tmp_path / "triton" / "backends").mkdir(parents=True)
    (tmp_path / "triton" / "backends" / "linked").symlink_to(tmp_path / "elsewhere")
    assert tmp_path / "triton" / "backends" / "linked" / "compiler.py" in set(kept.inputs(tmp_path / "triton"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("imports", "frozen"), [("torch, triton._C.libtriton", "True"), ("triton._C.libtriton, torch", "False")]
)
def test_torch_is_left_out_of_garbage_collections_before_libtriton(imports: str, frozen: str) -> None:
    """After libtriton, nanobind would report leaks."""
    program = f"import gc, {imports}; print(gc.isenabled(), gc.get_freeze_count() > 100_000)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=support.environment()
    )
    assert done.stdout.split() == ["True", frozen]
    assert not done.stderr
