# SPDX-License-Identifier: Apache-2.0
"""``infra/system-packages`` prints one line with the packages to install if it may not install them itself."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support import ROOT

SCRIPT = ROOT / "infra" / "system-packages"


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Returns a directory for PATH with the programs that the script needs, and an `id` of a user who is not root."""
    for name in ("bash", "cut", "env", "mktemp", "rm", "tail"):
        found = shutil.which(name)
        assert found is not None
        (tmp_path / name).symlink_to(found)
    write(tmp_path / "id", "echo 1000")
    return tmp_path


def write(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def run(programs: Path, python: str = sys.executable, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(programs), **variables}
    return subprocess.run([SCRIPT, python], env=environment, capture_output=True, text=True, check=False)


def test_no_clang_and_no_root(programs: Path) -> None:
    done = run(programs)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "error: clang-19 lld-19 missing (fix: sudo apt-get install -y --no-install-recommends clang-19 lld-19)\n"
    )


def test_the_tests_of_ci_need_more(programs: Path) -> None:
    write(programs / "clang++", "echo 19.0.0")
    assert run(programs).returncode == 0
    done = run(programs, CI="true")
    assert done.returncode == 1
    assert done.stderr == (
        "error: ccache g++ chromium gdb luajit valgrind gnupg openssl missing"
        " (fix: sudo apt-get install -y --no-install-recommends"
        " ccache g++ chromium gdb luajit valgrind gnupg openssl)\n"
    )


@pytest.mark.parametrize(
    ("name", "version", "enough"), [("clang++-17", "", True), ("clang++", "19", True), ("clang++", "14", False)]
)
def test_clang_is_found_under_its_names(programs: Path, name: str, version: str, enough: bool) -> None:
    write(programs / name, f"echo {version}.0.0")
    assert (run(programs).returncode == 0) is enough


def test_python_is_too_old(programs: Path) -> None:
    write(programs / "python3", '[ "$1" = --version ] && echo Python 3.9.2; exit 1')
    done = run(programs, "python3")
    assert done.returncode == 1
    assert done.stderr == "error: Python 3.11 or newer is needed, found: Python 3.9.2 (fix: make PYTHON=python3.11)\n"


def test_apt_that_fails_leaves_its_last_words(programs: Path) -> None:
    write(programs / "id", "echo 0")
    write(programs / "apt-get", "echo 'E: Unable to locate package clang-19'; exit 100")
    done = run(programs)
    assert done.returncode == 1
    assert "E: Unable to locate package clang-19" in done.stderr
    assert "(fix: apt-get update && apt-get install" in done.stderr
