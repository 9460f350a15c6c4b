# SPDX-License-Identifier: Apache-2.0
"""A trace shows the source files of the kernel, and not files that somebody has named in its IR."""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

import triton_ext as tx
from support import modules
from support.trace import relu
from support.trace.compilations import SIGNATURE
from triton_ext.cli import cli

HELPER = """
import triton
import triton.language as tl

@triton.jit
def twice(x):
    return x + x
"""
KERNEL = """
import triton
import triton.language as tl
import helper_{0} as helper
from once_{0} import once

@triton.jit
def kernel(x, F: tl.constexpr):
    value = helper.twice(once(tl.load(x))) + tl.sum(tl.arange(0, 16), 0)
    tl.store(x, F(value))
"""
MODULE = """
module {{
  tt.func public @k() {{
    tt.return loc("{0}":1:1)
  }} loc("{0}":1:1)
}} loc("{0}":1:1)
"""


def load(name: str, text: str, directory: Path) -> ModuleType:
    path = directory / f"{name}.py"
    path.write_text(text)
    return modules.imported(path, register=True)


@pytest.mark.slow
def test_the_files_of_what_a_kernel_calls(tmp_path: Path) -> None:
    """A kernel may call a function through its module, by its own name, as an argument, or Triton's own."""
    unique = tmp_path.name
    load(f"helper_{unique}", HELPER, tmp_path)
    load(f"once_{unique}", HELPER.replace("twice", "once"), tmp_path)
    given = load(f"given_{unique}", HELPER.replace("twice", "given"), tmp_path)
    kernel = load(f"kernel_{unique}", KERNEL.format(unique), tmp_path).kernel
    found = tx.trace(kernel, target="cuda:90", signature={"x": "*fp32", "F": given.given})
    names = {Path(path).name for path, _ in found.sources}
    assert {f"{kind}_{unique}.py" for kind in ("kernel", "helper", "once", "given")} <= names
    assert "standard.py" in names  # tl.sum


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "pipe", "device"])
def test_ir_in_a_file_chooses_nothing(kind: str, tmp_path: Path) -> None:
    """The IR may name a file of anybody; a pipe or a device is not opened."""
    named = tmp_path / "named.py"
    if kind == "file":
        named.write_text("secret")
    elif kind == "pipe":
        os.mkfifo(named)
    else:
        named.symlink_to("/dev/zero")
    module = tmp_path / "k.ttir"
    module.write_text(MODULE.format(named))
    assert tx.trace(module, target="cuda:90").sources == ()
    shown = tx.trace(module, target="cuda:90", sources=tmp_path).sources
    assert shown == (((str(named), "secret"),) if kind == "file" else ())
    assert tx.trace(module, target="cuda:90", sources="/").sources == shown
    (tmp_path / "other").mkdir()
    assert tx.trace(module, target="cuda:90", sources=tmp_path / "other").sources == ()
    with pytest.raises(tx.TritonExtError, match="is not a directory with sources"):
        tx.trace(module, target="cuda:90", sources=tmp_path / "nowhere")


@pytest.mark.slow
def test_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "named.py").write_text("shown")
    (tmp_path / "k.ttir").write_text(MODULE.format(tmp_path / "named.py"))
    command = ["trace", str(tmp_path / "k.ttir"), "-t", "cuda:90", "--dir", str(tmp_path / "trace")]
    for more, is_shown in (([], False), (["--sources", str(tmp_path)], True)):
        done = CliRunner().invoke(cli, [*command, *more])
        assert done.exit_code == 0, done.output
        assert (tmp_path / "trace" / "sources" / "named.py").exists() == is_shown


@pytest.mark.slow
def test_a_file_that_cannot_be_written() -> None:
    with pytest.raises(tx.TritonExtError, match="null"):
        tx.trace(relu.matmul, target="cuda:90", signature=SIGNATURE, html="a\0b")
