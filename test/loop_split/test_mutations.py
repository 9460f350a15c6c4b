# SPDX-License-Identifier: Apache-2.0
"""The random loops notice each of these bugs in `loop_split`. One build tree serves all; a mutant compiles one file."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import programs
import pytest

from triton_ext import _resources, build

PASS = Path(__file__).resolve().parents[2] / "passes" / "loop_split"
MUTATIONS = {
    "middle off by one": (
        "TripCounter.cpp",
        "number(type, 1));\n  count = b.createOrFold<arith::SelectOp>(notAll",
        "number(type, 0));\n  count = b.createOrFold<arith::SelectOp>(notAll",
    ),
    "not rounded up": ("TripCounter.cpp", "b.createOrFold<arith::AddIOp>(quotient, number(type, 1))", "quotient"),
    "signed for unsigned": ("TripCounter.cpp", "  if (isUnsigned)\n    predicate = toUnsigned(predicate);\n", ""),
}


def is_noticed(options: str = "") -> bool:
    random = Random(1)
    try:
        programs.check([programs.program(random, f"f{n}") for n in range(200)], options)
    except AssertionError:
        return True
    return False


@pytest.fixture(scope="module")
def mutant(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str, str], Path]:
    """Builds the pass with a mutation and returns the directory of its libraries."""
    scratch = tmp_path_factory.mktemp("mutants")
    source, libraries = scratch / "source", scratch / "lib"
    shutil.copytree(PASS, source / PASS.name)
    shutil.copytree(_resources.library_dir(), libraries)
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.27)\n"
        "project(mutant VERSION 0 LANGUAGES CXX)\n"
        "find_package(TritonExt REQUIRED)\n"
        f"add_subdirectory({PASS.name})\n"
    )

    def make(name: str, old: str, new: str) -> Path:
        for file in PASS.glob("*.cpp"):  # the last mutation goes, and only that
            text = file.read_text()
            if file.name == name:
                assert text.count(old) == 1
                text = text.replace(old, new)
            if (source / PASS.name / file.name).read_text() != text:
                (source / PASS.name / file.name).write_text(text)
        build.build_tree(source, scratch / "build", definitions=(f"TRITON_EXT_STAGE_DIR={libraries}",))
        return libraries

    return make


@pytest.mark.slow
@pytest.mark.parametrize("mutation", MUTATIONS)
def test_the_random_loops_notice(
    mutation: str, mutant: Callable[[str, str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_EXT_LIBRARY_DIR", str(mutant(*MUTATIONS[mutation])))
    assert is_noticed()
