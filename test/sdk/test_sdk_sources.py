# SPDX-License-Identifier: Apache-2.0
"""Sources and downloads: Triton's own archive, mirrors, indexes, servers that misbehave."""

from __future__ import annotations

import json
import os
import platform
import time

import pytest

from support.sdk.world import ROOT, World, closed_port, llvm_debs, llvm_files, tar_bytes
from triton_ext.errors import BuildError
from triton_ext.loading.host import find_triton
from triton_ext.sdk import debian
from triton_ext.sdk.source_file import load_source_list
from triton_ext.sdk.sources import SourceUnavailableError

SNAPSHOT = "debian-24-snapshot"
NAMED = ("--source", "triton-llvm", "--unverified")
ARCHIVE = "llvm-b010a18d-almalinux-x64-1.tar.gz"


def test_manifest_of_the_repository() -> None:
    manifest = load_source_list()
    assert [source.id for source in manifest.sources] == ["user", "triton-llvm", SNAPSHOT, "debian-23"]
    packages = [package for source in manifest.sources for package in source.packages] + [*manifest.runtime.packages]
    assert len(packages) == 12
    assert all(len(package.sha256) == 64 and package.path.startswith("pool/main/") for package in manifest.packages)
    assert all(package.size > 10_000 for package in manifest.packages)
    assert {package.suite for package in manifest.packages} == {None, *(suite.name for suite in manifest.debian.suites)}
    assert all(len(key) == 40 for key in manifest.debian.signing_keys)
    assert [source.id for source in manifest.sources if source.automatic] == [SNAPSHOT, "debian-23"]
    assert manifest.source("debian-23").packages[0].version_prefix == "23.1"
    assert manifest.source(SNAPSHOT).packages[0].suite is None
    # The machine gives the addresses of package archives; only the address of Triton's own archive is in the file.
    assert (ROOT / "infra" / "sdk" / "sources.toml").read_text().count("://") == 1


def test_archive_of_triton(world: World) -> None:
    files = llvm_files(commit=find_triton().llvm_commit)
    sha256 = world.server.add(ARCHIVE, tar_bytes(files, "gz", ARCHIVE.removesuffix(".tar.gz") + "/"))
    code, _, err = world.run("install", *NAMED)
    assert code == 0, err
    info = json.loads(world.run("info", "--json")[1])
    assert info["source"] == "triton-llvm"
    assert info["packages"] == {ARCHIVE: sha256}
    assert info["headers"] == f"LLVM 24.0.0 ({find_triton().llvm_commit})"
    assert not (world.cache / "downloads" / world.target("triton-llvm").name).exists()


def test_archive_of_triton_is_resumed(world: World) -> None:
    noise = os.urandom(1 << 18).hex()
    world.server.add(ARCHIVE, tar_bytes({"share/noise": noise} | llvm_files(), "gz"))
    world.server.drop_after = 1 << 17
    code, _, err = world.run("install", *NAMED)
    assert code == 0, err
    assert len(world.server.asked(ARCHIVE)) == 2
    assert world.server.asked(ARCHIVE)[1] == f"bytes={1 << 17}-"


def test_archive_of_another_commit_is_refused(world: World) -> None:
    world.server.add(ARCHIVE, tar_bytes(llvm_files(commit="2" * 40), "gz"))
    assert f"triton-llvm holds LLVM {'2' * 40}" in world.fails("install", *NAMED)
    assert not (world.cache / "downloads" / world.target("triton-llvm").name).exists()


def test_truncated_archive_is_refused_and_not_kept(world: World) -> None:
    world.server.add(ARCHIVE, tar_bytes(llvm_files(), "gz")[:300])
    assert "is not a readable archive" in world.fails("install", *NAMED)
    assert not (world.cache / "downloads" / world.target("triton-llvm").name).exists()


def test_refused_connection_costs_little(world: World) -> None:
    world.monkeypatch.setenv("TRITON_EXT_LLVM_MIRROR", closed_port())
    start = time.monotonic()
    assert "Connection refused" in world.fails("install", *NAMED)
    assert time.monotonic() - start < 30  # measured: 0.6 s; the bound is for a machine that is busy


@pytest.mark.parametrize("address", ["nowhere", "ftp://127.0.0.1/", "http://"])
def test_address_that_is_none(world: World, address: str) -> None:
    world.monkeypatch.setenv("TRITON_EXT_LLVM_MIRROR", address)
    assert "TRITON_EXT_LLVM_MIRROR is not an address of a server" in world.fails("install", *NAMED)


