# SPDX-License-Identifier: Apache-2.0
"""The discovery index: a library is read once for all processes, and again whenever the answer may have changed."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import triton_ext as tx
from support import forked_python
from triton_ext.loading import candidates, discovery, index, verification
from triton_ext.support import resources

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.fixture_types import MakePlugin, RunPython
    from triton_ext.loading.verification import Plugin

#: Prints the extensions with their problems, and whether it had to read an ELF file.
LIST = """
import json, sys, triton_ext as tx
found = [[e.name, str(e.path), e.problem, str(e.manifest)] for e in tx.extensions()]
print(json.dumps([found, "elftools" in sys.modules]))
"""


@pytest.fixture
def index_file(fresh_loader: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the path of the index in an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "triton-ext" / "index"


def age(*paths: Path) -> None:
    """Waits until the index takes these files as settled, because the time of their last change cannot be set."""
    newest = max(path.stat().st_ctime_ns for path in paths)
    while time.time_ns() < newest + index._SETTLED_NS:
        time.sleep(0.05)


def listed(run_python: RunPython, **environment: str) -> tuple[list[list[str]], bool]:
    done = run_python(LIST, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    found, read = json.loads(done.stdout)
    return found, read


@pytest.fixture
def copies(rename: Plugin, tmp_path: Path) -> Path:
    """Makes a directory with the infrastructure and one extension, which a test may change."""
    directory = tmp_path / "lib"
    directory.mkdir()
    for name in ("libTritonExtPassInfra.so", rename.path.name):
        shutil.copy(resources.library_dir() / name, directory)
    return directory


@pytest.mark.slow
def test_read_once(run_python: RunPython, index_file: Path, copies: Path) -> None:
    age(*copies.iterdir(), *resources.PACKAGE_DIR.rglob("*.py"))
    first, read = listed(run_python, TRITON_EXT_LIBRARY_DIR=str(copies))
    assert read
    assert index_file.is_file()
    assert listed(run_python, TRITON_EXT_LIBRARY_DIR=str(copies)) == (first, False)


@pytest.mark.slow
def test_opt_reads_nothing(index_file: Path, tmp_path: Path) -> None:
    """The driver, too, finds the extension of a pass in the index."""
    module = tmp_path / "module.mlir"
    module.write_text("tt.func @old() { tt.return }")
    code = "import sys; sys.argv[1:] = [{!r}, '-rename=old=old new=new']; from triton_ext.driver import main\n"
    code += "try: main()\nexcept SystemExit as end: print('elftools' in sys.modules, end.code, file=sys.stderr)\n"
    age(*resources.library_dir().iterdir())
    for expected in ("True 0", "False 0"):
        done = forked_python.run([sys.executable, "-c", code.format(str(module))], check=True)
        assert "@new" in done.stdout
        assert done.stderr.strip() == expected


@pytest.mark.slow
def test_a_rebuilt_library_is_read_again(
    run_python: RunPython, index_file: Path, make_plugin: MakePlugin, tmp_path: Path
) -> None:
    """A change is noticed if the file is written in place and keeps its time, and if another file replaces it."""
    path = make_plugin(tmp_path / "plain.so")
    age(path)

    def problem() -> str | None:
        found, _ = listed(run_python, TRITON_EXT_PATH=str(path))
        return next(row[2] for row in found if row[1] == str(path))

    assert problem() is None
    stat = path.stat()
    content = path.read_bytes()
    path.write_bytes(bytes(len(content)))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert "is not an ELF shared library" in str(problem())
    (tmp_path / "other.so").write_bytes(content)
    (tmp_path / "other.so").replace(path)
    assert problem() is None
    path.unlink()
    assert "no such file" in str(problem())


@pytest.mark.slow
def test_what_a_library_binds_to_counts(run_python: RunPython, index_file: Path, copies: Path) -> None:
    """A good library becomes broken when the infrastructure that it needs changes."""
    infra = copies / "libTritonExtPassInfra.so"
    age(*copies.iterdir())
    assert listed(run_python, TRITON_EXT_LIBRARY_DIR=str(copies))[0][0][2] is None
    shutil.copy(resources.library_dir() / "libTritonExtInspect.so", infra)
    assert "needs _ZN4mlir10triton_ext" in listed(run_python, TRITON_EXT_LIBRARY_DIR=str(copies))[0][0][2]
    infra.unlink()
    assert "libTritonExtPassInfra.so is missing" in listed(run_python, TRITON_EXT_LIBRARY_DIR=str(copies))[0][0][2]


BROKEN = {
    "no library": ({}, "is not an ELF shared library"),
    "another Triton": ({"NOTE": {"triton": "3.8.0"}}, "built for Triton 3.8.0"),
    "no manifest": ({"NOTE": {"surprise": 1}}, "unreadable manifest"),
    "a symbol": ({"NEEDS": "_ZN4mlir6linalg8fuseAllEv"}, "which Triton 3.9.0 does not have"),
}


@pytest.mark.slow
@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.usefixtures("index_file")
def test_a_broken_library_is_read_once(
    how: str, run_python: RunPython, copies: Path, make_plugin: MakePlugin, note: Callable[..., str]
) -> None:
    """Faults are remembered, too, because finding them may take long."""
    macros, reason = BROKEN[how]
    path = copies.parent / "broken.so"
    if macros:
        make_plugin(path, **{name: note(**v) if isinstance(v, dict) else v for name, v in macros.items()})
    else:
        path.write_text("text")
    age(path, *copies.iterdir(), *resources.PACKAGE_DIR.rglob("*.py"))
    environment = {"TRITON_EXT_LIBRARY_DIR": str(copies), "TRITON_EXT_PATH": str(path)}
    first, read = listed(run_python, **environment)
    assert read
    (problem,) = (row[2] for row in first if row[1] == str(path))
    assert reason in problem
    assert listed(run_python, **environment) == (first, False)
    make_plugin(path.with_name("good.so"), NAME='"good"').replace(path)
    mended, read = listed(run_python, **environment)
    assert [row[2] for row in mended if row[1] == str(path)] == [None]
    assert read


@pytest.mark.slow
def test_a_library_is_good_again_when_what_it_lacks_is_there(
    run_python: RunPython, index_file: Path, copies: Path, tmp_path: Path
) -> None:
    infra = copies / "libTritonExtPassInfra.so"
    age(*copies.iterdir(), *resources.PACKAGE_DIR.rglob("*.py"))
    infra.rename(tmp_path / "moved")
    for reads in (True, False):
        found, read = listed(run_python, TRITON_EXT_LIBRARY_DIR=str(copies))
        assert "libTritonExtPassInfra.so is missing" in found[0][2]
        assert read == reads
    (tmp_path / "moved").rename(infra)
    assert listed(run_python, TRITON_EXT_LIBRARY_DIR=str(copies))[0][0][2] is None


@pytest.mark.slow
def test_an_answer_is_for_one_environment(
    run_python: RunPython, index_file: Path, copies: Path, rename: Plugin, tmp_path: Path
) -> None:
    """The same library is broken where the infrastructure is missing, and good where it is not."""
    other = tmp_path / "other"
    other.mkdir()
    library = str(copies / rename.path.name)
    age(*copies.iterdir())
    for _ in range(2):
        for directory, is_good in ((other, False), (copies, True)):
            found, _read = listed(run_python, TRITON_EXT_LIBRARY_DIR=str(directory), TRITON_EXT_PATH=library)
            assert [row[2] is None for row in found if row[1] == library] == [is_good]


def test_what_the_process_lacks_is_not_remembered(
    index_file: Path, copies: Path, rename: Plugin, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = copies / rename.path.name
    age(*copies.iterdir(), *resources.PACKAGE_DIR.rglob("*.py"))
    for error in (MemoryError, OSError(24, "Too many open files")):
        with monkeypatch.context() as patch:
            patch.setattr("triton_ext.loading.elf.ELFFile", lambda *_, error=error: (_ for _ in ()).throw(error))
            with pytest.raises(tx.TritonExtError):
                verification.verify(path)
        assert verification.verify(path).name == "rename"
        index._files.clear()
        index._answers.clear()


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_index(data: st.DataObject, index_file: Path, copies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any byte of the index may be wrong, and its end may be missing: the extensions that are found stay the same."""
    monkeypatch.setenv("TRITON_EXT_LIBRARY_DIR", str(copies))
    good = index_file.with_name("good")
    if not good.exists():
        age(*copies.iterdir(), *resources.PACKAGE_DIR.rglob("*.py"))
        _forget_everything()
        tx.extensions()
        shutil.copy(index_file, good)
    content = bytearray(good.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        del content[place:]
    else:
        content[place] = data.draw(st.integers(0, 255))
    index_file.write_bytes(content)
    _forget_everything()
    (found,) = tx.extensions()
    assert (found.name, found.problem) == ("rename", None)


def _forget_everything() -> None:
    """As in a process that has just started."""
    index._files.clear()
    index._answers.clear()
    index._read = None
    discovery._last = candidates._last = None


@pytest.mark.slow
def test_what_has_not_changed_is_not_asked_for_again(
    index_file: Path, copies: Path, rename: Plugin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compilation asks for many passes. What has changed is seen, though, and a link that leads elsewhere."""
    monkeypatch.setenv("TRITON_EXT_LIBRARY_DIR", str(copies))
    link, elsewhere = copies / "libtriton_ext_link.so", copies / "elsewhere.so"
    shutil.copy(rename.path, elsewhere)
    age(*copies.iterdir(), *resources.PACKAGE_DIR.rglob("*.py"))
    asked: list[Path] = []
    verify = discovery.verify
    monkeypatch.setattr(discovery, "verify", lambda path: asked.append(path) or verify(path))

    def ask() -> tuple[list[str], list[str | None]]:
        asked.clear()
        found = tx.extensions()
        return sorted(path.name for path in asked), [one.problem and one.problem.partition(":")[0] for one in found]

    library = rename.path.name
    assert [ask() for _ in range(3)] == [([library], [None]), ([library], [None]), ([], [None])]
    link.symlink_to(library)
    assert ask() == ([], [None])  # the same file
    link.unlink()
    link.symlink_to(elsewhere)
    assert ask() == (["elsewhere.so", library], ["duplicate", "duplicate"])
    link.unlink()
    assert ask() == ([library], [None])
    (copies / library).write_bytes(b"no library")
    assert [ask()[1] for _ in range(3)] == [[f"{copies / library} is not an ELF shared library"]] * 3
    shutil.copy(elsewhere, copies / library)
    assert ask() == ([library], [None])


@pytest.mark.slow
def test_many_at_once(index_file: Path) -> None:
    """Processes that start together overwrite each other's index, each time as a whole."""
    age(*resources.library_dir().iterdir())
    command = [sys.executable, "-c", LIST]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    answers = {process.communicate()[0] for process in processes}
    assert len({json.dumps(json.loads(answer)[0]) for answer in answers}) == 1
    digest, _, content = index_file.read_bytes().partition(b"\n")
    assert digest == index._digest(content)
    assert [path.name for path in index_file.parent.glob(".*")] == []


@pytest.mark.slow
def test_no_cache(run_python: RunPython, tmp_path: Path) -> None:
    """If the cache cannot be written, everything is found nevertheless."""
    (tmp_path / "file").write_text("")
    found, _ = listed(run_python, XDG_CACHE_HOME=str(tmp_path / "file"))
    assert {row[2] for row in found} == {None}


@pytest.mark.slow
def test_bundles_come_and_go(run_python: RunPython, index_file: Path, rename: Plugin, tmp_path: Path) -> None:
    """The installed distributions are read again when one appears, changes its entry point or disappears."""
    site = tmp_path / "site"

    def origins() -> list[str]:
        listed(run_python, PYTHONPATH=str(site))
        done = run_python("import triton_ext as tx; print([e.origin for e in tx.extensions()])", PYTHONPATH=str(site))
        return [origin for origin in ast.literal_eval(done.stdout) if origin.startswith("bundle")]

    def install(name: str, package: str) -> Path:
        info = site / f"{name}-1.0.dist-info"
        info.mkdir(parents=True, exist_ok=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[triton_ext.extensions]\n{name} = {package}\n")
        return info

    for package in ("one", "other"):
        (site / package).mkdir(parents=True)
        shutil.copy(rename.path, site / package / f"libtriton_ext_{package}.so")
    one = install("first", "one")
    assert origins() == ["bundle first"]
    install("second", "other")
    assert sorted(origins()) == ["bundle first", "bundle second"]
    install("second", "nowhere")
    assert sorted(origins()) == ["bundle first", "bundle second"]
    assert "its package 'nowhere' is not installed" in str(listed(run_python, PYTHONPATH=str(site)))
    shutil.rmtree(one)
    assert origins() == ["bundle second"]
