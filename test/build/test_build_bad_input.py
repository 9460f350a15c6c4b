# SPDX-License-Identifier: Apache-2.0
"""Whatever is wrong with an extension or with the machine, ``triton-ext build`` prints one line with a fix, exits with
1, and leaves the existing libraries as they were."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support import ROOT

if TYPE_CHECKING:
    from support.build_tree import Tree

pytestmark = pytest.mark.slow

TD = """
include "mlir/Pass/PassBase.td"
def {0}Pass : Pass<"triton-ext-{1}", "::mlir::ModuleOp"> {{
  let summary = "s";
  let options = [{2}];
}}
"""
GOOD = {"One_td": TD.format("One", "one", ""), "One_cpp": ""}
ADD = "triton_ext_add_pass(one OnePass STAGE ttir)\n"
DIALECT = "triton_ext_add_dialect(one OneDialect)\n"
DIALECT_TD = """
include "mlir/IR/DialectBase.td"
def OneDialect : Dialect {{ let name = "{0}"; let cppNamespace = "::mlir::triton_ext::{1}"; }}
"""

# Directory, files, the message in the line, the fix in it.
BROKEN: dict[str, tuple[str, dict[str, str], str, str]] = {
    "syntax_error": (
        "passes/one",
        {"CMakeLists_txt": "triton_ext_add_pass(one OnePass"},
        r"passes/one/CMakeLists.txt:1: Parse error",
        "mend that CMakeLists.txt",
    ),
    "unknown_function": (
        "passes/one",
        {"CMakeLists_txt": "\ntriton_ext_ad_pass(one)\n"},
        r'passes/one/CMakeLists.txt:2: Unknown CMake command "triton_ext_ad_pass"',
        "mend that CMakeLists.txt",
    ),
    "warning_first": (
        "passes/one",
        {"CMakeLists_txt": "message(WARNING careful)\nnope()\n"},
        r'passes/one/CMakeLists.txt:2: Unknown CMake command "nope"',
        "mend that CMakeLists.txt",
    ),
    "error_that_goes_on": (
        "passes/one",
        {"CMakeLists_txt": 'message(SEND_ERROR "[no markup]")\n' + ADD, **GOOD},
        r"passes/one/CMakeLists.txt:1: \[no markup\]",
        "mend that CMakeLists.txt",
    ),
    "missing_target": (
        "passes/one",
        {"CMakeLists_txt": ADD + "target_link_libraries(triton_ext_one PRIVATE Foo::Foo)\n", **GOOD},
        r"passes/one/CMakeLists.txt:2: .*Foo::Foo",
        "mend that CMakeLists.txt",
    ),
    "name_taken": (
        "dialects/rename",
        {"CMakeLists_txt": "triton_ext_add_pass(rename RenamePass STAGE ttir)\n", "Rename_td": "", "Rename_cpp": ""},
        r"passes/rename/CMakeLists.txt: pass 'rename': the name is taken by .*/dialects/rename",
        "rename one of the two directories",
    ),
    "no_identifier": (
        "passes/loop-split",
        {"CMakeLists_txt": "triton_ext_add_pass(loop-split OnePass STAGE ttir)\n"},
        r"pass 'loop-split' is not an identifier: expected lower-case letters, digits and '_'",
        "rename the directory",
    ),
    "keyword": (
        "passes/lambda",
        {"CMakeLists_txt": "triton_ext_add_pass(lambda LambdaPass STAGE ttir)\n"},
        r"pass 'lambda' has a name that is reserved in Python or C\+\+",
        "rename the directory",
    ),
    "no_name": ("passes/one", {"CMakeLists_txt": "triton_ext_add_pass()\n"}, "triton_ext_add_pass", "STAGE ttir|mend"),
    "other_directory": (
        "passes/two",
        {"CMakeLists_txt": ADD},
        r"pass 'one' lies in the directory 'two', which must have the same name",
        "git mv two one",
    ),
    "bad_stage": (
        "passes/one",
        {"CMakeLists_txt": ADD.replace("ttir", "ptx")},
        r"pass 'one' has stage 'ptx', expected one of: ttir, ttgir, llir, any",  # the copy has no backends
        "add STAGE ttir",
    ),
    "no_stage": (
        "passes/one",
        {"CMakeLists_txt": "triton_ext_add_pass(one OnePass)"},
        "has stage ''",
        "add STAGE ttir",
    ),
    "bad_class": (
        "passes/one",
        {"CMakeLists_txt": ADD.replace("OnePass", "one_pass")},
        r"has class 'one_pass', expected CamelCase that ends in Pass",
        "rename the class",
    ),
    "stray_argument": (
        "passes/one",
        {"CMakeLists_txt": ADD.replace(")", " WHAT)")},
        r"has stray arguments 'WHAT'",
        r"triton_ext_add_pass\(one OnePass STAGE ttir\)",
    ),
    "no_td": ("passes/one", {"CMakeLists_txt": ADD, "One_cpp": ""}, r"pass 'one' has no One.td", "add the file"),
    "no_cpp": ("passes/one", {"CMakeLists_txt": ADD, "One_td": ""}, r"pass 'one' has no One.cpp", "add the file"),
    "td_syntax": (
        "passes/one",
        {"CMakeLists_txt": ADD, **GOOD, "One_td": "def {"},
        r"passes/one/One.td:1:\d+: error:",
        "mend it",
    ),
    "other_class": (
        "passes/one",
        {"CMakeLists_txt": ADD, **GOOD, "One_td": TD.format("Two", "one", "")},
        r"passes/one/One.td: error: defines no pass 'OnePass', found: TwoPass",
        "mend it",
    ),
    "other_argument": (
        "passes/one",
        {"CMakeLists_txt": ADD, **GOOD, "One_td": TD.format("One", "first", "")},
        r"One.td: error: gives OnePass the argument 'triton-ext-first', expected 'triton-ext-one'",
        "mend it",
    ),
    "option_is_keyword": (
        "passes/one",
        {"CMakeLists_txt": ADD, **GOOD, "One_td": TD.format("One", "one", 'Option<"a", "lambda", "int", "1", "d">')},
        r"One.td: error: option 'lambda' of OnePass cannot be a keyword in Python",
        "mend it",
    ),
    "options_clash": (
        "passes/one",
        {
            "CMakeLists_txt": ADD,
            **GOOD,
            "One_td": TD.format(
                "One", "one", ",".join(f'Option<"{x}", "{x}", "int", "1", "d">' for x in ("a_b", "a-b"))
            ),
        },
        r"One.td: error: ",
        "mend it",
    ),
    "dialect_of_triton": (
        "dialects/arith",
        {"CMakeLists_txt": "triton_ext_add_dialect(arith ArithDialect)", "Arith_td": "", "Arith_cpp": ""},
        r"dialect 'arith' has the name of a dialect of Triton",
        "rename the directory",
    ),
    "dialect_class": (
        "dialects/one",
        {"CMakeLists_txt": DIALECT.replace("OneDialect", "OnePass"), "One_td": "", "One_cpp": ""},
        r"dialect 'one' has class 'OnePass', expected CamelCase that ends in Dialect",
        "rename the class, e.g. LoopSplitDialect",
    ),
    "dialect_stray_argument": (
        "dialects/one",
        {"CMakeLists_txt": DIALECT.replace(")", " STAGE ttir)")},
        r"dialect 'one' has stray arguments 'STAGE;ttir'",
        r"triton_ext_add_dialect\(one OneDialect\)",
    ),
    "dialect_lowered_nowhere": (
        "dialects/one",
        {"CMakeLists_txt": DIALECT.replace(")", " LOWER_WITH lower_one)"), "One_td": "", "One_cpp": ""},
        r"dialect 'one' has LOWER_WITH 'lower_one' AT '', expected a pass and a stage with :start or :end",
        "LOWER_WITH lower_one AT ttir:start",
    ),
    "dialect_lowered_in_the_middle": (
        "dialects/one",
        {"CMakeLists_txt": DIALECT.replace(")", " LOWER_WITH lower_one AT ttir:middle)"), "One_td": "", "One_cpp": ""},
        r"dialect 'one' has LOWER_WITH 'lower_one' AT 'ttir:middle', expected",
        "LOWER_WITH lower_one AT ttir:start",
    ),
    "no_dialect": (
        "dialects/one",
        {"CMakeLists_txt": DIALECT, **GOOD},
        r"dialects/one/One.td: error: defines no dialect 'OneDialect', found: none",
        "mend it",
    ),
    "other_dialect_name": (
        "dialects/one",
        {"CMakeLists_txt": DIALECT, "One_td": DIALECT_TD.format("two", "one"), "One_cpp": ""},
        r"One.td: error: gives OneDialect the name 'two', expected 'one'",
        "mend it",
    ),
    "other_namespace": (
        "dialects/one",
        {"CMakeLists_txt": DIALECT, "One_td": DIALECT_TD.format("one", "two"), "One_cpp": ""},
        r"the cppNamespace '::mlir::triton_ext::two', expected '::mlir::triton_ext::one'",
        "mend it",
    ),
    "compile_error": (
        "passes/one",
        {"CMakeLists_txt": ADD, **GOOD, "One_cpp": "#warning careful\nint a = nothing;\n"},
        r"passes/one/One.cpp:2:9: error: use of undeclared identifier 'nothing'",
        "mend it",
    ),
    "no_such_header": (
        "passes/one",
        {"CMakeLists_txt": ADD, **GOOD, "One_cpp": '#include "mlir/No/Such.h"\n'},
        r"passes/one/One.cpp:1:10: fatal error: 'mlir/No/Such.h' file not found",
        "mend it",
    ),
    "undefined_symbol": (
        "passes/one",
        {"CMakeLists_txt": ADD, **GOOD},
        r"undefined (symbol|reference).*mlir::triton_ext::one::createOnePass\(\)",
        "mend it",
    ),
}


def assert_one_line(stderr: str, says: str, mends: str) -> None:
    assert stderr.startswith("triton-ext: error: ")
    assert stderr.count("\n") == 1, stderr
    message, _, fix = stderr.strip().removesuffix(")").rpartition(" (fix: ")
    assert re.search(says, message), stderr
    assert re.search(mends, fix), stderr


@pytest.mark.parametrize("case", BROKEN)
def test_broken_extension(case: str, tree: Tree) -> None:
    directory, files, says, mends = BROKEN[case]
    before = tree.digests()
    tree.add(directory, **files)
    done = tree.run("build")
    assert done.returncode == 1
    assert_one_line(done.stderr, says, mends)
    assert tree.digests() == before


def test_others_build_and_work(tree: Tree) -> None:
    """The good pass builds after all these errors, and while another pass is broken."""
    tree.add("passes/one", CMakeLists_txt=ADD, **GOOD)
    assert tree.run("build", "rename").returncode == 0
    listed = tree.run("list")
    assert re.search(r"^rename +pass +ttir .* ok *$", listed.stdout, re.MULTILINE), listed.stdout
    shutil.rmtree(tree.root / "passes" / "one")
    assert tree.run("build").returncode == 0


def test_what_needs_something_that_is_missing_is_left_out(tree: Tree) -> None:
    """The order does not matter, nor do left-over headers of a deleted dialect; the rest builds."""
    for name, needs in {
        "one": "DIALECTS gone",
        "two": "PASSES zero",
        "zero": "PASSES one",
        "four": "PASSES five",
    }.items():
        add = f"triton_ext_add_pass({name} {name.title()}Pass STAGE ttir {needs})\n"
        tree.add(f"passes/{name}", CMakeLists_txt=add, **{f"{name.title()}_{suffix}": "" for suffix in ("td", "cpp")})
    (tree.stage.parent / "share" / "dialects" / "gone").mkdir(parents=True)
    before = tree.digests()
    done = tree.run("build")
    assert done.returncode == 0, done.stderr
    assert tree.digests() == before
    four, others = done.stderr.splitlines()
    assert re.fullmatch(r"triton-ext: left out: four: needs the pass 'five', which .*four/CMakeLists.txt\)", four)
    assert re.fullmatch(r"triton-ext: left out: one, zero, two: needs the dialect 'gone', which .*\)", others)

    done = tree.run("build", "two")
    assert done.returncode == 1
    assert_one_line(done.stderr, "two needs the dialect 'gone', which", "mend it")


@pytest.mark.parametrize("name", ["nme", "pass", "dev"])
def test_unknown_name(name: str, tree: Tree) -> None:
    done = tree.run("build", name)
    assert done.returncode == 1
    assert_one_line(done.stderr, f"no extension '{name}' in .*; there is: rename", "triton-ext build")


def test_no_source_tree(tree: Tree, tmp_path: Path) -> None:
    done = tree.run("build", "--source", str(tmp_path))
    assert done.returncode == 1
    assert_one_line(done.stderr, "has no CMakeLists.txt", "--source DIR")


def test_gcc(tree: Tree, tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    done = tree.run("build", "--build-dir", str(tmp_path / "b"), CXX="g++")
    assert done.returncode == 1
    assert_one_line(done.stderr, "the C\\+\\+ compiler must be clang, found GNU", "CMAKE_CXX_COMPILER=clang")


def test_no_clang(tree: Tree, tmp_path: Path) -> None:
    """The compiler is neither in PATH nor where CMake itself searches; cmake and ninja come from the virtual
    environment."""
    programs = tmp_path / "bin"
    programs.mkdir()
    path = str(programs)
    definitions = ["-D", "CMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF"]
    done = tree.run("build", "--build-dir", str(tmp_path / "b"), *definitions, PATH=path)
    assert done.returncode == 1
    assert_one_line(done.stderr, r"no clang\+\+ found; extensions must be built with clang", "apt-get install clang-19")


@pytest.mark.parametrize("tool", ["cmake", "ninja"])
def test_no_tool(tool: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from triton_ext import BuildError
    from triton_ext.authoring.build import build_tree

    (tmp_path / "python").symlink_to(os.path.realpath(sys.executable))
    if tool == "ninja":
        (tmp_path / "cmake").write_text("#!/bin/sh\n")
        (tmp_path / "cmake").chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BuildError, match=f"{tool} is not installed") as caught:
        build_tree(tmp_path, tmp_path / "b")
    assert caught.value.fix == "pip install 'triton-ext[build]'"


def test_build_directory_of_another_tree(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.27)\nproject(other LANGUAGES NONE)\n")
    done = tree.run("build", "--source", str(tmp_path), "--build-dir", str(tree.root / "build" / "dev"))
    assert done.returncode == 1
    assert_one_line(done.stderr, "does not match the source", "")


def test_build_directory_cannot_be_written(tree: Tree) -> None:
    done = tree.run("build", "--build-dir", "/proc/nowhere")
    assert done.returncode == 1
    assert_one_line(done.stderr, "/proc/nowhere", "")


def test_known_extension_becomes_unconfigurable(tree: Tree) -> None:
    """CMake goes on after such an error and does not see the pass, whose library stays."""
    before = tree.digests()
    (tree.root / "passes" / "rename" / "CMakeLists.txt").write_text('message(SEND_ERROR "not today")\n')
    try:
        done = tree.run("build")
    finally:
        shutil.copy(ROOT / "passes" / "rename" / "CMakeLists.txt", tree.root / "passes" / "rename")
    assert_one_line(done.stderr, "passes/rename/CMakeLists.txt:1: not today", "mend that CMakeLists.txt")
    assert tree.digests() == before
