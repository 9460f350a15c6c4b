# SPDX-License-Identifier: Apache-2.0
"""Projects outside the tree share one precompiled header; a library with options of its own is compiled without it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from support.build_tree import PLAIN, Tree
from triton_ext import sdk
from triton_ext.authoring.build import build_tree, tool
from triton_ext.sdk.precompiled import find_headers

pytestmark = pytest.mark.slow

CMAKE = """
cmake_minimum_required(VERSION 3.27)
project(party LANGUAGES CXX)
find_package(TritonExt REQUIRED)
{before}
triton_ext_add_bundle(party)
{after}
"""
#: What a project may say about the options of its libraries, before and after it adds them.
OPTIONS = {
    "of the library": ("", "target_compile_options(triton_ext_plain PRIVATE -Os)"),
    "of the directory": ("add_compile_options(-fno-inline)", ""),
    "a definition": ("add_compile_definitions(_GLIBCXX_ASSERTIONS)", ""),
    "a standard": ("set(CMAKE_CXX_STANDARD 23)", ""),
    "of a library that it uses": (
        "add_library(other INTERFACE)\ntarget_compile_options(other INTERFACE -Os)",
        "target_link_libraries(triton_ext_plain PRIVATE other)",
    ),
}


def build(root: Path, before: str = "", after: str = "", *definitions: str) -> None:
    """Builds a project with the pass `plain`."""
    if not root.is_dir():
        Tree(root).add("passes/plain", **PLAIN)
    (root / "CMakeLists.txt").write_text(CMAKE.format(before=before, after=after))
    build_tree(root, root / "build", definitions=("CMAKE_EXPORT_COMPILE_COMMANDS=ON", *definitions))
    assert (root / "src" / "party" / "libtriton_ext_plain.so").is_file()


def header_of(file: str, root: Path) -> Path | None:
    """Returns the precompiled header with which the project compiles `file`."""
    listed = json.loads((root / "build" / "compile_commands.json").read_text())
    (command,) = (each["command"] for each in listed if Path(each["file"]).name == file)
    found = re.search(r"-include-pch (\S+)", command)
    return Path(found[1]) if found else None


@pytest.fixture(scope="module")
def party(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds a project and returns its directory."""
    root = tmp_path_factory.mktemp("parties") / "party"
    build(root)
    return root


def test_two_projects_share_one(party: Path, tmp_path: Path) -> None:
    header = header_of("Plain.cpp", party)
    assert header is not None
    before = header.stat().st_mtime_ns
    build(tmp_path / "other")
    assert header_of("Plain.cpp", tmp_path / "other") == header
    assert header.stat().st_mtime_ns == before
    assert header_of("PlainGlue.cpp", party) is None  # it throws exceptions
    installed = sdk.find()
    assert installed is not None
    assert header in [each.file for each in find_headers(installed)]


def test_sdk_info_lists_it(party: Path) -> None:
    info = subprocess.run([tool("triton-ext"), "sdk", "info"], capture_output=True, text=True, check=True).stdout
    assert f"{header_of('Plain.cpp', party)} (" in info


@pytest.mark.parametrize("options", OPTIONS)
def test_a_library_with_options_of_its_own_is_compiled_without(options: str, party: Path) -> None:
    before, after = OPTIONS[options]
    (party / "CMakeLists.txt").write_text(CMAKE.format(before=before, after=after))
    subprocess.run([tool("cmake"), "-S", party, "-B", party / "build"], check=True, capture_output=True)
    assert header_of("Plain.cpp", party) is None


def test_it_builds_with_options_and_without(party: Path) -> None:
    """Clang would refuse the header with -Os; a warning is no such option."""
    build(party, *OPTIONS["of the library"])
    build(party, "", "target_compile_options(triton_ext_plain PRIVATE -Wextra-semi)")
    assert header_of("Plain.cpp", party)
    build(party, "", "", "TRITON_EXT_PCH=OFF")
    assert header_of("Plain.cpp", party) is None
