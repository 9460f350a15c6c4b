# SPDX-License-Identifier: Apache-2.0
"""For every kind of library on which Triton would crash, or which it would misuse, loading by hand is a clear error,
the list shows a broken row, and everything else works."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import triton_ext as tx
from support import ROOT
from triton_ext import sdk
from triton_ext.cli import cli
from triton_ext.loading import verification
from triton_ext.loading.elf import read_library
from triton_ext.loading.verification import Plugin

if TYPE_CHECKING:
    from support.fixture_types import MakePlugin, RunPython

# Bad plugins from plugin.c: macros, type of the error, part of its message.
COMPILED: dict[str, tuple[dict[str, str], type[tx.TritonExtError], str]] = {
    "no_entry_point": ({"ENTRY_POINT": "somethingElse"}, tx.TritonExtError, "does not export tritonGetPluginInfo"),
    "api_version": ({"API_VERSION": "1"}, tx.TritonExtError, "has plugin API version 1, Triton wants 2"),
    "triton_version": ({"TRITON": '"3.8.0"'}, tx.TritonExtError, "built for Triton 3.8.0, found 3.9.0"),
    "null_triton": ({"TRITON": "NULL"}, tx.TritonExtError, "does not say which Triton version"),
    "null_version": ({"VERSION": "NULL"}, tx.TritonExtError, "no plugin name or version"),
    "null_name": ({"NAME": "NULL"}, tx.TritonExtError, "no plugin name or version"),
    "name_not_utf8": ({"NAME": r'"\xff"'}, tx.TritonExtError, "not UTF-8"),
    "null_pass_name": ({"PASSES": '{NULL,"1",add,registerSelf}'}, tx.TritonExtError, "one of its passes has no name"),
    "null_callback": ({"PASSES": '{"p","1",NULL,registerSelf}'}, tx.TritonExtError, "or no callback"),
    "null_passes": ({"PASS_ARRAY": "NULL", "NUM_PASSES": "3"}, tx.TritonExtError, r"announces 3 passes and gives none"),
    "null_dialects": ({"NUM_DIALECTS": "1"}, tx.TritonExtError, "announces 1 dialects and gives none"),
    "null_ops": ({"NUM_OPS": "2"}, tx.TritonExtError, "announces 2 ops and gives none"),
    "count_absurd": ({"NUM_PASSES": "((size_t)-1)"}, tx.TritonExtError, "announces 18446744073709551615 passes"),
    "wild_array": ({"PASS_ARRAY": "((void*)8)"}, tx.TritonExtError, r"crashed \(SIGSEGV\)"),
    "null_info": ({"ANSWER": "NULL"}, tx.TritonExtError, "its entry point returned null"),
    "crashes": ({"BEFORE_ANSWER": "*(volatile int*)0=1"}, tx.TritonExtError, r"crashed \(SIGSEGV\)"),
    "aborts": ({"BEFORE_ANSWER": "abort()"}, tx.TritonExtError, r"crashed \(SIGABRT\)"),
    "exits": ({"BEFORE_ANSWER": "exit(0)"}, tx.TritonExtError, r"ended the process \(exit code 0\)"),
    "exits_7": ({"BEFORE_ANSWER": "_exit(7)"}, tx.TritonExtError, r"ended the process \(exit code 7\)"),
    "same_name_twice": (
        {"PASSES": '{"p","1",add,registerSelf},{"p","1",add,registerSelf}'},
        tx.TritonExtError,
        "two of its passes have the same name, among: p, p",
    ),
    "unknown_symbol": (
        {"NEEDS": "_ZN4mlir6linalg8fuseAllEv"},
        tx.AbiMismatchError,
        "needs _ZN4mlir6linalg8fuseAllEv, which Triton 3.9.0 does not have",
    ),
    "unknown_c_symbol": ({"NEEDS": "nobody_has_this"}, tx.TritonExtError, "does not load: .*nobody_has_this"),
    "abi_flag_off": (
        {"NEEDS": "_ZN4llvm24DisableABIBreakingChecksE"},
        tx.AbiMismatchError,
        "built with LLVM_ENABLE_ABI_BREAKING_CHECKS=0, libtriton with 1",
    ),
    "gcc_spelling": (
        {"TEXT": '"llvm::StringRef llvm::getTypeName() [with DesiredTypeName = int]"'},
        tx.AbiMismatchError,
        r"built with g\+\+",
    ),
}

# Changes of rename's manifest: fields, type of the error, part of its message.
MANIFESTS: dict[str, tuple[dict[str, object], type[tx.TritonExtError], str]] = {
    "newer_format": ({"format": 3}, tx.TritonExtError, "unreadable manifest: written in format 3, this reads format 2"),
    "older_format": ({"format": 1}, tx.TritonExtError, "take conflicting effects for independent ones"),
    "no_format": ({"format": None}, tx.TritonExtError, "unreadable manifest"),
    "other_triton": ({"triton": "3.8.0"}, tx.AbiMismatchError, "built for Triton 3.8.0, installed is 3.9.0"),
    "other_llvm": ({"llvm_commit": "deadbeef" * 5}, tx.AbiMismatchError, "built for LLVM deadbeef, installed is"),
    "other_compiler": ({"compiler": "not clang: 12.2.0"}, tx.AbiMismatchError, "another compiler than clang"),
    "other_abi": ({"abi_breaking_checks": False}, tx.AbiMismatchError, "ABI-breaking checks False, installed is True"),
    "field_missing": ({"name": None}, tx.TritonExtError, "unreadable manifest: 'name' is missing"),
    "field_unknown": ({"surprise": 1}, tx.TritonExtError, "unreadable manifest: 'surprise' is"),
    "commit_is_number": ({"llvm_commit": 12}, tx.TritonExtError, "unreadable manifest: 'llvm_commit' has the value 12"),
    "options_are_text": ({"options": "none"}, tx.TritonExtError, "unreadable manifest"),
    "option_is_keyword": (
        {"options": [{"name": "lambda", "type": "int", "list": False, "default": "1", "description": "d"}]},
        tx.TritonExtError,
        "unreadable manifest: option 'lambda' is not a Python identifier",
    ),
}
GARBAGE = {
    "garbage": r'"\x01\x02 garbage"',
    "not_utf8": r'"{\xff}"',
    "not_json": '"{"',
    "json_null": '"null"',
    "json_list": '"[1]"',
    "json_deep": '"' + "[" * 20000 + '"',
    "empty": '""',
}


def _text_file(path: Path) -> None:
    path.write_text("int main;\n")


def _truncated(path: Path, library: Path, size: float) -> None:
    path.write_bytes(library.read_bytes()[: int(library.stat().st_size * size)])


def _unix_socket(path: Path) -> None:
    with contextlib.chdir(path.parent), socket.socket(socket.AF_UNIX) as server:
        server.bind(path.name)  # a whole path may be too long for a socket


def _elf(path: Path, *sections: tuple[str, int, int, bytes]) -> None:
    """Returns a library with these sections: name, type, link and content of each."""
    names, heads, body = b"\0", [bytes(64)], b""
    for name, kind, link, content in (*sections, (".shstrtab", 3, 0, b"")):
        at, names = len(names), names + name.encode() + b"\0"
        data = content or names
        heads.append(
            struct.pack("<IIQQQQIIQQ", at, kind, 0, 0, 64 + len(body), len(data), link, 0, 1, 24 * (kind == 11))
        )
        body += data
    count = len(heads)
    head = struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, count, count - 1)
    path.write_bytes(b"\x7fELF\2\1\1" + bytes(9) + head + body + b"".join(heads))


_NO_SYMBOLS = ((".dynsym", 11, 2, bytes(24)), (".dynstr", 3, 0, b"\0"))
_LONG_NAMES = (
    (".dynsym", 11, 2, struct.pack("<IBBHQQ", 1, 0x12, 0, 1, 0, 0) * 10),
    (".dynstr", 3, 0, b"\0" + b"a" * 100_000 + b"\0"),
)

# Files that are not libraries: how each is made, part of the message.
FILES: dict[str, tuple[Callable[[Path, Path], object], str]] = {
    "missing": (lambda path, _: None, "no such file"),
    "dangling_link": (lambda path, _: path.symlink_to("nowhere"), "no such file"),
    "link_loop": (lambda path, _: path.symlink_to(path), "too many levels of symbolic links"),
    "text": (lambda path, _: _text_file(path), "not an ELF shared library"),
    "empty": (lambda path, _: path.touch(), "not an ELF shared library"),
    "magic_only": (lambda path, _: path.write_bytes(b"\x7fELF"), "not an ELF shared library"),
    "header_only": (lambda path, library: _truncated(path, library, 0.001), "not an ELF shared library"),
    "half": (lambda path, library: _truncated(path, library, 0.5), "not an ELF shared library"),
    "almost_whole": (lambda path, library: _truncated(path, library, 0.999), "not an ELF shared library"),
    # To read these to the end once took minutes for each listing of extensions.
    "notes": (
        lambda path, _: _elf(path, *_NO_SYMBOLS, (".note.triton_ext", 7, 0, bytes(1_000_000))),
        r"section .note.triton_ext has 1,000,000 bytes, expected 524,288 at most",
    ),
    "needs": (
        lambda path, _: _elf(path, *_NO_SYMBOLS, (".dynamic", 6, 2, struct.pack("<QQ", 1, 0) * 10_000)),
        r"section .dynamic has 160,000 bytes, expected 65,536 at most",
    ),
    "sections": (lambda path, _: _elf(path, *_NO_SYMBOLS, *[("x", 1, 0, b"x")] * 5000), "it has 5,004 sections"),
    "names": (lambda path, _: _elf(path, *_LONG_NAMES), "name does not end, or has more than 65,536 bytes"),
    "directory": (lambda path, _: path.mkdir(), "is a directory"),
    "pipe": (lambda path, _: os.mkfifo(path), "not a regular file"),
    "device": (lambda path, _: path.symlink_to("/dev/zero"), "not a regular file"),
    "socket": (lambda path, _: _unix_socket(path), "not a regular file"),
    "name_too_long": (lambda path, _: None, "file name too long"),
}


@pytest.fixture(scope="session")
def bad_plugins(
    tmp_path_factory: pytest.TempPathFactory, make_plugin: MakePlugin, note: Callable[..., str], rename: Plugin
) -> dict[str, tuple[Path, type[tx.TritonExtError], str]]:
    """Returns for each bad library its path, the type of the error that loading raises, and part of its message."""
    root = tmp_path_factory.mktemp("bad")
    bad: dict[str, tuple[Path, type[tx.TritonExtError], str]] = {}
    for name, (macros, error, reason) in COMPILED.items():
        bad[name] = (make_plugin(root / f"{name}.so", **macros), error, reason)
    for name, (fields, error, reason) in MANIFESTS.items():
        text = note(**fields)
        if None in fields.values():
            manifest = json.loads(json.loads(note()))
            text = json.dumps(json.dumps({k: v for k, v in manifest.items() if k not in fields}))
        bad[name] = (make_plugin(root / f"{name}.so", NOTE=text), error, reason)
    for name, text in GARBAGE.items():
        reason = "unreadable manifest"
        bad[f"note_{name}"] = (make_plugin(root / f"note_{name}.so", NOTE=text), tx.TritonExtError, reason)
    for name, (make, reason) in FILES.items():
        path = root / (f"{name}.so" if name != "name_too_long" else "x" * 300 + ".so")
        make(path, rename.path)
        bad[f"file_{name}"] = (path, tx.TritonExtError, reason)
    return bad


BAD = [*COMPILED, *MANIFESTS, *(f"note_{name}" for name in GARBAGE), *(f"file_{name}" for name in FILES)]


def _same_path(path: Path, message: str) -> bool:
    return str(path) in message or (path.is_symlink() and os.path.realpath(path) in message)


@pytest.mark.slow
@pytest.mark.parametrize("name", BAD)
def test_load_raises(name: str, bad_plugins: dict[str, tuple[Path, type[tx.TritonExtError], str]]) -> None:
    path, error, reason = bad_plugins[name]
    with pytest.raises(tx.TritonExtError) as caught:
        tx.load(path)
    assert type(caught.value) is error
    assert re.search(reason, str(caught.value), re.IGNORECASE)
    assert _same_path(path, str(caught.value))
    assert "\n" not in str(caught.value)
    assert tx.passes.ttir.rename(new="x").args == ("new=x",)  # a failure does not affect later loads


@pytest.mark.slow
def test_listed_as_broken(
    bad_plugins: dict[str, tuple[Path, type[tx.TritonExtError], str]],
    monkeypatch: pytest.MonkeyPatch,
    run_python: RunPython,
) -> None:
    """Lists all of them at once, some as files and the others in a directory: in Python, as JSON and as a table."""
    paths = [path for path, _, _ in bad_plugins.values()]
    files = [str(path) for number, path in enumerate(paths) if number % 2 and not os.path.isdir(path)]
    files += [str(path) for path in paths if not os.path.lexists(path)]
    variables = {"TRITON_EXT_PATH": ":".join(files), "TRITON_PLUGIN_PATHS": str(paths[0].parent)}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    rows = {str(e.path): e for e in tx.extensions()}
    for path, _, reason in bad_plugins.values():
        row = rows.get(str(path)) or rows[os.path.realpath(path)]
        assert row.problem is not None
        assert re.search(reason, row.problem, re.IGNORECASE), row
        assert row.plugin is None
        assert row.origin == ("TRITON_EXT_PATH" if str(path) in files else "TRITON_PLUGIN_PATHS")
    assert {e.origin for e in rows.values() if not e.problem} == {"built in"}
    assert tx.passes.ttir.rename(new="x")

    done = run_python("-m", "triton_ext", "list", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    listed = {row["path"]: row["problem"] for row in json.loads(done.stdout)}
    # A target that has no library is listed by its directory, and is not broken.
    targets: dict[str, str | None] = {path: None for path in listed if Path(path).parent == ROOT / "backends"}
    assert listed == {str(e.path): e.problem for e in rows.values()} | targets
    table = CliRunner().invoke(cli, ["list"], env={"COLUMNS": "400"})
    assert table.exit_code == 0
    assert table.output.count("broken: ") == len(bad_plugins)


HANGS = {
    "entry point": {"BEFORE_ANSWER": 'system("sleep 50 &"),pause()'},
    "constructor": {"CONSTRUCTOR": "pause()"},
}


@pytest.mark.slow
def test_a_plugin_that_hangs(make_plugin: MakePlugin, tmp_path: Path, run_python: RunPython) -> None:
    """The wait is reported, and no later process waits: the answer is kept for these bytes until a retry."""

    def check(where: str) -> None:
        directory = tmp_path / where.replace(" ", "-")
        directory.mkdir()
        path = make_plugin(directory / "plugin.so", **HANGS[where])
        says = (
            f"{path} is not a usable plugin: it did not load and describe itself within 5 s, and is not asked again "
            "until its bytes change (fix: triton-ext list --retry)"
        )
        waits = f"triton-ext: waiting up to 5 s for {path} to load\n"
        variables = {"TRITON_EXT_PATH": str(path), "XDG_CACHE_HOME": str(directory / "empty")}
        list_it = ("-m", "triton_ext", "list", "--json")
        for options, hears in ((), waits), ((), ""), (("--retry",), waits), ((), ""):
            done = run_python(*list_it, *options, **variables)
            assert done.stderr == hears
            assert [row["problem"] for row in json.loads(done.stdout) if row["path"] == str(path)] == [says]
        make_plugin(path)  # which does not hang
        done = run_python(*list_it, **variables)
        assert [row["problem"] for row in json.loads(done.stdout) if row["path"] == str(path)] == [None]

    with ThreadPoolExecutor() as pool:  # the waits of 5 s pass at the same time
        list(pool.map(check, HANGS))


@pytest.mark.slow
def test_noisy_plugin_is_good(make_plugin: MakePlugin) -> None:
    """The answer does not depend on what a plugin writes to the terminal, or reads from it."""
    path = make_plugin(BEFORE_ANSWER='printf("{}"),fputs("hello\\n",stderr),getchar()')
    assert tx.load(path).name == "plain"


@pytest.mark.slow
@pytest.mark.parametrize("order", [1, -1])
def test_two_libraries_with_one_name(
    order: int, make_plugin: MakePlugin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither library can be used, and both rows say why; everything else works."""
    paths = [make_plugin(tmp_path / f"{name}.so", NAME=f'"{name}"') for name in ("one", "two")]
    monkeypatch.setenv("TRITON_EXT_PATH", str(tmp_path))
    problems = {e.name: e.problem or "" for e in tx.extensions() if e.kind == "plugin"}
    assert f"the pass name 'plain' is also claimed by {paths[1]} (TRITON_EXT_PATH)" in problems["one"]
    assert f"the pass name 'plain' is also claimed by {paths[0]} (TRITON_EXT_PATH)" in problems["two"]
    with pytest.raises(tx.DuplicateExtensionError, match="is also claimed by"):
        _ = tx.passes.plugin.plain
    assert tx.passes.ttir.rename()

    monkeypatch.delenv("TRITON_EXT_PATH")
    first, second = paths[::order]
    tx.load(first)
    with pytest.raises(tx.DuplicateExtensionError, match=re.escape(str(first))):
        tx.load(second)
    assert tx.passes.plugin.plain().extension.path == first


