# SPDX-License-Identifier: Apache-2.0
"""The kernels of other tests have no bugs, so ``pytest --triton-sanitize`` finds none in them.

One of each kind runs; ``TRITON_EXT_FALSE_ALARMS=full`` runs all tests of the files.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points

import pytest
import triton  # noqa: F401 - the module of a backend cannot be imported before it

import support

pytest.importorskip("triton_ext.backends.cpu.driver")
pytest.importorskip("triton_ext.sanitize")

pytestmark = pytest.mark.slow
#: Files, and which of their tests run.
FILES = {
    "backends/cpu/test/test_constants.py": "2-i64",
    "backends/cpu/test/test_cpu_faults.py": "stores_to or read_only",
    "backends/cpu/test/test_descriptors.py": "test_gather and int16-torch.float16",
    "backends/cpu/test/test_tutorials.py": "781 or (matmul and 129 and float16 and True)",
}


@pytest.mark.parametrize("file", FILES)
def test_no_finding(file: str) -> None:
    if not (support.ROOT / file).exists():
        pytest.skip(f"{file} was deleted")  # any directory of an extension may be
    is_installed = any(one.name == "triton_ext" for one in entry_points(group="pytest11"))
    options = [] if is_installed else ["-p", "triton_ext.sanitize.pytest_plugin"]
    chosen = [] if os.environ.get("TRITON_EXT_FALSE_ALARMS") == "full" else ["-k", FILES[file]]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *options, "--triton-sanitize"]
    done = subprocess.run(
        [*command, *chosen, file], cwd=support.ROOT, capture_output=True, text=True, check=False,
        env=support.environment(CI=""),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout
