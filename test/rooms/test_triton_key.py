# SPDX-License-Identifier: Apache-2.0
"""``sitecustomize``, which keeps Triton's own key, gives the tests the key that Triton computes."""

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


def load(name: str, file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_file_that_triton_reads_is_looked_at_and_the_key_is_its(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])  # which it extends
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