@pytest.mark.parametrize("address", ["http://[::1", "http://h:port"])
def test_address_that_nobody_can_reach(world: World, address: str) -> None:
    world.monkeypatch.setenv("TRITON_EXT_LLVM_MIRROR", address)
    assert f"triton-llvm cannot be used: cannot download {address}" in world.fails("install", *NAMED)


def test_server_without_ranges_starts_over(world: World) -> None:
    world.manifest(llvm_debs(padding=1 << 18))
    world.server.ranges = False
    world.server.drop_after = 1 << 17
    assert world.run("install", "--source", SNAPSHOT)[0] == 0
    assert world.server.asked("llvm-dev_1.deb") == [None, f"bytes={1 << 17}-"]


@pytest.mark.parametrize("extra", [b"", b"more than there is"])
def test_part_that_is_complete_or_too_long(world: World, extra: bytes) -> None:
    downloads = world.cache / "downloads" / world.target(SNAPSHOT).name
    downloads.mkdir(parents=True)
    (downloads / "llvm-dev_1.deb.part").write_bytes((world.server.root / "pool/llvm-dev_1.deb").read_bytes() + extra)
    assert world.run("install", "--source", SNAPSHOT)[0] == 0
    assert world.server.asked("llvm-dev_1.deb") == ([None] if extra else [])


def fake_apt(monkeypatch: pytest.MonkeyPatch, system: str, listed: str, configured: str) -> None:
    monkeypatch.delenv("TRITON_EXT_DEBIAN_MIRROR", raising=False)
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"ID": system, "VERSION_CODENAME": "bookworm"})
    monkeypatch.setattr(debian, "_apt_get", lambda command, *args: listed if command == "indextargets" else configured)


@pytest.mark.parametrize(
    ("system", "listed", "configured", "expected"),
    [
        ("debian", "Debian http://m/debian-security/\nDebian http://m/debian/\n", "", "http://m/debian"),
        ("debian", "Other http://o/debian/\n", "'http://m/debian/dists/bookworm/InRelease' f 0 \n", "http://m/debian"),
        (
            "debian",
            "",
            "'http://o/linux/debian/dists/bookworm/InRelease' f 0 \n"
            "'http://m/mirror/dists/bookworm/InRelease' f 0 \n"
            "'http://m/mirror/dists/bookworm-updates/InRelease' f 0 \n"
            "'http://m/debian-security/dists/bookworm-security/InRelease' f 0 \n",
            "http://m/mirror",
        ),
        ("ubuntu", "Ubuntu http://m/ubuntu/\n", "'http://m/debian/dists/bookworm/InRelease' f 0 \n", None),
        ("debian", "Debian cdrom:[x]/\n", "", None),
    ],
)
def test_mirror_is_the_one_that_apt_uses(
    monkeypatch: pytest.MonkeyPatch, system: str, listed: str, configured: str, expected: str | None
) -> None:
    fake_apt(monkeypatch, system, listed, configured)
    if expected is not None:
        assert debian.mirror() == expected
        return
    with pytest.raises(SourceUnavailableError, match="TRITON_EXT_DEBIAN_MIRROR"):
        debian.mirror()


def test_system_without_apt(world: World) -> None:
    world.monkeypatch.delenv("TRITON_EXT_DEBIAN_MIRROR")
    world.monkeypatch.setenv("PATH", "/nonexistent")
    assert "TRITON_EXT_DEBIAN_MIRROR" in world.fails("install", "--source", SNAPSHOT)
    assert "TRITON_EXT_DEBIAN_MIRROR" in world.fails("install")


def test_unknown_source_lists_the_known(world: World) -> None:
    message = world.fails("install", "--source", "debian-99")
    assert "user, triton-llvm, debian-24-snapshot, debian-23" in message


def test_source_of_another_libtriton_or_machine(world: World) -> None:
    text = (world.infra / "sdk" / "sources.toml").read_text()
    (world.infra / "sdk" / "sources.toml").write_text(text.replace(find_triton().llvm_commit, "3" * 40))
    assert "was not checked against LLVM b010a18d" in world.fails("install", "--source", SNAPSHOT)
    (world.infra / "sdk" / "sources.toml").write_text(text.replace('arch = "x86_64"', 'arch = "s390x"'))
    assert "it is for s390x" in world.fails("install")


def test_from_and_source_contradict() -> None:
    from triton_ext.sdk import install

    with pytest.raises(BuildError, match="two sources"):
        install("/tmp", source="debian-23")
