# SPDX-License-Identifier: Apache-2.0
"""The library of `layout_ext`: found by the name of its dialect, part of the kernel's key, and its absence."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import triton_ext as tx
from support import forked_python, mutants
from triton_ext.cli.layout import layout as command
from triton_ext.support.resources import library_dir

TILE = "#layout_ext.warp_tile<{tile = [32, 32], vec = 4, order = [1, 0], warps = [2, 2], lanes = 32}>"
TWICE = "#ttg.linear<{register = [[1, 0]], lane = [], warp = [], block = []}>"
LANES = "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"
DEEP = "#layout_ext.warp_tile<{tile = [2, 8, 4], vec = 2, order = [1, 2, 0], warps = [1, 2, 4], lanes = 16}>"
LAYOUTS = [
    (TILE, (64, 64)),
    (DEEP, (2, 16, 16)),
    (f"#layout_ext.product<{TILE} over [64, 64], {TWICE} over [2, 1]>", (128, 64)),
    (f"#layout_ext.composed<{LANES} over [32], #layout_ext.map<[[16], [8], [4], [2], [1]]>>", (32,)),
    ("#layout_ext.swizzled_tiles<{tile = [2, 4], phases = 8}>", (32, 64)),
]

PROGRAM = """
import hashlib, json, sys
import triton, triton.language as tl, triton_ext as tx
from triton.backends.compiler import GPUTarget

@triton.jit
def transpose(x, y):
    i = tl.arange(0, 64)
    tl.store(y + i[None, :] * 64 + i[:, None], tl.load(x + i[:, None] * 64 + i[None, :]))

give = tx.passes.ttgir.assign_layout(kind="load", layout=sys.argv[1])
with tx.Pipeline().after("ttgpuir.coalesce", give):
    made = triton.compile(
        triton.compiler.ASTSource(transpose, {"x": "*fp32", "y": "*fp32"}), target=GPUTarget("cuda", 90, 32)
    )
print(json.dumps([made.metadata.hash, hashlib.sha256(made.asm["ptx"].encode()).hexdigest()]))
"""


@pytest.mark.parametrize(("text", "shape"), LAYOUTS)
def test_the_inverse(text: str, shape: tuple[int, ...]) -> None:
    """The inverse and then the layout give each element itself; so do the layout and then the inverse, if no place
    repeats."""
    layout = tx.layouts.read(text, shape)
    if not layout.is_bijective():  # four warps of a layout of 32 elements have the same
        with pytest.raises(tx.layouts.LayoutError, match="only a bijective layout has an inverse"):
            layout.inverted()
        return
    for one, other in ((layout.inverted(), layout), (layout, layout.inverted())):
        identity = one.composed(other)
        assert list(identity.ins) == list(identity.outs)
        for position, (name, columns) in enumerate(identity.bases.items()):
            assert columns == [
                [1 << bit if at == position else 0 for at in range(len(identity.outs))] for bit in range(len(columns))
            ], name


def test_which_of_them_have_an_inverse() -> None:
    assert [tx.layouts.read(*each).is_bijective() for each in LAYOUTS] == [True, True, True, False, True]


def test_the_command_draws_it() -> None:
    result = CliRunner().invoke(command, [TILE, "--shape", "64x64", "--window", "4x8"], catch_exceptions=False)
    lines = result.output.splitlines()
    assert lines[0] == f"{TILE} on 64x64"
    assert lines[3].split() == ["0", "0:0-3", "1:0-3"]
    assert lines[4].split() == ["1", "8:0-3", "9:0-3"]


def run(layout: str, libraries: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    (program := cache.parent / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "TRITON_EXT_LIBRARY_DIR": str(libraries), "TRITON_CACHE_DIR": str(cache)}
    return forked_python.run([sys.executable, program, layout], env=environment)


def answer(libraries: Path, cache: Path) -> Any:
    done = run(TILE, libraries, cache)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_rebuilt_dialect_gives_a_new_kernel(tmp_path: Path) -> None:
    """Other bytes are another key; if the layout is another one, so is the kernel. The pass is the same."""
    cache = tmp_path / "cache"
    key, ptx = answer(library_dir(), cache)
    assert answer(library_dir(), cache) == [key, ptx]
    source = mutants.copy_source("dialects/layout_ext", tmp_path / "scratch") / "Algebra.cpp"
    old, new = "for (unsigned dim = tile.size(); dim-- > 0;)", "for (unsigned dim = 0; dim < tile.size(); ++dim)"
    text = source.read_text()
    assert text.count(old) == 1
    source.write_text(text.replace(old, new))
    libraries = mutants.build_source("dialects/layout_ext", tmp_path / "scratch")
    rebuilt = answer(libraries, cache)
    assert rebuilt[0] != key
    assert rebuilt[1] != ptx
    shutil.copyfile(library_dir() / "libtriton_ext_layout_ext.so", libraries / "libtriton_ext_layout_ext.so")
    with (libraries / "libtriton_ext_layout_ext.so").open("ab") as file:
        file.write(b"changed")
    changed = answer(libraries, cache)
    assert changed[0] not in (key, rebuilt[0])
    assert changed[1] == ptx


@pytest.mark.slow
def test_a_broken_or_missing_library(tmp_path: Path) -> None:
    """Each is one error that names the dialect."""
    libraries = tmp_path / "lib"
    shutil.copytree(library_dir(), libraries)
    library = libraries / "libtriton_ext_layout_ext.so"
    library.write_bytes(library.read_bytes()[:5000])
    done = run(TILE, libraries, tmp_path / "cache")
    last = done.stderr.splitlines()[-1]
    assert last.startswith("triton_ext.errors.TritonExtError: the dialect 'layout_ext' is broken: ")
    library.unlink()
    done = run(TILE, libraries, tmp_path / "cache")
    assert "neither Triton nor an extension has the dialect 'layout_ext' (fix: triton-ext list" in done.stderr
    drawn = forked_python.run(
        [sys.executable, "-m", "triton_ext", "layout", TILE, "--shape", "64x64"],
        env={**os.environ, "TRITON_EXT_LIBRARY_DIR": str(libraries)},
    )
    assert drawn.stderr == (
        "triton-ext: error: neither Triton nor an extension has the dialect 'layout_ext' "
        "(fix: triton-ext list shows extensions)\n"
    )
