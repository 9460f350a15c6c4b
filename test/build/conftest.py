# SPDX-License-Identifier: Apache-2.0
"""A copy of the checkout that tests may break, built once."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# An editable installation comes before everything in PYTHONPATH.
MAIN = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in repr(finder)]
from triton_ext.cli import main
main()
"""
PARTS = ("CMakeLists.txt", "infra/cmake", "infra/pass", "infra/sdk/sources.toml", "passes/rename", "python/triton_ext")


@dataclass(frozen=True)
class Tree:
    """A checkout.

    Attributes:
        root: its directory.
    """

    root: Path

    @property
    def stage(self) -> Path:
        """Where its libraries are put."""
        return self.root / "python" / "triton_ext" / "lib"

    def digests(self) -> dict[str, str]:
        """Name and digest of everything that is staged."""
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(self.stage.iterdir())}

    def add(self, extension: str, **files: str) -> Path:
        """Writes the directory `extension`, e.g. ``passes/one``; ``Foo_td`` is the file ``Foo.td``."""
        directory = self.root / extension
        directory.mkdir(parents=True)
        for name, text in files.items():
            stem, _, suffix = name.rpartition("_")
            (directory / f"{stem}.{suffix}").write_text(text)
        return directory

    def command(self, *arguments: str) -> list[str]:
        """``triton-ext`` of this checkout."""
        return [sys.executable, "-c", MAIN, *arguments]

    def environment(self, **variables: str) -> dict[str, str]:
        """The environment in which `command` is that of this checkout."""
        return {**os.environ, "PYTHONPATH": str(self.root / "python"), **variables}

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs ``triton-ext`` of this checkout in it."""
        return subprocess.run(
            self.command(*arguments),
            cwd=self.root,
            env=self.environment(**variables),
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )


@pytest.fixture(scope="session")
def built_tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The copy, with its libraries built."""
    root = tmp_path_factory.mktemp("checkout")
    for part in PARTS:
        target = root / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, target, ignore=shutil.ignore_patterns("lib", "__pycache__", "test"))
        else:
            shutil.copy(ROOT / part, target)
    tree = Tree(root)
    done = tree.run("build")
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(tree.digests()) == {"libTritonExtPassInfra.so", "libtriton_ext_rename.so"}
    return tree


@pytest.fixture
def tree(built_tree: Tree) -> Iterator[Tree]:
    """The built copy; what a test has added to it is gone afterwards."""
    before = {path for kind in ("passes", "dialects") for path in built_tree.root.glob(f"{kind}/*")}
    yield built_tree
    for kind in ("passes", "dialects"):
        for path in set(built_tree.root.glob(f"{kind}/*")) - before:
            shutil.rmtree(path)
