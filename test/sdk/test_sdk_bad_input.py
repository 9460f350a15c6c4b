# SPDX-License-Identifier: Apache-2.0
"""Each bad input gives one line with the command that mends it and exit code 1, and leaves nothing half-done."""

from __future__ import annotations

import importlib.util
import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.sdk.world import World, closed_port, llvm_debs, llvm_files, tar_bytes, write_tree
from triton_ext.loading import host

SNAPSHOT = "debian-24-snapshot"
REINSTALL = "triton-ext sdk install"


@pytest.fixture
def tmpfs(tmp_path: Path) -> Iterator[Path]:
    """Returns a file system of one megabyte; where none can be mounted, the test is skipped."""
    mount = tmp_path / "small"
    mount.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(mount)]
    if os.getuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("not permitted here: to mount a file system")
    yield mount
    subprocess.run(["umount", str(mount)], check=True)


def test_nothing_installed(world: World) -> None:
    for command in (["path"], ["info"], ["info", "--json"]):
        message = world.fails(*command)
        assert message.endswith(f"(fix: {REINSTALL})")


def test_no_triton(world: World) -> None:
    world.monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for command in ("install", "path", "info"):
        assert world.fails(command).endswith(
            "error: Triton is not installed in this Python (fix: pip install triton==3.9.0)"
        )


def test_old_triton(world: World) -> None:
    world.monkeypatch.setattr(host, "triton_version", lambda: "3.8.1")
    world.monkeypatch.setattr(host.index, "recall", lambda *_: None)  # of the installed Triton
    for command in ("install", "path"):
        assert "Triton 3.8.1 ships no plugin headers, 3.9 or newer is needed" in world.fails(command)


def test_no_network(world: World) -> None:
    world.monkeypatch.setenv("TRITON_EXT_LLVM_MIRROR", closed_port())
    world.monkeypatch.setenv("TRITON_EXT_DEBIAN_MIRROR", closed_port())
    message = world.fails("install")
    for source in (SNAPSHOT, "debian-23"):
        assert f"{source}: cannot download" in message
    assert "Connection refused" in message
    assert "check network and proxy" in message


def test_no_network_for_the_c_library(world: World) -> None:
    world.monkeypatch.setenv("TRITON_EXT_DEBIAN_MIRROR", closed_port())
    named = write_tree(world.tmp / "llvm", llvm_files() | {"bin/mlir-tblgen": "#!/bin/sh\nexit 127\n"})
    message = world.fails("install", "--from", str(named))
    assert "user cannot be used: cannot download" in message
    assert "check network and proxy" in message


def test_wrong_hash(world: World) -> None:
    world.manifest(llvm_debs(), wrong="llvm-dev")
    message = world.fails("install")
    assert "llvm-dev_1.deb has the wrong hash and was deleted: expected sha256 000000" in message
    assert ", found " in message
    left = [path.name for path in (world.cache / "downloads").rglob("*") if path.is_file()]
    assert left == ["libmlir-dev_1.deb"]


def test_full_disk_is_seen_up_front(world: World) -> None:
    usage = shutil.disk_usage(world.tmp)._replace(free=12_000_000)
    world.monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    message = world.fails("install", "--source", SNAPSHOT)
    assert "is full: 12 MB are free, 201 MB are needed" in message
    assert world.server.log == []


def test_source_that_needs_less_space_is_tried(world: World) -> None:
    manifest = world.infra / "sdk" / "sources.toml"
    manifest.write_text(manifest.read_text().replace("download_mb = 1\n", "download_mb = 900\n", 1))
    usage = shutil.disk_usage(world.tmp)._replace(free=400_000_000)
    world.monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    code, _, err = world.run("install")
    assert code == 0, err
    assert f"{SNAPSHOT} cannot be used (the disk of" in err
    usage = usage._replace(free=100_000_000)
    assert "(fix: free some space" in world.run("install", "--force")[2].splitlines()[-1]


@pytest.mark.slow
def test_disk_that_runs_full(world: World, tmpfs: Path) -> None:
    world.manifest(llvm_debs(padding=3 << 20))
    usage = shutil.disk_usage(world.tmp)
    world.monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    world.monkeypatch.setenv("XDG_CACHE_HOME", str(tmpfs))
    code, _, err = world.run("install", "--source", SNAPSHOT)
    assert code == 1
    assert "is full: No space left on device" in err.splitlines()[-1]
    assert "XDG_CACHE_HOME=/a/larger/disk" in err
    assert [path.suffix for path in (tmpfs / "triton-ext" / "sdk").iterdir()] == [".lock"]


