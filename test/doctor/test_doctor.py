# SPDX-License-Identifier: Apache-2.0
"""In a broken environment, `triton-ext doctor` prints a failing row with a command, never a traceback."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from support import ROOT
from triton_ext import sdk
from triton_ext.authoring import doctor
from triton_ext.authoring.checks import Row
from triton_ext.authoring.selftest import Check, SelfTestResult
from triton_ext.cli.doctor import doctor as doctor_command
from triton_ext.errors import TritonExtError
from triton_ext.loading import discovery, host
from triton_ext.support import clang, resources

NO_TRITON = """
import importlib.metadata, sys
from importlib.machinery import PathFinder

class WithoutTriton(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name == "triton" else super().find_spec(name, path, target)

    @classmethod
    def find_distributions(cls, context):
        return iter(()) if context.name == "triton" else super().find_distributions(context)

sys.meta_path[sys.meta_path.index(PathFinder)] = WithoutTriton
"""


def row(name: str) -> Row:
    """Returns the one row of this name."""
    (found,) = doctor._rows(name, doctor._CHECKS[name])
    return found


def program(directory: Path, name: str, says: str) -> Path:
    """Makes a program that prints its version."""
    directory.mkdir(exist_ok=True)
    path = directory / name
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the only directory in which programs are found."""
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", str(directory))
    monkeypatch.setattr(sys, "executable", str(directory / "python"))
    monkeypatch.delenv("CXX", raising=False)
    return directory


@pytest.fixture
def near_sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> sdk.Sdk:
    """Makes an SDK that contains only the flag."""
    triton = host.find_triton()
    found = sdk.Sdk(
        path=tmp_path, source="test", rank=0, origin="", triton=triton.version, llvm_commit=triton.llvm_commit,
        llvm_version="24.0", headers_commit="abcdef", abi_breaking_checks=True, guarded_ops=("LLVM::InvokeOp",),
        packages={}, programs={}, runtime=False, size=1,
    )  # fmt: skip
    header = found.include_dirs[0] / "llvm" / "Config" / "abi-breaking.h"
    header.parent.mkdir(parents=True)
    header.write_text("#define LLVM_ENABLE_ABI_BREAKING_CHECKS 0\n")
    monkeypatch.setattr(sdk, "find", lambda: found)
    return found


def test_python_and_triton() -> None:
    assert row("Python").state == "ok"
    assert row("Triton") == Row("Triton", "ok", ">= 3.9", host.triton_version())
    assert row("Triton's headers").state == "ok"


@pytest.mark.slow
def test_no_triton_at_all(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(NO_TRITON)
    paths = os.pathsep.join([str(tmp_path), str(resources.PACKAGE_DIR.parent)])
    result = subprocess.run(
        [sys.executable, "-m", "triton_ext", "doctor", "--json"],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (1, "")
    rows = {each["name"]: each for each in json.loads(result.stdout)}
    assert rows["Triton"]["found"] == "Triton is not installed in this Python"
    assert all("pip install triton" in rows[name]["fix"] for name in ("Triton", "Triton's headers", "SDK", "LLVM"))
    assert rows["Python"]["state"] == "ok"


def test_no_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdk, "find", lambda: None)
    for name in ("SDK", "LLVM", "ABI checks"):
        assert row(name) == Row(name, "fail", "", "not installed for this Triton", sdk.INSTALL_COMMAND)


def test_half_an_sdk(near_sdk: sdk.Sdk) -> None:
    assert row("SDK").found == f"{near_sdk.include_dirs[1]} is missing"
    assert row("SDK").fix == f"{sdk.INSTALL_COMMAND} --force"


def test_what_was_not_verified_is_shown(near_sdk: sdk.Sdk, monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds also for an SDK from before the record, by the pinned hashes."""
    from triton_ext.sdk.source_file import load_source_list

    monkeypatch.setattr("triton_ext.sdk.tools.find_tool", lambda id_: None)
    pinned = load_source_list().packages[0].sha256
    for unverified, packages, expected in (
        ((), {"a.deb": "0" * 64}, None),
        (("sid: gpgv is not installed",), {"a.deb": pinned}, "not verified: sid: gpgv is not installed"),
        (None, {"a.deb": pinned}, None),
        (None, {"a.deb": "0" * 64}, "not verified: a.deb: whether it was verified was not recorded then"),
    ):
        found = replace(near_sdk, unverified=unverified, packages=packages)
        monkeypatch.setattr(sdk, "find", lambda found=found: found)
        name, fix = "SDK's downloads", f"{sdk.INSTALL_COMMAND} --force"
        if expected is None:
            assert row(name) == Row(name, "ok", "verified", "files: 1")
        else:
            assert row(name) == Row(name, "warn", "verified", expected, fix)
    monkeypatch.setattr("triton_ext.sdk.tools.find_tool", lambda id_: Path("mlir-opt"))
    monkeypatch.setattr("triton_ext.sdk.tools.find_unverified", lambda id_: ("sid: expired",))
    monkeypatch.setattr(sdk, "find", lambda: replace(near_sdk, unverified=()))
    assert row("SDK's downloads").fix == f"{sdk.INSTALL_COMMAND} --with mlir-opt --force"


def test_wrong_abi_flag(near_sdk: sdk.Sdk) -> None:
    found = row("ABI checks")
    assert (found.state, found.wanted, found.found) == ("fail", "1", "0")


def test_exact_or_near(near_sdk: sdk.Sdk, monkeypatch: pytest.MonkeyPatch) -> None:
    assert row("LLVM").found == "LLVM 24.0 (abcdef) from test, near, guarded: LLVM::InvokeOp"
    exact = replace(near_sdk, headers_commit=near_sdk.llvm_commit[:12], guarded_ops=())
    monkeypatch.setattr(sdk, "find", lambda: exact)
    assert row("LLVM").found.endswith("from test, exact")


def test_no_clang(path: Path) -> None:
    assert row("compiler") == Row("compiler", "fail", "clang", "none", "apt-get install clang-19")


def test_newest_clang_first(path: Path) -> None:
    program(path, "clang++-19", "Debian clang version 19.1.7")
    program(path, "clang++-17", "clang version 17.0.6")
    assert row("compiler") == Row("compiler", "ok", "clang", "clang++-19: Debian clang version 19.1.7")


def test_cxx_is_gcc(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gcc = program(path, "g++", "g++ (Debian 12.2.0) 12.2.0")
    program(path, "clang++-19", "clang version 19.1.7")
    monkeypatch.setenv("CXX", "g++")
    found = row("compiler")
    assert (found.state, found.found) == ("fail", f"CXX={gcc}: g++ (Debian 12.2.0) 12.2.0")
    assert found.fix.startswith("unset CXX")


def test_cxx_is_missing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "/nowhere/clang++")
    assert row("compiler").found == "CXX=/nowhere/clang++, which is not found"


def test_cxx_with_launcher(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(path, "ccache", "ccache version 4")
    program(path, "clang++", "clang version 18.1.0")
    monkeypatch.setenv("CXX", "ccache clang++")
    assert row("compiler").state == "ok"


@pytest.mark.parametrize("name", ["CMake", "Ninja"])
def test_no_build_tool(path: Path, name: str) -> None:
    assert row(name) == Row(name, "fail", "", "not found", "pip install 'triton-ext[build]'")


def test_old_cmake(path: Path) -> None:
    program(path, "cmake", "cmake version 3.25.1")
    assert row("CMake") == Row("CMake", "fail", ">= 3.27", "3.25.1", "pip install 'triton-ext[build]'")


def test_a_tool_that_hangs_up(path: Path) -> None:
    program(path, "ninja", "").write_text("not a program")
    found = row("Ninja")
    assert found.state == "fail"
    assert found.found.startswith("OSError: ")


def test_no_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "library_dir", lambda: tmp_path)
    for name, file, fix in (
        ("infra library", "libTritonExtPassInfra.so", "triton-ext build"),
        ("ABI self-test", "libTritonExtAbiSelfTest.so", "triton-ext build selftest"),
    ):
        assert row(name) == Row(name, "fail", "", f"{tmp_path / file} does not exist", fix)


@pytest.mark.parametrize("fails", [False, True])
def test_a_checkout_builds_the_selftest_once(
    fails: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A build that fails leaves the row that says what to run, which then prints the error."""
    library = tmp_path / "libTritonExtAbiSelfTest.so"
    built = []

    def build(source: Path, build_dir: Path, names: tuple[str, ...], *, is_quiet: bool) -> None:
        built.append((source, build_dir.relative_to(source), names, is_quiet))
        if fails:
            raise TritonExtError("no clang++ found")
        library.touch()

    monkeypatch.setattr(resources, "library_dir", lambda: tmp_path)
    monkeypatch.setattr(doctor, "build_tree", build)
    doctor.build_selftest()
    assert built == [(ROOT, Path("build/dev"), ("selftest",), True)]
    assert capsys.readouterr().err == "triton-ext: building the ABI self-test, once\n"
    doctor.build_selftest()
    assert len(built) == 1 + fails
    if fails:
        assert row("ABI self-test").fix == "triton-ext build selftest"


def test_selftest_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    failures = tuple(Check("properties", f"op{i}", "differs") for i in range(7))
    result = SelfTestResult(Path("x"), {"traits": 3, "properties": 4}, failures, crashed="SIGSEGV in ir: walk")
    monkeypatch.setattr(doctor, "run_selftest", lambda: result)
    first, crash, *named, more = doctor._rows("ABI self-test", doctor.abi_selftest)
    assert first.found == "7 checks in 2 groups, 7 disagree"
    assert crash.found == "SIGSEGV in ir: walk"
    assert [each.found for each in named] == [f"properties: op{i} (differs)" for i in range(5)]
    assert more.found == "and 2 more"

    agreed = SelfTestResult(Path("x"), {"traits": 3}, guarded=(Check("properties", "llvm.invoke", "guarded"),))
    monkeypatch.setattr(doctor, "run_selftest", lambda: agreed)
    assert row("ABI self-test").found == "3 checks in 1 groups, 1 known disagreements guarded"


def test_extension_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    good = SimpleNamespace(
        name="good", kind="pass", stage="ttir", version="1.0", path=Path("/a.so"), origin="built in", problem=None
    )
    bad = SimpleNamespace(**{**vars(good), "name": "bad", "problem": "built with [bold]g++"})
    monkeypatch.setattr(discovery, "extensions", lambda: [good, bad])
    first, second = doctor._rows("extensions", doctor.extensions)
    assert first == Row("extension good", "ok", "usable", "pass ttir 1.0 (built in)")
    assert second == Row("extension bad", "fail", "usable", "built with [bold]g++", "rebuild or remove /a.so")


@pytest.mark.parametrize("error", [TritonExtError("no", fix="mend"), ValueError("[odd]"), SystemError()])
def test_an_exception_is_a_row(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Row:
        raise error

    checks: dict[str, Callable[[], Row]] = {"broken": fail, "Python": doctor.python}
    monkeypatch.setattr(doctor, "_CHECKS", checks)
    broken, fine = doctor.examine()
    assert (broken.state, fine.state) == ("fail", "ok")
    assert broken.fix
    result = CliRunner().invoke(doctor_command)
    assert result.exit_code == 1
    assert "✗  broken" in result.output


def test_exit_status_and_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_CHECKS", {"Python": doctor.python})
    result = CliRunner().invoke(doctor_command, ["--json"])
    assert result.exit_code == 0
    assert json.loads(result.output)[0]["name"] == "Python"


def test_same_clangs_and_cmake_as_the_build() -> None:
    infra = resources.infra_dir()
    assert clang.versions() == sorted(clang.versions(), reverse=True) != []
    for reader in ("cmake/TritonExtCompiler.cmake", "cmake/TritonExtConfig.cmake", "system-packages"):
        text = (infra / reader).read_text()
        assert "/clang-versions" in text  # and no list of its own
        assert not re.search(r"\b(clang\+\+|ld\.lld)-\d+ |\b2\d 2\d\b", text)
    wanted = re.search(r"VERSION ([\d.]+)\)", (infra.parent / "CMakeLists.txt").read_text())
    assert wanted
    assert wanted[1] == doctor.dotted(doctor.OLDEST_CMAKE)
