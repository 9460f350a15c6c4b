# SPDX-License-Identifier: Apache-2.0
"""What `support.kept` keeps from one run of the tests to the next is found again, and only if nothing has changed."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support import ROOT, kept


@pytest.fixture(autouse=True)
def on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keeps things in an empty directory, in CI, too."""
    monkeypatch.setattr(kept, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(kept, "_machine", lambda: "machine")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("TRITON_EXT_TEST_KEPT", raising=False)
    kept._outputs.cache_clear()
    kept._state.cache_clear()
    kept._code.cache_clear()
    yield
    kept._code.cache_clear()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Any:
    count = itertools.count()
    return lambda: str(next(count)).encode()


def test_an_output_is_computed_once(calls: Any) -> None:
    assert kept.output(calls, "a", "b") == kept.output(calls, "a", "b") == b"0"
    assert kept.output(calls, "ab") == b"1"
    assert kept.output(calls, "a", "b") == b"0"


def test_another_machine_has_other_outputs(calls: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept.output(calls, "a") == b"0"
    monkeypatch.setattr(kept, "_machine", lambda: "another machine")
    assert kept.output(calls, "a") == b"1"


@pytest.mark.parametrize("damaged", [b"", b"0", b"x" * 33])
def test_a_damaged_output_is_computed_again(damaged: bytes, calls: Any) -> None:
    kept.output(calls, "a")
    (file,) = (kept.KEPT / "outputs").iterdir()
    file.write_bytes(damaged)
    assert kept.output(calls, "a") == kept.output(calls, "a") == b"1"


def test_a_failure_is_not_kept(calls: Any) -> None:
    def fail() -> bytes:
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        kept.output(fail, "a")
    assert kept.output(calls, "a") == b"0"


@pytest.mark.parametrize(
    "variable", ["TRITON_EXT_TEST_KEPT=0", "CI=true", "TRITON_EXT_MUTANT=bug", "TRITON_EXT_LIBRARY_DIR=/other"]
)
def test_nothing_is_kept(variable: str, calls: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept.is_on(os.environ)
    monkeypatch.setenv(*variable.split("="))
    assert not kept.is_on(os.environ)
    assert (kept.output(calls, "a"), kept.output(calls, "a")) == (b"0", b"1")


def test_old_outputs_go(calls: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(kept.MOST, "outputs", 3)
    for name in "abcd":
        kept.output(calls, name)
        for file in (kept.KEPT / "outputs").iterdir():
            os.utime(file, (file.stat().st_atime, file.stat().st_mtime - 1))
    kept.output(calls, "a")  # used now
    kept._outputs.cache_clear()
    assert kept.output(calls, "a") == b"0"
    assert len(list((kept.KEPT / "outputs").iterdir())) == 2


def test_a_hint_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    hint = kept.Hint("lit", "passes/a", "bug")
    assert hint.read() == ""
    hint.write("a.mlir")
    assert (kept.Hint("lit", "passes/a", "bug").read(), kept.Hint("lit", "passes/a", "").read()) == ("a.mlir", "")
    monkeypatch.setenv("CI", "true")
    hint.write("b.mlir")
    assert hint.read() == ""
    monkeypatch.delenv("CI")
    assert hint.read() == "a.mlir"


def _test(file: Path, name: str = "test_a", **options: bool) -> Any:
    return SimpleNamespace(
        path=file, nodeid=f"{file.name}::{name}", config=SimpleNamespace(option=SimpleNamespace(**options))
    )


def _run(item: Any, environment: dict[str, str] | None = None, size: int = 1) -> bool:
    """Runs a test that compiles a kernel; returns whether it has found the kernel of an earlier run."""
    for directory in kept.kernels_of(item, environment or {}):
        found = (directory / "kernel").exists()
        directory.mkdir(exist_ok=True)
        (directory / "kernel").write_bytes(bytes(size))
    return found


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that compiles kernels."""
    code = tmp_path / "compiler.py"
    code.write_text("1")
    monkeypatch.setattr(kept, "inputs", lambda: iter([code]))
    kept._code.cache_clear()
    return code


def test_a_test_finds_its_kernels_until_something_changes(state: Path, tmp_path: Path) -> None:
    file = tmp_path / "test_file.py"
    file.write_text("a")
    item = _test(file)
    assert [_run(item), _run(item), _run(_test(file, "test_b"))] == [False, True, False]
    file.write_text("b")
    assert [_run(item), _run(item)] == [False, True]
    assert [_run(item, {"TRITON_DEBUG": "1"}), _run(item, {"TRITON_CACHE_DIR": "x", "HOME": "y"})] == [False, True]
    for version in "234":
        state.write_text(version)
        kept._state.cache_clear()  # another process
        kept._code.cache_clear()
        assert [_run(item), _run(item)] == [False, True]
    assert len(list((kept.KEPT / "kernels").iterdir())) == kept.STATES


def test_each_planted_bug_has_kernels_of_its_own(state: Path, tmp_path: Path) -> None:
    (tmp_path / "test_file.py").touch()
    item = _test(tmp_path / "test_file.py")
    planted = {kept.PLANTED: "1", "TRITON_EXT_LIBRARY_DIR": "/a", "TRITON_EXT_MUTANT": "bug"}
    assert kept.keeps_kernels(item, planted)
    assert not kept.keeps_kernels(item, planted | {"TRITON_EXT_PATH": "/a"})
    assert not kept.keeps_kernels(item, {"TRITON_EXT_LIBRARY_DIR": "/a", "TRITON_EXT_MUTANT": "bug"})
    for changes in ({}, {"TRITON_EXT_MUTANT": ""}, {kept.PLANTED: "2"}):
        assert [_run(item, planted | changes), _run(item, planted | changes)] == [False, True]
    assert _run(item, planted | {"TRITON_EXT_LIBRARY_DIR": "/b"})  # the same libraries in another directory
    assert not _run(item)


@pytest.mark.parametrize(("options", "keeps"), [({"verbose": True}, True), ({"triton_sanitize": True}, False)])
def test_an_option_that_looks_at_compilations(options: dict[str, bool], keeps: bool, tmp_path: Path) -> None:
    assert kept.keeps_kernels(_test(tmp_path / "test_file.py", **options), {}) is keeps
    assert not kept.keeps_kernels(_test(tmp_path / "test_file.py", **options), {"CI": "true"})


def test_too_many_bytes_are_not_kept(state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_BYTES", 8192)
    (tmp_path / "test_file.py").touch()
    item = _test(tmp_path / "test_file.py")
    assert [_run(item, size=8193), _run(item, size=8192), _run(item)] == [False, False, True]
    for directory in kept.kernels_of(item, {}):
        (directory / "another kernel").write_bytes(bytes(8192))
    assert not _run(item)


def test_everything_that_compiles_changes_the_state(tmp_path: Path) -> None:
    found = [*kept.inputs()]
    names = {path.relative_to(ROOT).as_posix() for path in found}
    assert {
        "backends/cpu/compiler.py",
        "python/triton_ext/lib/libTritonExtPassInfra.so",
        "python/triton_ext/pipeline/__init__.py",
        "test/support/kept.py",
        "conftest.py",
    } <= names
    assert not [name for name in names if Path(name).name.startswith("test_")]
    shutil.copy(found[0], tmp_path / "library")
    before = kept.digest([tmp_path / "library"])
    with (tmp_path / "library").open("ab") as file:
        file.write(b"0")
    assert kept.digest([tmp_path / "library"]) != before
