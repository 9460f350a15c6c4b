# SPDX-License-Identifier: Apache-2.0
"""A copy of the checkout that tests may break, built once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from support import ROOT
from support.build_tree import Tree

PARTS = ("CMakeLists.txt", "infra/cmake", "infra/pass", "infra/sdk/sources.toml", "passes/rename", "python/triton_ext")


@pytest.fixture(scope="session")
def built_tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """Makes the copy and builds its libraries."""
    root = tmp_path_factory.mktemp("checkout")
    for part in PARTS:
        target = root / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, target, ignore=shutil.ignore_patterns("lib", "__pycache__", "test"))
        else:
            shutil.copy(ROOT / part, target)
    tree = Tree(root)
    # Without the header of the checkout, which takes longer than the few files of this copy.
    done = tree.run("build", "-D", "TRITON_EXT_PCH=SHARED")
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(tree.digests()) == {"libTritonExtPassInfra.so", "libtriton_ext_rename.so"}
    return tree


@pytest.fixture
def tree(built_tree: Tree) -> Iterator[Tree]:
    """Returns the built copy, and removes afterwards what a test has added to it."""
    before = {path for kind in ("passes", "dialects") for path in built_tree.root.glob(f"{kind}/*")}
    yield built_tree
    for kind in ("passes", "dialects"):
        for path in set(built_tree.root.glob(f"{kind}/*")) - before:
            shutil.rmtree(path)
