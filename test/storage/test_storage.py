# SPDX-License-Identifier: Apache-2.0
"""A cache belongs to its user alone, files appear whole or not at all, and links that others have planted are not
followed."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path

import pytest

import triton_ext as tx
from triton_ext.loading import index
from triton_ext.support import json_shape, storage
from triton_ext.support.storage import UnsafeDirectoryError


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the place of the cache, which does not exist yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    for name, empty in (("_files", {}), ("_answers", {}), ("_read", None)):
        monkeypatch.setattr(index, name, empty)
    return tmp_path / "xdg" / "triton-ext"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077, 0o777])
def test_made_for_the_user_alone(umask: int, cache: Path) -> None:
    before = os.umask(umask)
    try:
        assert storage.write_cache_file(cache / "a" / "b" / "file", b"x")
    finally:
        os.umask(before)
    assert [mode(path) for path in (cache, cache / "a", cache / "a" / "b")] == [0o700] * 3
    assert mode(cache / "a" / "b" / "file") == 0o600


def test_a_cache_that_others_may_read_stays_in_use(cache: Path) -> None:
    """A cache of an earlier version is accepted: its owner can write it, others can read it."""
    cache.mkdir(parents=True, mode=0o755)
    assert storage.write_cache_file(cache / "file", b"x")
    assert storage.read_private(cache / "file") == b"x"
    assert mode(cache) == 0o755


@pytest.mark.parametrize("bits", [0o777, 0o770, 0o775, 0o702])
@pytest.mark.parametrize("inner", ["", "probe"])
def test_one_that_others_can_write_is_refused(bits: int, inner: str, cache: Path) -> None:
    wrong = cache / inner
    wrong.mkdir(parents=True)
    (wrong / "file").write_bytes(b"planted")
    wrong.chmod(bits)
    with pytest.raises(UnsafeDirectoryError, match=rf"(?s)can write.*{wrong}.*{bits:04o}.*chmod -R go-w"):
        storage.write_cache_file(wrong / "other", b"")
    with pytest.raises(UnsafeDirectoryError):
        storage.read_private(wrong / "file")
    if not inner:
        with pytest.raises(UnsafeDirectoryError):
            tx.extensions()


def test_one_of_another_user_is_refused(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.mkdir(parents=True)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(UnsafeDirectoryError, match=r"belongs to user \d+, this process runs as user 12345.*XDG_CACHE"):
        storage.private_dir(cache)


def test_a_link_decides_where_the_cache_is(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's own link to another disk is fine; somebody else's is not."""
    (tmp_path / "disk").mkdir(mode=0o700)
    cache.parent.mkdir()
    cache.symlink_to(tmp_path / "disk")
    assert storage.write_cache_file(cache / "file", b"x")
    if os.geteuid() == 0:
        os.lchown(cache, 12345, 12345)
        with pytest.raises(UnsafeDirectoryError, match="belongs to user 12345"):
            storage.write_cache_file(cache / "file", b"x")


def test_a_file_of_another_user_is_a_miss(cache: Path) -> None:
    storage.write_cache_file(cache / "file", b"x")
    (cache / "file").chmod(0o660)
    assert storage.read_private(cache / "file") is None
    (cache / "pipe").parent.mkdir(exist_ok=True)
    os.mkfifo(cache / "pipe")
    (cache / "link").symlink_to(cache / "pipe")
    assert storage.read_private(cache / "pipe") is None  # it does not wait for a writer
    assert storage.read_private(cache / "link") is None


@pytest.mark.parametrize("root", ["cache", "./cache", ""])
def test_a_relative_cache_is_none(root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache would be in the working directory, which may belong to anybody."""
    monkeypatch.setenv("XDG_CACHE_HOME", root)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert storage.cache_dir() == tmp_path / ".cache" / "triton-ext"
    monkeypatch.setenv("HOME", "home")
    assert storage.cache_dir() is None


def test_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, victim = tmp_path / "file", tmp_path / "victim"
    victim.write_text("precious")
    path.symlink_to(victim)
    (tmp_path / f".file.{os.getpid()}").symlink_to(victim)
    storage.write_whole(path, b"new")
    assert (path.read_bytes(), path.is_symlink(), victim.read_text()) == (b"new", False, "precious")
    before = os.umask(0o027)
    try:
        storage.write_whole(path, b"newer")
    finally:
        os.umask(before)
    assert mode(path) == 0o640

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fchmod", full)
    names = sorted(os.listdir(tmp_path))
    with pytest.raises(OSError, match="No space left"):
        storage.write_whole(path, b"newest")
    assert path.read_bytes() == b"newer"
    assert sorted(os.listdir(tmp_path)) == names


@pytest.mark.parametrize(
    ("value", "shape", "fits"),
    [
        (1, int, True), (True, int, False), (1.0, int, False), ("a", str, True), (None, None, True), ([], object, True),
        ([1, "a"], [int], False), ([], [int], True), ([1, "a"], (int, str), True), ([1], (int, str), False),
        ({"a": 1}, {"a": int}, True), ({"a": 1, "b": 2}, {"a": int}, False), ({}, {"a": int}, False),
        ({"x": [1]}, {str: [int]}, True), ({"x": 1}, {str: str}, False), (None, json_shape.AnyOf(int, None), True),
    ],
)  # fmt: skip
def test_shapes(value: object, shape: object, fits: bool) -> None:
    assert json_shape.fits(value, shape) is fits
    assert json_shape.parsed(json.dumps(value), shape) == (value if fits else None)


@pytest.mark.slow
def test_an_answer_counts_in_the_process_that_gave_it(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check also accepts data that is not written yet, with tuples for lists; else each use would read each
    library."""
    from triton_ext.loading import elf, verification
    from triton_ext.support import resources

    library = min(resources.library_dir().glob("libtriton_ext_*.so"))
    first = verification.verify(library)
    monkeypatch.delattr(elf, "parse_library")
    assert verification.verify(library) == first


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "1" * 5000, b"\xff", None, "nul"])
def test_what_is_no_json(text: str | bytes | None) -> None:
    assert json_shape.parsed(text, object) is None
