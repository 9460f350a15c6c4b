# SPDX-License-Identifier: Apache-2.0
"""One copy of the checkout after another at one place: nothing that a test has changed is in the next one."""

from __future__ import annotations

import filecmp
import os
import shutil
import sys
from pathlib import Path

import pytest

from support import ROOT, checkout
from triton_ext.support import resources


@pytest.mark.slow
def test_only_what_no_test_has_changed_stays(tmp_path: Path) -> None:
    place = checkout.Place(tmp_path / "triton-ext")
    tree = place.copy()
    made = {path: path.is_dir() for path in tree.rglob("*")}
    libraries = tree / "python" / "triton_ext" / "lib"
    same, changed, replaced, gone, *_ = sorted(libraries.glob("libtriton_ext_*.so"))
    inodes = {file.name: file.stat().st_ino for file in libraries.iterdir()}
    with changed.open("r+b") as file:
        file.write(b"x")
    replaced.with_name("new").write_bytes(replaced.read_bytes())
    replaced.with_name("new").rename(replaced)
    gone.unlink()
    (libraries / "libtriton_ext_more.so").write_text("")
    times = (tree / "CONTRIBUTING.md").stat()
    (tree / "CONTRIBUTING.md").write_text("x" * times.st_size)  # the same size, and then the same time
    os.utime(tree / "CONTRIBUTING.md", ns=(times.st_atime_ns, times.st_mtime_ns))
    (tree / "README.md").write_text("")
    (tree / "build" / "dev" / "CMakeCache.txt").write_text("")
    (tree / "passes" / "more" / "inner").mkdir(parents=True)
    (tree / "passes" / "more" / "inner" / "file").write_text("")
    shutil.rmtree(tree / "dialects")
    (tree / "dialects").symlink_to(tree / "passes")
    (tree / ".venv").unlink()
    (tree / ".venv").mkdir()

    assert place.copy() == tree
    stayed = {file.name for file in libraries.iterdir() if file.stat().st_ino == inodes[file.name]}
    assert same.name in stayed
    assert stayed.isdisjoint({changed.name, replaced.name, gone.name})
    original = resources.library_dir()
    names = {file.name for file in original.iterdir()}
    assert {file.name for file in libraries.iterdir()} == names
    assert filecmp.cmpfiles(original, libraries, names, shallow=False)[0] == [*names]
    assert (tree / "README.md").read_text() == (ROOT / "README.md").read_text()
    assert (tree / "CONTRIBUTING.md").read_text() == (ROOT / "CONTRIBUTING.md").read_text()
    assert (tree / "build" / "dev" / "CMakeCache.txt").read_text()
    assert (tree / ".venv").readlink() == Path(sys.prefix)
    assert {path: path.is_dir() for path in tree.rglob("*")} == made
    assert [file.name for file in tmp_path.iterdir()] == ["triton-ext"]
