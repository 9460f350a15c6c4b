# SPDX-License-Identifier: Apache-2.0
"""Objects and wheels that tests have built are found again, and only if nothing has changed that they depend on."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from support import ROOT, kept, kept_build, kept_objects, kept_wheel
from triton_ext.authoring import build

NINJA = """
rule compile
  command = {compiler} -MD -MF $out.d -c $in -o $out
  deps = gcc
  depfile = $out.d
build a.o: compile a.cpp
"""
Count = Callable[[], bytes]


@pytest.fixture(autouse=True)
def on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps things in an empty directory, in CI, too."""
    monkeypatch.setattr(kept, "KEPT", tmp_path / "kept")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("TRITON_EXT_TEST_KEPT", raising=False)
    kept._outputs.cache_clear()


@pytest.fixture
def count() -> Count:
    numbers = itertools.count()
    return lambda: str(next(numbers)).encode()


@pytest.mark.slow
def test_an_object_is_compiled_again_after_a_change(count: Count, tmp_path: Path) -> None:
    cache = (build.default_build_dir(ROOT) / "CMakeCache.txt").read_text()
    (compiler,) = (line.partition("=")[2] for line in cache.splitlines() if line.startswith("CMAKE_CXX_COMPILER:"))
    (tmp_path / "build.ninja").write_text(NINJA.format(compiler=compiler))
    (tmp_path / "a.h").write_text("")
    (tmp_path / "a.cpp").write_text('#include "a.h"')
    copy = tmp_path / "copy" / "a.cpp"
    copy.parent.mkdir()
    copy.write_text("int planted;")

    def find(*options: str) -> bytes:
        subprocess.run([build.tool("ninja"), "-C", tmp_path], check=True, capture_output=True)
        kept_objects._digest.cache_clear()  # another process
        command = " ".join([compiler, "-c a.cpp -o a.o", *options])
        return kept_objects.find(count, command, "a.o", [copy], base=copy.parent, build_dir=tmp_path)

    assert [find(), find()] == [b"0", b"0"]
    copy.write_text("int other;")
    assert [find(), find()] == [b"1", b"1"]
    (tmp_path / "a.h").write_text("// changed")
    assert [find(), find()] == [b"2", b"2"]
    assert [find("-O2"), find("-O2"), find()] == [b"3", b"3", b"2"]


def test_the_compiler_is_found_behind_ccache() -> None:
    assert kept_objects._is_program("/bin/sh")
    assert not any(map(kept_objects._is_program, ["-c", "-I/bin/sh", "CCACHE_BASEDIR=/bin/sh", "/bin", "a.cpp"]))


def test_without_headers_nothing_is_found(count: Count, tmp_path: Path) -> None:
    (tmp_path / "build.ninja").write_text("rule touch\n  command = touch $out\nbuild a.o: touch\n")
    subprocess.run([build.tool("ninja"), "-C", tmp_path], check=True, capture_output=True)
    with pytest.raises(AssertionError, match=r"Ninja knows no header of a\.o"):
        kept_objects.find(count, "/bin/sh", "a.o", [], base=tmp_path, build_dir=tmp_path)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a pass and a test."""
    root = tmp_path / "checkout"
    for name in ("passes/p/P.cpp", "test/test_p.py"):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text("")
    subprocess.run(["git", "init", "-q", root], check=True)
    monkeypatch.setattr(kept_wheel, "ROOT", root)
    # The build that tells the compiler.
    monkeypatch.setattr(kept_wheel.build, "default_build_dir", lambda _: tmp_path)
    (tmp_path / "CMakeCache.txt").write_text("CMAKE_CXX_COMPILER:FILEPATH=/bin/true\n")
    return root


@pytest.fixture
def made(checkout: Path, count: Count, tmp_path: Path) -> Callable[[], tuple[str, str]]:
    """Returns a function that returns name and content of a wheel."""
    runs = itertools.count()

    def make() -> tuple[str, str]:
        directory = tmp_path / f"run{next(runs)}"
        directory.mkdir()
        kept_wheel.make(lambda place: (place / "a-1-py3-none-any.whl").write_bytes(count()), directory)
        (wheel,) = directory.iterdir()
        return wheel.name, wheel.read_text()

    return make


def test_a_wheel_is_made_again_after_a_change(
    made: Callable[[], tuple[str, str]], checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "a-1-py3-none-any.whl"
    assert [made(), made()] == [(name, "0"), (name, "0")]
    (checkout / "test" / "test_p.py").write_text("changed")
    assert made() == (name, "0")
    (checkout / "passes" / "p" / "P.cpp").write_text("changed")
    assert [made(), made()] == [(name, "1"), (name, "1")]
    (checkout / "passes" / "p" / "New.cpp").write_text("")
    assert [made(), made()] == [(name, "2"), (name, "2")]
    (checkout / "passes" / "p" / "New.cpp").unlink()
    assert made() == (name, "1")
    monkeypatch.setenv("CXXFLAGS", "-O0")
    assert [made(), made()] == [(name, "3"), (name, "3")]
    monkeypatch.setenv("CI", "true")
    assert [made(), made()] == [(name, "4"), (name, "5")]


def test_a_project_is_built_again_after_a_change(
    checkout: Path, count: Count, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, runs = tmp_path / "project", itertools.count()
    source.mkdir()
    (source / "P.cpp").write_text("")

    def build_tree(_: Path, build_dir: Path, *, definitions: tuple[str, ...]) -> None:
        staged = definitions[0].partition("DIR=")[2]
        for file in (build_dir / "p" / "p.so", build_dir / "p" / "p.o", *([Path(staged, "p.py")] if staged else [])):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(count())

    def make(definition: str = "STAGE=ttir", *, is_staged: bool = False) -> list[str]:
        kept_build._inputs.cache_clear()
        run = tmp_path / f"run{next(runs)}"
        results = run / "lib" if is_staged else None
        definitions = [f"DIR={results}" if results else definition]
        kept_build.build_tree(source, run / "build", definitions, results=results)
        return [file.read_text() for file in (results or run / "build").rglob("*.*") if file.suffix != ".o"]

    monkeypatch.setattr(kept_build.build, "build_tree", build_tree)
    monkeypatch.setenv("TRITON_EXT_PATH", "/a")
    assert [make(), make(), make("STAGE=ttgir"), make()] == [["0"], ["0"], ["2"], ["0"]]
    monkeypatch.setenv("TRITON_EXT_PATH", "/b")
    assert make() == ["0"]
    assert [make(is_staged=True), make(is_staged=True)] == [["6"], ["6"]]
    (source / "P.cpp").write_text("changed")
    assert [make(), make()] == [["7"], ["7"]]
    (checkout / "passes" / "p" / "P.cpp").write_text("changed")
    assert [make(), make()] == [["9"], ["9"]]
    monkeypatch.setenv("CI", "true")
    assert [make(), make()] == [["11"], ["13"]]
    kept_build._inputs.cache_clear()


def test_what_the_wheel_reads_is_among_its_inputs() -> None:
    names = {path.relative_to(ROOT).as_posix() for path in kept_wheel.files()}
    assert {
        "CMakeLists.txt",
        "Makefile",
        "README.md",
        "pyproject.toml",
        "constraints.txt",
        "infra/wheel_tag.py",
    } < names
    assert {"python/triton_ext/__init__.py", "passes/rename/Rename.cpp", "infra/cmake/TritonExtConfig.cmake"} < names
    assert not {name for name in names if name.startswith(("test/", "build/"))}
