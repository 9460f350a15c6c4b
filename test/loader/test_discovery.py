# SPDX-License-Identifier: Apache-2.0
"""Where triton-ext looks for extensions, and that the search loads nothing."""

from __future__ import annotations

import builtins
import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import triton_ext as tx
from support import forked_python
from triton_ext.loading import library_bytes

if TYPE_CHECKING:
    from support.fixture_types import MakePlugin, RunPython
    from triton_ext.loading.verification import Plugin

LIST = """
import json, triton_ext as tx
print(json.dumps([[e.name, e.origin, e.problem, str(e.path)] for e in tx.extensions()]))
"""


def rows(run_python: RunPython, **environment: str) -> list[list[Any]]:
    """Returns name, origin, problem and path of each extension that a fresh Python finds, except the built-in ones."""
    done = run_python(LIST, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    return [row for row in json.loads(done.stdout) if row[1] != "built in"]


def add_bundle(site: Path, distribution: str, package: str, *libraries: Path) -> Path:
    """Makes an installed distribution; its entry point names the directory `package`, which holds `libraries`."""
    info = site / f"{distribution.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[triton_ext.extensions]\n{distribution} = {package}\n")
    directory = site.joinpath(*package.split("."))
    if libraries:
        directory.mkdir(parents=True)
        (site / package.split(".", maxsplit=1)[0] / "__init__.py").write_text(
            "raise RuntimeError('listing must not import me')\n"
        )
    for library in libraries:
        shutil.copy(library, directory)
    return directory


def test_built_in() -> None:
    (rename,) = [e for e in tx.extensions() if (e.origin, e.name) == ("built in", "rename")]
    assert (rename.name, rename.kind, rename.stage, rename.problem) == ("rename", "pass", "ttir", None)
    assert rename.manifest is not None
    assert rename.manifest.argument == "triton-ext-rename"


