# SPDX-License-Identifier: Apache-2.0
"""``make demo`` shows the edit, its effect, a right result on the CPU, and a command that works.

It runs with no other libraries than those that it builds, and warns of none.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from support import ROOT
from triton_ext.authoring.build import default_build_dir, tool
from triton_ext.support import resources

RECIPE = r"^demo:.*\n\t@\$\(BIN\)/triton-ext build (.*)\n\t@\$\(BIN\)/python (.*)$"


def link_libraries(names: list[str], directory: Path) -> None:
    """Puts those libraries into `directory` that ``triton-ext build NAMES`` makes."""
    targets = ["TritonExtCore", *(f"triton_ext_{name}" for name in names)]
    ninja = [tool("ninja"), "-C", str(default_build_dir(ROOT)), "-t", "inputs", *targets]
    inputs = subprocess.run(ninja, capture_output=True, text=True, check=True).stdout
    built = {Path(line).name for line in inputs.splitlines() if line.endswith(".so")}
    for library in resources.library_dir().glob("*.so"):
        if library.name in built:
            (directory / library.name).symlink_to(library)


@pytest.mark.slow
def test_make_demo(tmp_path: Path) -> None:
    recipe = re.search(RECIPE, (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe
    libraries = tmp_path / "lib"
    libraries.mkdir()
    link_libraries(recipe[1].split(), libraries)
    assert 6 < len(list(libraries.iterdir())) < 12
    done = subprocess.run(
        [sys.executable, *recipe[2].split()],
        cwd=ROOT,
        env={**os.environ, "TRITON_EXT_LIBRARY_DIR": str(libraries)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
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
