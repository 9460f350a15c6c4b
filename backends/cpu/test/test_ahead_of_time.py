# SPDX-License-Identifier: Apache-2.0
"""A kernel has all metadata that Triton reads; the ahead-of-time tool writes a file or ends with one clear error."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import triton
import triton.language as tl

TRITON = Path(triton.__file__).parent
KERNEL = """
import triton, triton.language as tl

@triton.jit
def add(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)
"""


@triton.jit
def copied(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i))


@pytest.mark.slow
def test_metadata_is_complete() -> None:
    """A kernel has every attribute that Triton's compiler, runtime and tools read from a kernel of any backend."""
    x = np.zeros(16, np.float32)
    kernel = copied[(1,)](x, x, BLOCK=16)
    read: set[str] = set()
    for directory in ("compiler", "runtime", "tools"):
        for file in (TRITON / directory).glob("*.py"):
            read |= set(re.findall(r"(?<![\w.])(?:self|kernel|ccinfo)\.metadata\.(\w+)", file.read_text()))
            read |= set(re.findall(r"\(ccinfo\.metadata, \"(\w+)\"", file.read_text()))
    assert {"shared", "profile_scratch_size", "num_warps"} <= read, "Triton's Python reads them in another way"
    assert not {name for name in read if not hasattr(kernel.metadata, name)}


def compile_file(tmp_path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "kernels.py").write_text(KERNEL)
    arguments = ["-n", "add", "-g", "n/64,1,1", "-s", "*fp32:16, *fp32:16, i32, 64", "-o", "add"]
    return subprocess.run(
        [sys.executable, "-m", "triton.tools.compile", "kernels.py", *arguments, *options],
        env={**os.environ, "TRITON_DEFAULT_BACKEND": "cpu"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_tool_without_a_target(tmp_path: Path) -> None:
    """The tool compiles the kernel, then fails with the reason why it writes no C code for this target."""
    done = compile_file(tmp_path)
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("RuntimeError: the kernel compiles, but Triton's tools/compile.py writes C code for cuda")
    assert list(Path(os.environ["TRITON_CACHE_DIR"]).rglob("add.so")), "the kernel was not compiled"


@pytest.mark.slow
@pytest.mark.parametrize("target", ["cuda:90:32"])
def test_the_tool_for_another_target(target: str, tmp_path: Path) -> None:
    done = compile_file(tmp_path, "--target", target)
    assert done.returncode == 0, done.stderr[-2000:]
    assert {file.suffix for file in tmp_path.glob("add.*")} == {".c", ".h"}
