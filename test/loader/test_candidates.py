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

import triton_ext as tx
from triton_ext.loading import candidates, discovery, index
from triton_ext.support import resources

SETTLED_NS = index._SETTLED_NS


@pytest.fixture
def library_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes a directory with one library, in which alone is looked, and what is installed in ``site``."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site")])
    monkeypatch.setenv("TRITON_EXT_LIBRARY_DIR", str(tmp_path / "lib"))
    monkeypatch.setattr(index, "_SETTLED_NS", index._TICK_NS)  # the times of this file system are not coarse
    monkeypatch.setattr(candidates, "_last", None)
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
        assert found == anew()
        candidates._last = last
        return is_listed, [path.name for path in found]

    return ask


def anew() -> candidates.Candidates:
    """Returns the candidates as a process that has just started finds them."""
    candidates._last = None
    return candidates.candidates(())


def settle() -> None:
    """Waits until a change gets another time than those before."""
    time.sleep(3 * index._TICK_NS / 1e9)


def rename_without_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not every file system gives a renamed file another time of its status."""
    identity = index._identity
    monkeypatch.setattr(index, "_identity", lambda name: (found := identity(name)) and [*found[:-1], 0])


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


def test_a_directory_that_has_just_changed_is_listed_again(
    library_dir: Path, ask: Callable[[], tuple[bool, list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_SETTLED_NS", 10**12)
    settle()
    assert [ask() for _ in range(2)] == [(True, ["libtriton_ext_one.so"])] * 2


def test_a_file_system_may_count_seconds(library_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that comes in the second in which its directory was listed does not change the directory's time."""
    start, identity = time.time_ns(), index._identity
    settle()

    def in_seconds(name: str) -> index.Identity:
        found = identity(name)
        return found and [*found[:-3], 0, *(start + (t - start) // 10**9 * 10**9 for t in found[-2:])]

    monkeypatch.setattr(index, "_identity", in_seconds)
    monkeypatch.setattr(index, "_SETTLED_NS", SETTLED_NS)
    (library_dir / "libtriton_ext_two.so").touch()
    settle()
    assert len(candidates.candidates(())) == 2
    (library_dir / "libtriton_ext_three.so").touch()
    assert len(candidates.candidates(())) == 3


def test_links_in_directories_of_a_named_file(library_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is the same one when its directory gets another name, but its path is another."""
    rename_without_a_trace(monkeypatch)
    root = library_dir.parent
    link, real, moved = root / "link", root / "real", root / "moved"
    real.mkdir()
    link.symlink_to(real)
    (real / "libtriton_ext_two.so").touch()
    monkeypatch.setenv("TRITON_EXT_PATH", str(link / "libtriton_ext_two.so"))
    settle()
    assert real / "libtriton_ext_two.so" in candidates.candidates(())
    assert candidates._last
    real.rename(moved)
    link.unlink()
    link.symlink_to(moved)
    found = candidates.candidates(())
    assert moved / "libtriton_ext_two.so" in found
    assert found == anew()


def test_a_link_takes_the_place_of_a_named_file(library_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name leads to the same file as before."""
    rename_without_a_trace(monkeypatch)
    named, moved = library_dir.parent / "more" / "libtriton_ext_two.so", library_dir.parent / "moved.so"
    named.touch()
    monkeypatch.setenv("TRITON_EXT_PATH", str(named))
    settle()
    assert named in candidates.candidates(())
    assert candidates._last
    named.rename(moved)
    named.symlink_to(moved)
    assert moved in candidates.candidates(())


def test_another_thread_may_forget_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """It can run whenever this thread looks at a file."""
    monkeypatch.setattr(index, "_SETTLED_NS", index._TICK_NS)
    tx.extensions()  # verifies what has changed; the next call finds all results in the index
    found, extensions = candidates.candidates(tuple(discovery.by_hand)), tx.extensions()
    last = discovery._last
    assert candidates._last
    assert last
    is_as_seen = index.is_as_seen

    def forget_meanwhile(seen: dict[str, index.Identity]) -> bool:
        candidates._last = discovery._last = None
        return is_as_seen(seen)

    monkeypatch.setattr(index, "is_as_seen", forget_meanwhile)
    assert candidates.candidates(tuple(discovery.by_hand)) is found
    discovery._last = last
    monkeypatch.setattr(discovery, "candidates", lambda _: found)
    assert tx.extensions() == extensions
    assert discovery._last is None  # it was the last answer


def test_another_thread_may_change_the_settings(library_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was found then is not kept as that of the settings at the start."""
    settle()

    def change_meanwhile() -> list[tuple[str, str | None, str]]:
        monkeypatch.setenv("TRITON_EXT_PATH", str(library_dir.parent / "libtriton_ext_other.so"))
        return []

    with monkeypatch.context() as patch:
        patch.setattr(candidates, "bundles", change_meanwhile)
        assert len(candidates.candidates(())) == 2
    monkeypatch.delenv("TRITON_EXT_PATH")
    assert len(candidates.candidates(())) == 1


def test_the_checkout_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_SETTLED_NS", index._TICK_NS)
    assert resources.library_dir() in {path.parent for path in candidates.candidates(())}
    assert candidates.candidates(()) is candidates.candidates(())
