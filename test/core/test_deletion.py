# SPDX-License-Identifier: Apache-2.0
"""Any one extension can be deleted: the others configure, build and load, and the core works.

The tests remove each directory of ``passes``, ``dialects`` and ``backends`` in turn from a copy of the checkout. CMake
configures the copy, whose remaining files must not refer to the deleted directory. The copy then uses the remaining
libraries, which were built before. With ``TRITON_EXT_DELETION=full`` the copy is really built, and `CORE_TESTS` run in
it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import support
from support import checkout
from triton_ext.authoring import build

ROOT = checkout.ROOT
KINDS = ("passes", "dialects", "backends")
DIRECTORIES = sorted(str(p.parent.relative_to(ROOT)) for kind in KINDS for p in (ROOT / kind).glob("*/CMakeLists.txt"))
FULL = os.environ.get("TRITON_EXT_DELETION") == "full"
#: Tests of the core that need no extension.
CORE_TESTS = (
    "test/build/test_build_tools.py",
    "test/pipeline/test_anchors.py",
    "test/sdk/test_sdk_sources.py",
    "test/storage/test_storage.py",
)
#: An editable installation finds its own checkout before any other; these processes must use the copy.
SITE = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if not type(finder).__name__.startswith("ScikitBuild")]
"""
#: Writes the metadata of the package as an installation does.
METADATA = "import sys, scikit_build_core.build as b; b.prepare_metadata_for_build_editable(sys.argv[1])"
_LEFT_OUT = re.compile(r"^-- triton-ext: leaving out (\w+), which needs (.*)$", re.MULTILINE)
_ADDED = re.compile(r"^triton_ext_add_(?:pass|llvm_pass|dialect|backend)\((\w+)([^)]*)\)", re.MULTILINE)

pytestmark = pytest.mark.slow


def declared() -> dict[str, set[str]]:
    """Returns for each directory the directories that its CMakeLists.txt names: dialects, passes, and the backend of
    its stage."""
    stages = {
        stage
        for file in ROOT.glob("backends/*/backend.json")
        for stage, about in json.loads(file.read_text())["stages"].items()
        if "passes" in about
    }
    found: dict[str, set[str]] = {}
    for directory in DIRECTORIES:
        match = _ADDED.search((ROOT / directory / "CMakeLists.txt").read_text())
        assert match, directory
        lists: dict[str, list[str]] = {"": []}
        for word in match[2].split():
            if word.isupper():
                lists[word] = []
            else:
                lists[list(lists)[-1]].append(word)
        needs = {f"dialects/{name}" for name in lists.get("DIALECTS", ())}
        needs |= {f"passes/{name}" for name in lists.get("PASSES", ())}
        if set(lists.get("STAGE", ())) & stages:
            needs |= {f"backends/{name}" for name in lists["TARGET"]}
        found[directory] = needs & set(DIRECTORIES)  # the others are MLIR's dialects
    return found


def dependents(directory: str) -> set[str]:
    """Returns the directories whose extensions need that of `directory`."""
    gone, before = {directory}, set[str]()
    while gone != before:
        # A backend that is left out still declares its stages; one that is deleted does not.
        lacked = {other for other in gone if other == directory or not other.startswith("backends/")}
        before = set(gone)
        gone |= {other for other, needs in declared().items() if needs & lacked}
    return gone - {directory}


