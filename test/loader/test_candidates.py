# SPDX-License-Identifier: Apache-2.0
"""Directories are listed again only when they have changed. Candidates are those of a process that has just started."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from triton_ext.loading import candidates, index
from triton_ext.support import resources


@pytest.fixture
def library_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes a directory with one library, in which alone is looked, and what is installed in ``site``."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site")])
    monkeypatch.setenv("TRITON_EXT_LIBRARY_DIR", str(tmp_path / "lib"))
    for name in ("lib", "site", "elsewhere", "more", "more/inner"):
        (tmp_path / name).mkdir()
    (tmp_path / "lib" / "libtriton_ext_one.so").touch()
    return tmp_path / "lib"


@pytest.fixture
def ask(library_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], tuple[bool, list[str]]]:
    """``ask()`` returns whether the directory of libraries was listed, and the names of the candidates."""
    listed: list[object] = []
    list_directory = os.listdir
    monkeypatch.setattr(os, "listdir", lambda *path: listed.append(path) or list_directory(*path))

    def ask() -> tuple[bool, list[str]]:
        listed.clear()
        found = candidates.candidates(())
        is_listed = (library_dir,) in listed
        last = candidates._last
        candidates._last = None
        assert candidates.candidates(()) == found  # as in a process that has just started
        candidates._last = last
        return is_listed, [path.name for path in found]

    return ask


def settle() -> None:
    """Waits until a change gets another time than those before."""
    time.sleep(3 * index._TICK_NS / 1e9)


def install(site: Path, entry_points: str) -> None:
    info = site / "some-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)


def changes(root: Path, monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], object]]:
    """Returns what changes the candidates, in an order in which each can be done."""
    lib, more, site = root / "lib", root / "more", root / "site"
    other = more / "inner" / "libtriton_ext_other.so"
    far = root / "far"
    install(root / "elsewhere", "[triton_ext.extensions]\nsome = some\n")
    return [
        (lib / "libtriton_ext_two.so").touch,
        lambda: (lib / "libtriton_ext_two.so").rename(lib / "libtriton_ext_three.so"),
        (lib / "libtriton_ext_three.so").unlink,
        lambda: monkeypatch.setenv("TRITON_EXT_PATH", str(more)),
        (more / "libplugin.so").touch,
        lambda: monkeypatch.setenv("TRITON_PLUGIN_PATHS", "inner/libtriton_ext_other.so"),
        lambda: monkeypatch.chdir(more),
        other.touch,
        lambda: [other.unlink(), other.symlink_to(lib / "libtriton_ext_one.so")],
        lambda: [
            shutil.copy(lib / "libtriton_ext_one.so", lib / "copy"),
            other.unlink(),
            other.symlink_to(lib / "copy"),
        ],
        lambda: [far.symlink_to(lib / "libtriton_ext_one.so"), (lib / "libtriton_ext_far.so").symlink_to(far)],
        lambda: [far.unlink(), far.symlink_to(lib / "copy")],
        lambda: monkeypatch.setattr(sys, "path", [str(root / "elsewhere")]),
        lambda: monkeypatch.setattr(sys, "path", [str(site)]),
        lambda: install(site, "[console_scripts]\nsome = some:main\n"),
        lambda: install(site, "[triton_ext.extensions]\nsome = some\n"),
        lambda: [(site / "some").mkdir(), (site / "some" / "libtriton_ext_some.so").touch()],
        lambda: monkeypatch.setattr(sys, "path", []),
        lambda: monkeypatch.setenv("TRITON_EXT_LIBRARY_DIR", str(more / "inner")),
        lambda: monkeypatch.chdir(lib),
        lambda: shutil.rmtree(more),
    ]


def test_a_change_is_seen_and_nothing_is_listed_without_one(
    library_dir: Path, ask: Callable[[], tuple[bool, list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    settle()
    assert ask() == (True, ["libtriton_ext_one.so"])
    assert ask() == (False, ["libtriton_ext_one.so"])
    for change in changes(library_dir.parent, monkeypatch):
        settle()
        ask()
        change()
        ask()


def test_bundles_are_always_looked_for(library_dir: Path, ask: Callable[[], tuple[bool, list[str]]]) -> None:
    """Any module may change where Python finds the package of a bundle."""
    install(library_dir.parent / "site", "[triton_ext.extensions]\nsome = some\n")
    settle()
    assert [ask() for _ in range(2)] == [(True, ["libtriton_ext_one.so", "some"])] * 2


def test_a_directory_may_change_again_within_a_tick(
    library_dir: Path, ask: Callable[[], tuple[bool, list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_TICK_NS", 10**12)
    assert [ask() for _ in range(2)] == [(True, ["libtriton_ext_one.so"])] * 2


def test_the_checkout_is_looked_at_once() -> None:
    assert resources.library_dir() in {path.parent for path in candidates.candidates(())}
    assert candidates.candidates(()) is candidates.candidates(())