@pytest.mark.slow
@pytest.mark.parametrize("variable", ["TRITON_EXT_PATH", "TRITON_PLUGIN_PATHS", "TRITON_PASS_PLUGIN_PATH"])
@pytest.mark.parametrize("as_directory", [False, True])
def test_variables(
    variable: str, as_directory: bool, make_plugin: MakePlugin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Empty entries are ignored; a directory gives its ``*.so`` files, except the library that passes share."""
    path = make_plugin(tmp_path / "some [odd] name.so")
    (tmp_path / "note.txt").write_text("not looked at")
    (tmp_path / "libTritonExtPassInfra.so").write_text("not looked at")
    monkeypatch.setenv(variable, f":{tmp_path if as_directory else path}:")
    found = [e for e in tx.extensions() if e.origin != "built in"]
    assert [(e.name, e.origin, e.path, e.problem) for e in found] == [("plain", variable, path, None)]
    assert tx.passes.plugin.plain
    assert "plain" in dir(tx.passes.plugin)


@pytest.mark.slow
def test_list_in_a_pipe(run_python: RunPython, tmp_path: Path) -> None:
    """Prints one line for each extension, with its whole path and reason, whatever the terminal's width."""
    directory = tmp_path / ("a long name " * 12).strip()
    directory.mkdir()
    for name in ("one", "two"):
        (directory / f"libtriton_ext_{name}.so").write_text("text")
    done = run_python("-m", "triton_ext", "list", TRITON_EXT_PATH=str(directory), COLUMNS="40")
    header, *lines = done.stdout.splitlines()
    assert header.split() == ["extension", "kind", "stage", "target", "version", "origin", "state"]
    listed = run_python("-m", "triton_ext", "list", "--json", TRITON_EXT_PATH=str(directory))
    names = [line.split()[0] for line in lines]
    assert names == [e["name"] for e in json.loads(listed.stdout)]
    assert {"one", "two"} | {e.name for e in tx.extensions() if e.origin == "built in"} <= {*names}
    for name in ("one", "two"):
        (line,) = (line for line in lines if line.startswith(name))
        assert str(directory / f"libtriton_ext_{name}.so") in line
        assert line == line.rstrip()


def test_a_name_that_is_almost_right() -> None:
    with pytest.raises(tx.ExtensionNotFoundError, match="no extension 'renam'; did you mean 'rename'"):
        tx.load("renam")
    with pytest.raises(tx.ExtensionNotFoundError, match=r"no extension 'nothing_like_it'; there is: .*rename"):
        tx.load("nothing_like_it")


@pytest.mark.slow
def test_same_file_by_several_ways(make_plugin: MakePlugin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_plugin(tmp_path / "plain.so")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "other.so").symlink_to(path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRITON_EXT_PATH", f"plain.so:{path}:{tmp_path}/links/../plain.so:{tmp_path / 'links'}")
    monkeypatch.setenv("TRITON_PLUGIN_PATHS", str(tmp_path))
    tx.load(path)
    assert [e.name for e in tx.extensions() if e.origin != "built in"] == ["plain"]


@pytest.mark.slow
@pytest.mark.parametrize("package", ["hello_bundle", "hello_bundle.inner.lib"])
def test_bundle(package: str, run_python: RunPython, make_plugin: MakePlugin, tmp_path: Path) -> None:
    """A bundle's package is located, not imported; only its ``libtriton_ext_*.so`` files are extensions."""
    library = make_plugin(tmp_path / "libtriton_ext_plain.so")
    site = tmp_path / "site"
    directory = add_bundle(site, "hello-bundle", package, library)
    (directory / "libother.so").write_text("no extension")
    (row,) = rows(run_python, PYTHONPATH=str(site))
    assert row == ["plain", "bundle hello-bundle", None, str(directory / library.name)]


@pytest.mark.slow
def test_broken_bundles(run_python: RunPython, make_plugin: MakePlugin, rename: Plugin, tmp_path: Path) -> None:
    """Each broken bundle is a row that names the culprit, and all others work."""
    site = tmp_path / "site"
    bad = make_plugin(tmp_path / "libtriton_ext_bad.so", TRITON='"3.8.0"')
    empty_package = add_bundle(site, "empty", "empty_package")
    empty_package.mkdir()
    (empty_package / "__init__.py").touch()
    add_bundle(site, "gone", "gone_package")
    add_bundle(site, "no-module", "no module at all!")
    add_bundle(site, "no-name", ".relative")
    add_bundle(site, "old", "old_package", bad)
    add_bundle(site, "twin", "twin_package", rename.path)
    (site / "single.py").write_text("")
    add_bundle(site, "single", "single")
    found = {row[1]: row for row in rows(run_python, PYTHONPATH=str(site))}
    assert {origin: row[0] for origin, row in found.items()} == {
        "bundle empty": "empty",
        "bundle gone": "gone",
        "bundle no-module": "no-module",
        "bundle no-name": "no-name",
        "bundle old": "bad",
        "bundle single": "single",
        "bundle twin": "rename",
    }
    assert "has no libtriton_ext_*.so" in found["bundle empty"][2]
    assert "'gone_package' is not installed" in found["bundle gone"][2]
    assert "built for Triton 3.8.0" in found["bundle old"][2]
    assert "duplicate" in found["bundle twin"][2]
    assert all(row[2] for row in found.values())


MAPPED = """
import sys
import triton_ext as tx
def state():
    maps = open("/proc/self/maps").read()
    return [name for name in ("libtriton.so", "libtriton_ext_rename.so", "libTritonExtPassInfra.so") if name in maps]
assert "triton" not in sys.modules
tx.extensions()
print(state())
p = tx.Pipeline().at_end("ttir", tx.passes.ttir.rename(old="kernel", new="bar"))
help_text, names, shown = tx.passes.ttir.rename.__doc__, dir(tx.passes.ttir), repr(tx.passes.ttir)
print(state(), "triton" in sys.modules)
with p:
    print(state())
"""


@pytest.mark.slow
def test_loaded_on_first_use(tmp_path: Path) -> None:
    """Finding, describing and placing a pass loads neither the pass nor Triton; entering a pipeline loads both."""
    done = forked_python.start([sys.executable, "-c", MAPPED], cwd=tmp_path)  # a forked program has mapped libtriton
    assert done.stdout.splitlines() == [
        "[]",
        "[] False",
        "['libtriton.so', 'libtriton_ext_rename.so', 'libTritonExtPassInfra.so']",
    ], done.stderr


@pytest.mark.slow
def test_rebuilt_library_is_loaded_anew(make_plugin: MakePlugin, tmp_path: Path) -> None:
    """For a path that it has seen before, the dynamic loader would return the old code."""
    from triton_ext.loading.loader import load_library

    path = tmp_path / "plain.so"
    digests = {load_library(tx.load(make_plugin(path, VERSION=f'"{n}.0"'))).digest for n in (1, 2)}
    assert len(digests) == 2
    assert load_library(tx.load(make_plugin(path, VERSION='"1.0"'))).digest in digests


LOADED = """
import pathlib
import triton_ext as tx
from triton_ext.loading.loader import load_library
path = pathlib.Path({path!r})
load_library(tx.load(path))
mapped = [line.split(maxsplit=5)[-1].strip() for line in open("/proc/self/maps") if path.name in line]
print(sorted(set(mapped)))
"""


@pytest.mark.slow
def test_what_is_loaded_has_no_path(run_python: RunPython, make_plugin: MakePlugin, tmp_path: Path) -> None:
    """The library is in memory, where nobody can exchange it; there is no copy in the cache or in /tmp."""
    path, cache, temporary = make_plugin(tmp_path / "plain.so"), tmp_path / "cache", tmp_path / "temporary"
    temporary.mkdir()
    done = run_python(LOADED.format(path=str(path)), XDG_CACHE_HOME=str(cache), TMPDIR=str(temporary))
    assert done.stdout == "['/memfd:plain.so (deleted)']\n", done.stderr
    assert list(cache.rglob("*.so")) == list(temporary.iterdir()) == []


@pytest.mark.slow
def test_little_room_in_memory(run_python: RunPython, make_plugin: MakePlugin, tmp_path: Path) -> None:
    """If no copy can be made (``ulimit -f``), the file itself is loaded, through its descriptor."""
    path = make_plugin(tmp_path / "plain.so")
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({path.stat().st_size - 1},) * 2)\n"
    done = run_python(limit + LOADED.format(path=str(path)), XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert done.stdout == f"['{path}']\n", done.stderr


@pytest.mark.slow
def test_changed_while_it_is_loaded(make_plugin: MakePlugin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes that are loaded are those that were checked, whatever happens to the file in between."""
    from triton_ext.loading import loader

    path = make_plugin(tmp_path / "plain.so")
    good, bad = path.read_bytes(), make_plugin(API_VERSION="1").read_bytes()
    real = loader.read_bytes

    def read(path: Path) -> library_bytes.LibraryBytes:
        path.write_bytes(bad)
        found = real(path)
        path.write_bytes(good)
        return found

    extension = tx.load(path)
    path.write_bytes(good)  # another time, so that the file is read again
    monkeypatch.setattr(loader, "read_bytes", read)
    with pytest.raises(tx.TritonExtError, match="changes while it is loaded"):
        loader.verified_bytes(extension.path)


@pytest.mark.slow
def test_without_a_cache(run_python: RunPython, make_plugin: MakePlugin, tmp_path: Path) -> None:
    path = make_plugin(tmp_path / "plain.so")
    done = run_python(f"import triton_ext as tx; print(tx.load({str(path)!r}).name)", XDG_CACHE_HOME="/dev/null")
    assert done.stdout == "plain\n", done.stderr


@pytest.mark.slow
def test_probe_ignores_the_current_directory(run_python: RunPython, make_plugin: MakePlugin, tmp_path: Path) -> None:
    """Files with the names of modules of the standard library do not replace these."""
    path = make_plugin(tmp_path / "plain.so")
    for module in ("json", "ctypes", "triton"):
        (tmp_path / f"{module}.py").write_text("raise RuntimeError('wrong module')\n")
    code = f"import sys; sys.path.remove(''); import triton_ext as tx; print(tx.load({str(path)!r}).name)"
    done = run_python(code, cwd=tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert done.stdout == "plain\n", done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("flags", [[], ["-P"]])
def test_a_name_is_no_path(flags: list[str], rename: Plugin, tmp_path: Path) -> None:
    """Only a name with a ``/`` is a path: a file of that name in the working directory is not even opened."""
    shutil.copy(rename.path, tmp_path / "rename")
    (tmp_path / "libother.so").write_bytes(rename.path.read_bytes())
    code = """
import triton_ext as tx
print(tx.load("rename").origin)
for name in ("libother.so", "nothing", "a.b"):
    try:
        tx.load(name)
    except tx.ExtensionNotFoundError as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, *flags, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    origin, other, nothing, dotted = done.stdout.splitlines() or [done.stderr] * 4
    assert origin == "built in"
    assert other.startswith("no extension 'libother.so'; there is: ")
    assert "; the file is './libother.so'" in other
    assert "; the file" not in nothing
    assert dotted.startswith("no extension 'a.b'")


@pytest.mark.parametrize("path", ["a/\0b", "/" + "x" * 5000, "./\ud800"])
def test_paths_that_cannot_be(path: str) -> None:
    with pytest.raises(tx.TritonExtError):
        tx.load(path)


@pytest.mark.parametrize("error", ["ArrayError", "MemoryError", "ZeroDivisionError", "struct.error", "RecursionError"])
def test_whatever_goes_wrong_is_a_row(
    error: str, rename: Plugin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One library that cannot be read, for whatever reason, does not break the list."""
    from elftools.construct import ArrayError

    from triton_ext.loading import elf

    errors = {"ArrayError": ArrayError, "struct.error": struct.error}
    bad = Path(shutil.copy(rename.path, tmp_path / "libbad.so"))
    real = elf.ELFFile

    def read(file: Any) -> Any:
        file.seek(0)
        if file.read(3) == b"bad":
            raise errors.get(error) or getattr(builtins, error)()
        return real(file)

    bad.write_bytes(b"bad" + bad.read_bytes()[3:])
    monkeypatch.setattr(elf, "ELFFile", read)
    monkeypatch.setenv("TRITON_EXT_PATH", str(bad))
    found = {e.name: e for e in tx.extensions()}
    assert found["bad"].problem is not None
    assert error.rpartition(".")[2].lower() in found["bad"].problem.lower() or "is not an ELF" in found["bad"].problem
    assert found["rename"].problem is None


@pytest.mark.slow
def test_a_damaged_distribution_is_a_row(run_python: RunPython, rename: Plugin, tmp_path: Path) -> None:
    """Entry points that cannot be read do not keep other bundles from being found, nor do invalid names of packages."""
    site = tmp_path / "site"
    add_bundle(site, "good", "good_package", rename.path)
    add_bundle(site, "null", "null.\0package")
    add_bundle(site, "broken", "broken_package")
    (site / "broken-1.0.dist-info" / "entry_points.txt").write_bytes(b"[triton_ext.extensions]\nx = \xff\xfe\n")
    found = {row[1]: row[2] for row in rows(run_python, PYTHONPATH=str(site))}
    assert "duplicate" in found["bundle good"]  # this is the built-in one
    assert "cannot be read" in found["bundle broken"]
    assert "bundle null" in found
