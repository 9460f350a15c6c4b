# SPDX-License-Identifier: Apache-2.0
"""A run of our tests says how many it skipped and why; in CI one skipped test makes it fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support import PYTHONPATH, ROOT

TESTS = """
import pytest

def test_runs():
    pass

@pytest.mark.skipif(True, reason="there is no gdb")
def test_of_a_debugger():
    pass

def test_of_a_mount():
    pytest.skip("not permitted here: to mount")
"""


def run(directory: Path, tests: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs pytest with our conftest.py on one file."""
    shutil.copy(ROOT / "conftest.py", directory)
    (directory / "pytest.ini").write_text("[pytest]\n")
    (directory / "test_it.py").write_text(tests)
    environment = {name: value for name, value in os.environ.items() if name != "CI" and "PYTEST" not in name}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(
        command,
        cwd=directory,
        env={**environment, "PYTHONPATH": PYTHONPATH, **variables},  # our conftest.py loads `support.fixtures`
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_a_skipped_test_fails_ci(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = run(tmp_path, TESTS, *arguments, CI="true")
    assert done.returncode == 1
    assert "skipped tests: 2, an error in CI unless not permitted\n" in done.stdout
    assert "  1 because: there is no gdb\n    test_it.py::test_of_a_debugger\n" in done.stdout
    assert "  1 because: not permitted here: to mount\n    test_it.py::test_of_a_mount\n" in done.stdout


@pytest.mark.slow
def test_a_skipped_module_fails_ci(tmp_path: Path) -> None:
    done = run(tmp_path, f"{TESTS}\npytest.importorskip('no_such_module')\n", CI="true")
    assert done.returncode == 1
    assert "skipped tests: 1, an error in CI unless not permitted\n" in done.stdout
    assert "No module named 'no_such_module'" in done.stdout


@pytest.mark.slow
def test_elsewhere_it_does_not(tmp_path: Path) -> None:
    done = run(tmp_path, TESTS)
    assert (done.returncode, "skipped tests: 2, an error in CI unless not permitted\n" in done.stdout) == (0, True)


@pytest.mark.slow
def test_what_is_not_permitted_fails_nothing(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        "import pytest\n\ndef test_of_a_mount():\n    pytest.skip('not permitted here: to mount')\n",
        CI="true",
    )
    assert (done.returncode, "skipped tests: 1, " in done.stdout) == (0, True)


@pytest.mark.slow
def test_none(tmp_path: Path) -> None:
    done = run(tmp_path, "def test_runs():\n    pass\n", CI="true")
    assert (done.returncode, "skipped tests: 0\n" in done.stdout) == (0, True)