def test_cache_below_a_file(world: World) -> None:
    (world.tmp / "file").write_text("")
    world.monkeypatch.setenv("XDG_CACHE_HOME", str(world.tmp / "file"))
    message = world.fails("install", "--source", SNAPSHOT)
    assert "cannot be written: Not a directory" in message
    assert "XDG_CACHE_HOME=/a/writable/directory triton-ext sdk install" in message


def test_read_only_cache(world: World, tmpfs: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(tmpfs)], check=True)
    world.monkeypatch.setenv("XDG_CACHE_HOME", str(tmpfs))
    for command in (["install"], ["install", "--source", SNAPSHOT]):
        message = world.fails(*command)
        assert "cannot be written: Read-only file system" in message
    assert list(tmpfs.iterdir()) == []


def test_named_install_that_is_not_there(world: World) -> None:
    assert "does not exist" in world.fails("install", "--from", str(world.tmp / "nowhere"))
    world.monkeypatch.setenv("TRITON_EXT_LLVM_DIR", str(world.tmp / "nowhere"))
    message = world.fails("install")
    assert "does not exist" in message
    assert "unset TRITON_EXT_LLVM_DIR" in message
    assert world.server.log == []


@pytest.mark.parametrize(
    "missing", ["include/mlir/IR/BuiltinOps.h", "bin/mlir-tblgen", "include/llvm/Config/llvm-config.h"]
)
@pytest.mark.parametrize("kind", ["directory", "archive"])
def test_install_without_mlir(world: World, missing: str, kind: str) -> None:
    files = {name: text for name, text in llvm_files().items() if name != missing}
    named = world.tmp / "llvm"
    if kind == "directory":
        write_tree(named, files)
    else:
        named.write_bytes(tar_bytes(files, "xz", "llvm/"))
    message = world.fails("install", "--from", str(named))
    assert f"{named} is not an LLVM install with MLIR: it has no {missing}" in message


def test_file_that_is_no_archive(world: World) -> None:
    (world.tmp / "llvm.tar.xz").write_text("hello")
    assert "is not a readable archive" in world.fails("install", "--from", str(world.tmp / "llvm.tar.xz"))
    (world.tmp / "llvm.deb").write_text("hello")
    assert "is not a Debian package" in world.fails("install", "--from", str(world.tmp / "llvm.deb"))


@pytest.mark.parametrize("version", ["23.1.4", "19.1.7", "240.0.0"])
def test_headers_of_another_llvm(world: World, version: str) -> None:
    named = write_tree(world.tmp / "llvm", llvm_files(version))
    message = world.fails("install", "--from", str(named))
    assert f"are of LLVM {version}, Triton {host.triton_version()} needs LLVM 24" in message
    assert world.server.log == []


@pytest.mark.parametrize("name", ["include/llvm/../../../evil.h", "/include/llvm/evil.h", "../include/llvm/evil.h"])
def test_member_that_leads_out(world: World, name: str) -> None:
    (world.tmp / "llvm.tar.xz").write_bytes(tar_bytes(llvm_files() | {name: "evil"}, "xz"))
    assert "leads out of it" in world.fails("install", "--from", str(world.tmp / "llvm.tar.xz"))
    assert not list(world.tmp.rglob("evil.h"))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_link_that_leads_out(world: World, kind: bytes) -> None:
    buffer = io.BytesIO(tar_bytes(llvm_files(), "xz"))
    plain = io.BytesIO()
    with tarfile.open(fileobj=buffer) as source, tarfile.open(fileobj=plain, mode="w:xz") as tar:
        for info in source:
            tar.addfile(info, source.extractfile(info))
        link = tarfile.TarInfo("include/llvm/passwd.h")
        link.type, link.linkname = kind, "../../../../etc/passwd"
        tar.addfile(link)
    (world.tmp / "llvm.tar.xz").write_bytes(plain.getvalue())
    assert "leads out of it" in world.fails("install", "--from", str(world.tmp / "llvm.tar.xz"))
