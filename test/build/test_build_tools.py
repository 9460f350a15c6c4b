# SPDX-License-Identifier: Apache-2.0
"""Programs that are missing or too old are named together, with the command that installs them, before anything is run
or written."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from triton_ext.authoring import testing
from triton_ext.authoring.build import GET_TOOLS, build_tree
from triton_ext.authoring.project import Project
from triton_ext.errors import BuildError

Program = Callable[[str, str], Path]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """``program(name, prints)`` makes a program; no other programs are in PATH."""
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", str(directory))
    monkeypatch.setattr(sys, "executable", str(directory / "python"))

    def make(name: str, prints: str) -> Path:
        path = directory / name
        path.write_text(f"#!/bin/sh\necho '{prints}'\n")
        path.chmod(0o755)
        return path

    return make


def problem(tmp_path: Path) -> str:
    """Returns the error of a build, which must leave nothing behind."""
    with pytest.raises(BuildError) as caught:
        build_tree(tmp_path, tmp_path / "build")
    assert caught.value.fix == GET_TOOLS
    assert not (tmp_path / "build").exists()
    return caught.value.message


def test_none(program: Program, tmp_path: Path) -> None:
    assert problem(tmp_path) == "cmake is not installed; ninja is not installed"


@pytest.mark.parametrize(
    ("prints", "says"),
    [
        ("cmake version 3.25.1", "is CMake 3.25.1, expected 3.27 or newer"),
        ("cmake version 3.9", "is CMake 3.9, expected 3.27 or newer"),
        ("what?", "is CMake of an unknown version, expected 3.27 or newer"),
    ],
)
def test_a_cmake_that_is_too_old(prints: str, says: str, program: Program, tmp_path: Path) -> None:
    program("ninja", "1.11")
    path = program("cmake", prints)
    assert problem(tmp_path) == f"{path} {says}"


def test_new_enough(program: Program, tmp_path: Path) -> None:
    program("cmake", "cmake version 3.27")
    assert problem(tmp_path) == "ninja is not installed"


@pytest.mark.parametrize("core", [["TritonExtCore"], []], ids=["triton-ext itself", "another project"])
def test_an_extension_is_built_with_the_core(
    core: list[str], program: Program, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """If only errors are to be reported, the build prints nothing."""
    program("ninja", "\n".join(f"{target}: phony" for target in (*core, "triton_ext_one", "triton_ext_two", "all")))
    cmake = program("cmake", "cmake version 4.1.2")
    cmake.write_text(f'{cmake.read_text()}echo "$@" >> {tmp_path}/calls\n')
    for is_quiet, prints in ((False, "cmake version 4.1.2\n"), (True, "")):
        build_tree(tmp_path, tmp_path / "build", ("two",), is_quiet=is_quiet)
        built = (tmp_path / "calls").read_text().splitlines()[-1]
        assert built.split()[2:] == [f"--target={target}" for target in (*core, "triton_ext_two")]
        assert capsys.readouterr().out == prints
    build_tree(tmp_path, tmp_path / "build")
    assert "--target" not in (tmp_path / "calls").read_text().splitlines()[-1]


def test_what_tests_are_run_with(program: Program, tmp_path: Path) -> None:
    """Only extensions with tests need the tools for tests."""
    program("cmake", "cmake version 4.1.2")
    program("ninja", "1.11")
    root = tmp_path / "bundle"
    directory = root / "passes" / "one" / "test"
    directory.mkdir(parents=True)
    (directory.parent / "CMakeLists.txt").touch()
    (directory / "one.mlir").touch()
    with pytest.raises(BuildError) as caught:
        testing.run_tests(Project(root, "bundle"))
    assert str(caught.value) == f"lit is not installed (fix: {GET_TOOLS})"
    (directory / "test_one.py").touch()
    with pytest.raises(BuildError, match="lit is not installed; pytest is not installed"):
        testing.run_tests(Project(root, "bundle"))
    assert not (root / "build").exists()