@dataclass(frozen=True)
class Tree:
    """A copy of the checkout.

    Attributes:
        root: the copy.
        targets: the extensions that it builds.
    """

    root: Path
    targets: frozenset[str]

    @property
    def build(self) -> Path:
        return build.default_build_dir(self.root)

    def environment(self, libraries: Path) -> dict[str, str]:
        path = support.path(self.root.parent / "site", self.root / "python")
        return {
            **os.environ,
            "PYTHONPATH": path,
            "TRITON_EXT_LIBRARY_DIR": str(libraries),
            "CCACHE_BASEDIR": str(self.root),
        }

    def run(self, *command: str, libraries: Path | None = None) -> str:
        """Runs a command in the copy, and returns what it prints."""
        environment = self.environment(libraries or self.root / "python" / "triton_ext" / "lib")
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        return done.stdout

    @property
    def libraries(self) -> Path:
        """A second directory with the libraries, out of which `built_libraries` moves those that are gone."""
        return self.root.parent / "libraries"

    def configure(self) -> str:
        """Runs CMake; returns what it says."""
        settings = {
            "CMAKE_MAKE_PROGRAM": build.tool("ninja"),
            "CMAKE_PROJECT_TOP_LEVEL_INCLUDES": self.root / "infra" / "cmake" / "TritonExtCompiler.cmake",
            # By its path in the copy: all paths are then below the root, and ccache finds what other trees compiled.
            "Python3_EXECUTABLE": self.root / ".venv" / "bin" / Path(sys.executable).name,
            "TRITON_EXT_PCH": "ON" if FULL else "OFF",  # without a build, nothing needs a precompiled header
        }
        command = [build.tool("cmake"), "-S", str(self.root), "-B", str(self.build), "-G", "Ninja"]
        return self.run(*command, *(f"-D{name}={value}" for name, value in settings.items()))

    def built(self) -> frozenset[str]:
        """Returns the extensions for which CMake has made targets, including those that are left out."""
        listed = self.run(build.tool("ninja"), "-C", str(self.build), "-t", "targets", "all")
        return frozenset(re.findall(r"^triton_ext_(\w+): phony$", listed, re.MULTILINE))

    def install(self) -> None:
        """Writes the package's metadata."""
        for old in (self.root / "python").glob("*.dist-info"):
            shutil.rmtree(old)
        self.run(sys.executable, "-c", METADATA, str(self.root / "python"))

    @contextmanager
    def without(self, directory: str) -> Iterator[str]:
        """Removes `directory` from the copy; yields the output of CMake."""
        aside = self.root.parent / "aside"
        (self.root / directory).rename(aside)
        shutil.rmtree(
            self.build / directory, ignore_errors=True
        )  # the build must not find a header that was generated there
        try:
            if directory.startswith("backends/"):
                self.install()
            yield self.configure()
        finally:
            aside.rename(self.root / directory)
            if directory.startswith("backends/"):
                self.install()


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    parent = tmp_path_factory.mktemp("deletion")
    (parent / "site").mkdir()
    (parent / "site" / "sitecustomize.py").write_text(SITE)
    tree = Tree(checkout.copy(parent / "triton-ext", builds_core=True), frozenset())
    tree.install()
    tree.libraries.mkdir()
    tree.libraries.with_name("gone").mkdir()
    for library in (tree.root / "python" / "triton_ext" / "lib").glob("*.so"):
        os.link(library, tree.libraries / library.name)
    said = tree.configure()
    if FULL:
        tree.run(build.tool("cmake"), "--build", str(tree.build))
    return Tree(tree.root, tree.built() - dict(_LEFT_OUT.findall(said)).keys())


@pytest.mark.parametrize("directory", DIRECTORIES)
def test_without(directory: str, tree: Tree) -> None:
    name = directory.split("/")[1]
    others = {other.split("/")[1] for other in dependents(directory)} & tree.targets
    # The pass that lowers a dialect may lie in the dialect's directory.
    own = {name} | {file.parent.name for file in (ROOT / directory).glob("*/CMakeLists.txt")} & tree.targets
    with ExitStack() as things:
        said = things.enter_context(tree.without(directory))
        left_out = dict(_LEFT_OUT.findall(said))
        assert others <= left_out.keys()
        assert all(name in left_out[other] for other in others), left_out
        left = tree.built() - left_out.keys()
        assert left == tree.targets - others - own
        refer_to_nothing_that_is_gone(tree, left, name)
        libraries = things.enter_context(built_libraries(tree, left))

        program = str(tree.root / "test" / "core" / "deletion_program.py")
        *lines, last = tree.run(sys.executable, program, libraries=libraries).splitlines()
        listed, used = json.loads("".join(lines)), json.loads(last)
        there = {p.name.split("_ext_")[1][:-3] for p in libraries.glob("libtriton_*")}
        # A target is listed with and without a library of its own.
        targets = {d.removeprefix("backends/") for d in DIRECTORIES if d.startswith("backends/")} - {name}
        assert {e["name"] for e in listed} == there | targets
        assert name not in {e["name"] for e in listed}
        assert set(used["extensions"].values()) == {None}, used["extensions"]
        at = used["passes"].index("ttir.loop_unroll")
        assert used["passes"][at + 1] == "common.cse"
        assert {t: error is None for t, error in used["targets"].items()} == {t: t in left for t in targets}
        if FULL:
            tree.run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *CORE_TESTS, libraries=libraries)


