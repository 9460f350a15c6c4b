# SPDX-License-Identifier: Apache-2.0
"""One copy of the checkout after another at one place: nothing that a test has changed is in the next one."""

from __future__ import annotations

import filecmp
from pathlib import Path

import pytest

from support import ROOT, checkout
from triton_ext.support import resources


@pytest.mark.slow
def test_only_libraries_that_no_test_has_changed_stay(tmp_path: Path) -> None:
    place = checkout.Place(tmp_path / "triton-ext")
    tree = place.copy()
    libraries = tree / "python" / "triton_ext" / "lib"
    same, changed, replaced, gone, *_ = sorted(libraries.glob("libtriton_ext_*.so"))
    inodes = {file.name: file.stat().st_ino for file in libraries.iterdir()}
    with changed.open("r+b") as file:
        file.write(b"x")
    replaced.with_name("new").write_bytes(replaced.read_bytes())
    replaced.with_name("new").rename(replaced)
    gone.unlink()
    (libraries / "libtriton_ext_more.so").write_text("")
    (tree / "README.md").write_text("")
    (tree / "passes" / "more").mkdir()

    assert place.copy() == tree
    stayed = {file.name for file in libraries.iterdir() if file.stat().st_ino == inodes[file.name]}
    assert same.name in stayed
    assert stayed.isdisjoint({changed.name, replaced.name, gone.name})
    original = resources.library_dir()
    names = {file.name for file in original.iterdir()}
    assert {file.name for file in libraries.iterdir()} == names
    assert filecmp.cmpfiles(original, libraries, names, shallow=False)[0] == [*names]
    assert (tree / "README.md").read_text() == (ROOT / "README.md").read_text()
    assert not (tree / "passes" / "more").exists()
    assert [file.name for file in tmp_path.iterdir()] == ["triton-ext"]