@pytest.mark.slow
def test_name_of_a_built_in(make_plugin: MakePlugin, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading it by hand fails and changes nothing; in the environment it is a clash, and the error names both."""
    path = make_plugin(PASSES='{"rename","1",add,registerSelf}')
    with pytest.raises(tx.DuplicateExtensionError, match=r"'rename' is also claimed by .*built in"):
        tx.load(path)
    assert tx.passes.ttir.rename()
    monkeypatch.setenv("TRITON_EXT_PATH", str(path))
    with pytest.raises(tx.DuplicateExtensionError, match=re.escape(str(path))):
        _ = tx.passes.ttir.rename


@pytest.mark.slow
def test_broken_library_does_not_hide_a_good_one(
    make_plugin: MakePlugin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file with the name of another library's pass does not claim that pass."""
    (tmp_path / "a").mkdir()
    _text_file(tmp_path / "a" / "libplain.so")
    good = make_plugin(tmp_path / "b.so")
    monkeypatch.setenv("TRITON_EXT_PATH", f"{tmp_path / 'a'}:{good}")
    assert tx.passes.plugin.plain().extension.path == good
    monkeypatch.setenv("TRITON_EXT_PATH", str(tmp_path / "a"))
    with pytest.raises(tx.ExtensionNotFoundError, match=r"'plain' is broken: .*libplain\.so is not an ELF"):
        _ = tx.passes.plugin.plain


@pytest.mark.slow
def test_markup_in_a_path_is_text(tmp_path: Path, run_python: RunPython) -> None:
    """Names that are not valid text do not end the listing either."""
    names = ["[red].so", "[bold]x[.so", "two\nlines.so", os.fsdecode(b"\xff.so")]
    for name in names:
        _text_file(tmp_path / name)
    done = run_python("-m", "triton_ext", "list", COLUMNS="400", TRITON_EXT_PATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("broken: ") == len(names)
    assert f"{tmp_path}/[bold]x[.so is not an ELF" in done.stdout


@pytest.mark.slow
def test_mended_library_is_seen(make_plugin: MakePlugin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "plain.so"
    monkeypatch.setenv("TRITON_EXT_PATH", str(path))
    for macros, broken in (({"API_VERSION": "1"}, True), ({}, False), ({"VERSION": "NULL"}, True)):
        make_plugin(path, **macros)
        assert [e.problem is not None for e in tx.extensions() if e.path == path] == [broken]


@pytest.mark.parametrize(("content", "says"), [(None, "is missing"), (b"text", "is damaged"), (0.5, "is damaged")])
def test_shared_library_is_bad(
    content: bytes | float | None, says: str, rename: Plugin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The infrastructure, which every pass needs, is missing."""
    infra = tmp_path / verification.infra_library().name
    if isinstance(content, float):
        _truncated(infra, verification.infra_library(), content)
    elif content is not None:
        infra.write_bytes(content)
    monkeypatch.setenv("TRITON_EXT_LIBRARY_DIR", str(tmp_path))
    with pytest.raises(tx.TritonExtError, match=f"{infra} {says}"):
        verification.verify(Path(shutil.copy(rename.path, tmp_path)))


@pytest.mark.slow
def test_built_with_gcc(make_plugin: MakePlugin, tmp_path: Path, installed_sdk: sdk.Sdk | None) -> None:
    """The symbol is a real one: MLIR's TypeID in g++'s spelling."""
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    source = tmp_path / "gcc.cpp"
    source.write_text(
        '#include "mlir/Support/TypeID.h"\n'
        "namespace { struct Mine {}; }\n"
        'extern "C" __attribute__((visibility("default"))) void *tritonGetPluginInfo() {\n'
        "  return const_cast<void *>(mlir::TypeID::get<Mine>().getAsOpaquePointer());\n}\n"
    )
    assert installed_sdk is not None, "make sdk"
    includes = [f"-isystem{path}" for path in installed_sdk.include_dirs]
    path = make_plugin(compiler="g++", source=source, flags=("-std=c++20", "-fno-rtti", *includes))
    with pytest.raises(tx.AbiMismatchError, match=r"built with g\+\+"):
        tx.load(path)


HEADER = st.integers(0, 63)


@pytest.mark.slow
@given(st.lists(st.tuples(st.one_of(HEADER, st.integers(-2500, -1), st.integers(0, 30_000)), st.integers(0, 255))))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_library(rename: Plugin, tmp_path: Path, changes: list[tuple[int, int]]) -> None:
    """Wrong bytes anywhere, mostly in the ELF header and the section table at the end, give an error when the file is
    read."""
    data = bytearray(rename.path.read_bytes())
    for position, value in changes:
        data[position] = value
    path = tmp_path / "damaged.so"
    path.write_bytes(data)
    with contextlib.suppress(tx.TritonExtError):
        read_library(path)
