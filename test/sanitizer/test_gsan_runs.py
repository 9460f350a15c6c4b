# SPDX-License-Identifier: Apache-2.0
"""benchmarks/gpu/sanitizer_gsan.py: every kernel has an answer of its own, whatever the others do to their process."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

from support import ROOT, modules

pytestmark = pytest.mark.slow

#: What a process of sanitizer_corpus.py does, with kernels whose names say what happens.
PROGRAM = """
import os, sys, time
for name in sys.argv[1:]:
    kind = name.split("_")[0]
    if kind == "race":
        print("race detected in a kernel")
        print(f"ended\\t{name}\\t'launch failure'", flush=True)
        break
    if kind == "wrong":
        print(f"ended\\t{name}\\t'illegal address'", flush=True)
        break
    if kind == "hangs":
        time.sleep(100)
    if kind == "crashes":
        os._exit(1)
    if kind == "aborts":
        print("race detected", flush=True)
        os._exit(1)
    print(f"ran\\t{name}", flush=True)
"""


@pytest.fixture
def gsan(monkeypatch: pytest.MonkeyPatch) -> Any:
    found = modules.imported(ROOT / "benchmarks" / "gpu" / "sanitizer_gsan.py")
    monkeypatch.setattr(found, "EACH", 4.0)
    monkeypatch.setattr(found, "FIRST", 10.0)
    return found


def test_each_kernel_has_an_answer(gsan: Any, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    names = ["ok_1", "race_1", "ok_2", "hangs", "wrong", "ok_3", "crashes", "aborts", "race_2", "ok_4"]
    commands = {what: lambda left: [sys.executable, str(script), *left] for what in ("bug", "twin")}
    said = gsan.run_all(commands, names, tmp_path, processes=4, seconds=60)
    expected = {
        "ok_1": "missed", "race_1": "found", "ok_2": "missed", "hangs": "late", "wrong": "did not run",
        "ok_3": "missed", "crashes": "did not run", "aborts": "found", "race_2": "found", "ok_4": "missed",
    }  # fmt: skip
    assert said == {"bug": expected, "twin": expected}


def test_the_deadline_ends_all(gsan: Any, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    started = time.monotonic()
    said = gsan.run_all(
        {"bug": lambda left: [sys.executable, str(script), *left]}, ["hangs_1", "ok"], tmp_path, processes=1, seconds=1
    )
    assert said == {"bug": {"hangs_1": "did not run", "ok": "did not run"}}
    assert time.monotonic() - started < 10
