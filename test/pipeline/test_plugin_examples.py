# SPDX-License-Identifier: Apache-2.0
"""Triton's plugin examples with its own test plugin, and ``triton.tools.compile``; see docs/plugin-examples.md."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import triton
from triton.backends.compiler import GPUTarget

import triton_ext as tx
from support.pipeline import kernels
from support.pipeline.kernels import softmax, source, squares

CUDA90 = GPUTarget("cuda", 90, 32)


@pytest.fixture
def plugin() -> tx.Pass:
    """The pass of the wheel's test plugin, which renames every function to ``foo``."""
    tx.load(Path(triton.__file__).parent / "plugins" / "libTritonPluginsTestLib.so")
    return tx.passes.plugin.plugin()


def name(kernel: triton.JITFunction) -> str:
    return triton.compile(source(kernel), target=CUDA90).metadata.name


@pytest.mark.slow
def test_hook_on_hook_off(plugin: tx.Pass) -> None:
    names = [name(softmax)]
    with tx.Pipeline().at_end("ttir", plugin):
        names.append(name(softmax))
    assert [*names, name(softmax)] == ["softmax", "foo", "softmax"]


@pytest.mark.slow
def test_after_loop_unroll(plugin: tx.Pass) -> None:
    pipeline = tx.Pipeline().after("ttir.loop_unroll", plugin)
    seen = tx.describe(source(softmax), target="cuda:90", pipeline=pipeline)
    names = [record.name for record in seen.stages[0].passes]
    assert names[names.index("ttir.loop_unroll") + 1] == "plugin.plugin"


@pytest.mark.slow
def test_an_edited_dump_for_one_kernel_and_not_for_the_other(plugin: tx.Pass) -> None:
    from triton_ext.compilation.rendering import listing

    seen = tx.describe(source(softmax), target="cuda:90")
    dump = listing(seen, seen).replace("  ttir.loop_unroll", "  plugin.plugin\n  ttir.loop_unroll", 1)
    pipeline = tx.Pipeline.parse(dump)
    with pipeline:
        assert name(softmax) == "foo"
    assert name(squares) == "squares"


@pytest.mark.slow
def test_ahead_of_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The C source contains the binary that the pipeline makes, and looks it up by the name that the pipeline gives."""

    def compiled(name: str) -> bytes:
        command = [sys.executable, "-m", "triton.tools.compile", kernels.__file__, "-n", "softmax"]
        command += ["-s", "*fp32:16, *fp32:16, i32, 256", "-g", "1,1,1", "-t", "cuda:90:32", "-o", str(tmp_path / "k")]
        subprocess.run(command, check=True, capture_output=True)
        (file,) = tmp_path.glob("k.*.c")
        assert re.search(rf'cuModuleGetFunction\(.*, "{name}"\)', file.read_text())
        return bytes.fromhex("".join(re.findall(r"0x([0-9a-f]{2})\b", file.read_text())))

    assert b"renamed" not in compiled("softmax")
    monkeypatch.setenv("TRITON_EXT_PIPELINE", "ttir: at_end(rename{old=softmax new=renamed})")
    assert b"renamed" in compiled("renamed")
