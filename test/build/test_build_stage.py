# SPDX-License-Identifier: Apache-2.0
"""Libraries are staged whole, staged again if one is missing, and removed with their extension."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from support.build_tree import PLAIN

if TYPE_CHECKING:
    from support.build_tree import Tree

pytestmark = pytest.mark.slow

# Takes seconds to compile, with or without the precompiled header.
SLOW = """
#include <utility>
template <int N> constexpr int spin() { int n = N; for (int i = 0; i < 250000; ++i) n ^= i; return n; }
template <int N> constexpr int spun = spin<N>();
template <int... N> int all(std::integer_sequence<int, N...>) { return (spun<N> + ...); }
int result = all(std::make_integer_sequence<int, 50>());
"""


def test_deleted_extension_goes(tree: Tree) -> None:
    before = tree.digests()
    directory = tree.add("passes/plain", **PLAIN)
    done = tree.run("build")
    assert done.returncode == 0, done.stdout
    assert tree.digests().keys() - before.keys() == {"libtriton_ext_plain.so"}
    assert "plain" in tree.run("list").stdout
    shutil.rmtree(directory)
    assert tree.run("build").returncode == 0
    assert tree.digests() == before
    listed = tree.run("list").stdout
    assert "plain" not in listed
    assert "ok" in listed


def test_library_is_restored(tree: Tree) -> None:
    before = tree.digests()
    (tree.stage / "libtriton_ext_rename.so").unlink()
    assert tree.run("build", "rename").returncode == 0
    assert tree.digests() == before
    shutil.rmtree(tree.stage)
    assert tree.run("build").returncode == 0
    assert tree.digests() == before


def test_what_lies_in_an_extension_is_built_with_it(tree: Tree) -> None:
    outer = {**PLAIN, "CMakeLists_txt": PLAIN["CMakeLists_txt"] + "add_subdirectory(inner)\n"}
    inner = {
        name.replace("Plain", "Inner"): text.replace("plain", "inner").replace("Plain", "Inner")
        for name, text in PLAIN.items()
    }
    directory = tree.add("passes/plain", **outer)
    tree.add("passes/plain/inner", **inner)
    try:
        done = tree.run("build", "plain")
        assert done.returncode == 0, done.stdout
        assert {"libtriton_ext_plain.so", "libtriton_ext_inner.so"} <= tree.digests().keys()
    finally:
        shutil.rmtree(directory)
        tree.run("build")


def test_nothing_to_do(tree: Tree) -> None:
    times = {path: path.stat().st_mtime_ns for path in tree.stage.iterdir()}
    assert "no work to do" in tree.run("build").stdout
    assert {path: path.stat().st_mtime_ns for path in tree.stage.iterdir()} == times


@pytest.mark.parametrize("moment", ["configure", "compile"])
def test_interrupted(moment: str, tree: Tree) -> None:
    """Ctrl-C reaches the whole process group. What was there stays, and the next build finishes the job."""
    before = tree.digests()
    directory = tree.add("passes/plain", **(PLAIN | {"Plain_cpp": SLOW} if moment == "compile" else PLAIN))
    process = subprocess.Popen(
        tree.command("build"),
        cwd=tree.root,
        env=tree.environment(CCACHE_DISABLE="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    if moment == "compile":
        for line in process.stdout:
            if "PlainGlue.cpp" in line:
                break
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=20)
    assert (process.returncode, stderr.strip()) == (130, "interrupted")
    assert tree.digests() == before
    (directory / "Plain.cpp").write_text(PLAIN["Plain_cpp"])
    assert tree.run("build").returncode == 0
    assert tree.digests().keys() - before.keys() == {"libtriton_ext_plain.so"}
    shutil.rmtree(directory)
    assert tree.run("build").returncode == 0
    assert tree.digests() == before