def refer_to_nothing_that_is_gone(tree: Tree, left: frozenset[str], name: str) -> None:
    """Checks that no command of the build, and no compiled file, refers to the directory of `name`."""
    commands = tree.run(build.tool("ninja"), "-C", str(tree.build), "-t", "commands")
    assert not re.search(rf"/(?:{'|'.join(KINDS)})/{name}/|triton_ext_{name}\b", commands)
    tree.run(
        build.tool("ninja"), "-C", str(tree.build), "-n"
    )  # each file that the build needs exists, or is made by it
    included = re.compile(rf'^\s*#?\s*include "{name}/', re.MULTILINE)
    for directory in (tree.root / d for d in DIRECTORIES):
        if directory.name in left:
            files = [p for p in directory.rglob("*") if p.suffix in (".cpp", ".h", ".td", ".inc")]
            assert [p for p in files if included.search(p.read_text())] == []


@contextmanager
def built_libraries(tree: Tree, left: frozenset[str]) -> Iterator[Path]:
    """Yields a directory with the remaining libraries: built now, or in the checkout.

    These lie at the same place in every test, and only those that are gone are moved away. So each process verifies
    those again that were moved since the last one, or that need one that is gone.
    """
    if FULL:
        tree.run(build.tool("cmake"), "--build", str(tree.build))
        yield tree.root / "python" / "triton_ext" / "lib"
        return
    of_extensions = {f"libtriton_ext_{name}.so" for name in left}
    runtimes = {f"libTritonExt{d.removeprefix('backends/').capitalize()}Runtime.so" for d in DIRECTORIES}
    of_backends = {f"libTritonExt{name.capitalize()}Runtime.so" for name in left}
    aside, gone = tree.libraries.with_name("gone"), []
    for library in sorted(tree.libraries.glob("*.so")):
        infra = library.name.startswith("libTritonExt") and library.name not in runtimes - of_backends
        if not infra and library.name not in of_extensions:
            gone.append(library.rename(aside / library.name))
    try:
        yield tree.libraries
    finally:
        for library in gone:
            library.rename(tree.libraries / library.name)


def test_what_refers_to_an_extension_is_noticed(tree: Tree) -> None:
    """The test notices an include that is declared nowhere."""
    file = tree.root / "passes" / "rename" / "Rename.cpp"
    text = file.read_text()
    file.write_text('#include "loop_split/LoopSplit.h"\n' + text)
    try:
        with tree.without("passes/loop_split"), pytest.raises(AssertionError, match=r"Rename\.cpp"):
            refer_to_nothing_that_is_gone(tree, tree.targets, "loop_split")
    finally:
        file.write_text(text)


def test_what_is_declared_is_read() -> None:
    assert "dialects/aux" in declared()["passes/convert_triton_to_linalg"]
    needs_it = {"passes/triton_to_linalg", "passes/tile_linalg", "passes/convert_arith_to_linalg", "backends/linalg"}
    assert needs_it <= dependents("dialects/linalg_ext")
    assert "passes/rename" not in dependents("dialects/linalg_ext")
    assert "dialects/linalg_ext" not in dependents("backends/linalg")
