# SPDX-License-Identifier: Apache-2.0
"""``memcheck.py`` finds a pass that reads a destroyed block argument, and reports nothing for correct lit tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from triton_ext.authoring import build

HERE = Path(__file__).parent
TEST = """// RUN: triton-ext-opt %s -planted{options} | FileCheck %s
// CHECK: tt.func @f
tt.func @f() {{
  tt.return
}}
"""


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")
def test_a_planted_error_is_found(tmp_path: Path) -> None:
    build.build_tree(HERE / "planted", tmp_path / "build")
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "right.mlir").write_text(TEST.format(options=""))
    (tests / "wrong.mlir").write_text(TEST.format(options="=freed=true"))
    # lit looks for its configuration in the directories around a test.
    shutil.copy(HERE.parent.parent / "lit.cfg.py", tests)
    done = subprocess.run(
        [sys.executable, HERE / "memcheck.py", "-a", tests],
        env={**os.environ, "TRITON_EXT_PATH": str(tmp_path / "build" / "libtriton_ext_planted.so")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "memcheck: 1 processes with errors" in done.stdout, done.stdout
    said = done.stdout.partition("first of them:")[2]
    assert "Invalid read" in said
    assert "PlantedPass" in said
    assert "PASS: tests :: right.mlir" in done.stdout
    assert "FAIL: tests :: wrong.mlir" in done.stdout
