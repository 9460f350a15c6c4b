# SPDX-License-Identifier: Apache-2.0
"""``make demo`` shows the edit, its effect, a right result on the CPU, and a command that works."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from support import ROOT


@pytest.mark.slow
def test_make_demo(tmp_path: Path) -> None:
    command = re.search(r"^demo:.*\n\t@\$\(BIN\)/python (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert command
    done = subprocess.run(
        [sys.executable, *command[1].split()], cwd=ROOT, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    text = done.stdout
    assert re.search(r"^loop_split +\d+ → \d+ +← the edit$", text, re.MULTILINE), text
    # The loads of the first of the two loops have no mask.
    first, second = text.split("scf.for")[2:4]
    assert re.search(r"\+ +%left\w* = tt\.load %\w+$", first, re.MULTILINE), text
    assert re.search(r"\+ +%left\w* = tt\.load %\w+, %\w+, %\w+$", second, re.MULTILINE), text
    assert "the results agree with torch's" in text
    for name in ("with loop_split", "torch, relu", "Triton's interpreter"):
        assert re.search(rf"^{re.escape(name)}.* [\d.,]+ *$", text, re.MULTILINE), text
    assert re.search(r"softmax, ragged rows +16384x8190 .* 0\.405 → 0\.221$", text, re.MULTILINE), text

    (trace,) = re.findall(r"^  (\S*triton-ext trace .*)$", text, re.MULTILINE)
    arguments = shlex.split(trace)[1:]
    arguments[arguments.index("--html") + 1] = str(tmp_path / "matmul.html")
    subprocess.run([Path(sys.executable).with_name("triton-ext"), *arguments], cwd=ROOT, check=True)
    assert (tmp_path / "matmul.html").read_text().startswith("<!DOCTYPE html>")
