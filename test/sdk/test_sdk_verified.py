# SPDX-License-Identifier: Apache-2.0
"""Nothing unverified is installed: signatures, suites and dates of package indexes, archives without a known hash."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from support.sdk.signing import Signer, forge, release_text, serve_packages, serve_release, trust_archive
from support.sdk.tool import add_tool
from support.sdk.world import World, deb_bytes, llvm_debs, llvm_files, tar_bytes, write_tree
from triton_ext.errors import BuildError
from triton_ext.loading.host import find_triton
from triton_ext.sdk import debian, debian_release, tools
from triton_ext.sdk.source_file import load_source_list
from triton_ext.sdk.sources import SourceUnavailableError
from triton_ext.sdk.trust import Trust

SNAPSHOT = "debian-24-snapshot"
ARCHIVE = "llvm-b010a18d-almalinux-x64-1.tar.gz"
EVIL = "#!/bin/sh\ntouch $(dirname $0)/evil-has-run\n"


@pytest.fixture
def moved(world: World, signer: Signer) -> bytes:
    """Removes a pinned package and gives sid a successor of it; returns sid's index, which has no release file yet."""
    debs = llvm_debs()
    world.manifest(debs, suite="sid", gone="llvm-dev")
    trust_archive(world, signer)
    return serve_packages(world, {"llvm-dev": ("24.0.1-1", debs["llvm-dev"]), "llvm-dev-doc": ("24.0.1-1", b"")})


@pytest.mark.slow
def test_successor_from_a_signed_index(world: World, signer: Signer, moved: bytes) -> None:
    serve_release(world, signer.sign(release_text(moved), "archive", "archive2"))
    code, _, err = world.run("install", "--source", SNAPSHOT)
    assert code == 0, err
    assert "llvm-dev_1.deb is gone from the mirror, looking llvm-dev up in sid" in err
    assert "not verified" not in err
    info = json.loads(world.run("info", "--json")[1])
    assert "llvm-dev_24.0.1-1.deb" in info["packages"]
    assert info["unverified"] == []


@pytest.mark.parametrize(
    "name",
    [
        "echoed in the log",
        "all of a status in the log",
        "a status in the header",
        "a status in the text",
        "other text",
        "no signature",
        "a stranger's",
        "of an expired key",
        "of another archive",
        "half a stranger's",
        "half of an expired key",
        "two parts, evil first",
        "two parts, evil last",
        "damaged",
        "cut",
        "empty",
    ],
)
def test_forged_index_is_refused(world: World, signer: Signer, moved: bytes, name: str) -> None:
    """--unverified does not help: it allows what nothing can verify, not what a check has found wrong."""
    evil = serve_packages(world, {"llvm-dev": ("24.0.9-1", deb_bytes({"usr/lib/llvm-24/bin/mlir-tblgen": EVIL}))})
    serve_release(world, forge(signer, release_text(moved), release_text(evil))[name])
    for flag in ([], ["--unverified"]):
        message = world.fails("install", "--source", SNAPSHOT, *flag)
        assert "the package index of sid carries no valid signature of the Debian archive: " in message
    assert not world.server.asked("llvm-dev_24.0.9-1.deb")
    assert not list(world.tmp.rglob("evil-has-run"))


def test_text_around_the_signed_part_is_not_read(world: World, signer: Signer, moved: bytes) -> None:
    evil = serve_packages(world, {"llvm-dev": ("24.0.9-1", b"evil")})
    text = release_text(evil).encode()
    world.server.add("dists/sid/main/binary-amd64/Packages.xz", moved)
    serve_release(world, text + b"\n" + signer.sign(release_text(moved), "archive") + text)
    code, _, err = world.run("install", "--source", SNAPSHOT)
    assert code == 0, err
    assert "llvm-dev_24.0.1-1.deb" in json.loads(world.run("info", "--json")[1])["packages"]


def test_status_of_gpgv_is_whole_lines_of_its_own_file() -> None:
    """Each required line is missing once."""
    key, sub = "A" * 40, "B" * 40
    good = [
        "[GNUPG:] NEWSIG",
        f"[GNUPG:] GOODSIG {sub[-16:]} Debian",
        f"[GNUPG:] VALIDSIG {sub} 2026-01-01 1 0 4 0 1 8 01 {key}",
    ]
    assert debian_release._signature_problem(0, good, (key,)) == ""
    assert debian_release._signature_problem(0, [*good, "[GNUPG:] NEWSIG", *good], (key,)) == ""
    assert "exits with 2" in debian_release._signature_problem(2, good, (key,))
    assert "it is signed by" in debian_release._signature_problem(0, good, (sub,))
    for left_out in good[1:]:
        assert (
            debian_release._signature_problem(0, [line for line in good if line != left_out], (key,))
            == "it is not signed"
        )
    # The two lines belong to two signatures, or to two keys.
    assert debian_release._signature_problem(0, [*good[:2], *good[::2]], (key,)) == "it is not signed"
    assert debian_release._signature_problem(0, [good[1].replace("B", "C"), good[2]], (key,)) == "it is not signed"
    for word in ("BADSIG", "ERRSIG", "EXPSIG", "EXPKEYSIG", "REVKEYSIG", "NO_PUBKEY", "NODATA"):
        assert debian_release._signature_problem(0, [*good, f"[GNUPG:] {word} 1234 x"], (key,)).startswith(word)
    for prefix in ("gpgv: ", " ", "x"):
        lines = [prefix + line for line in good]
        assert debian_release._signature_problem(0, lines, (key,)) == "it is not signed"


@pytest.mark.parametrize(
    ("suite", "codename"), [("stable", "trixie"), ("unstable", "trixie"), ("oldstable", "sid"), ("", "")]
)
def test_another_suite_is_refused(world: World, signer: Signer, moved: bytes, suite: str, codename: str) -> None:
    serve_release(world, signer.sign(release_text(moved, suite=suite, codename=codename), "archive"))
    message = world.fails("install", "--source", SNAPSHOT, "--unverified")
    assert f"is of '{suite}' '{codename}', expected 'unstable' 'sid'" in message


@pytest.mark.parametrize(("age", "valid"), [(8.0, 7.0), (400.0, 7.0), (11.0, None)])
def test_old_index_is_refused(world: World, signer: Signer, moved: bytes, age: float, valid: float | None) -> None:
    serve_release(world, signer.sign(release_text(moved, age=age, valid=valid), "archive"))
    message = world.fails("install", "--source", SNAPSHOT)
    assert "the package index of sid cannot be verified: it is of 20" in message
    assert " and was valid until 20" in message
    assert "triton-ext sdk install --unverified" in message
    # The signature is good: --unverified installs it, and the SDK remembers that.
    assert world.run("install", "--source", SNAPSHOT, "--unverified")[0] == 0
    (line,) = json.loads(world.run("info", "--json")[1])["unverified"]
    assert line.startswith("the package index of sid: it is of 20")


def test_young_index_without_an_end_is_used(world: World, signer: Signer, moved: bytes) -> None:
    serve_release(world, signer.sign(release_text(moved, age=9.0, valid=None), "archive"))
    assert world.run("install", "--source", SNAPSHOT)[0] == 0


def test_index_from_the_future_is_refused(world: World, signer: Signer, moved: bytes) -> None:
    serve_release(world, signer.sign(release_text(moved, age=-3.0), "archive"))
    assert "which is in the future (fix: set this machine's clock)" in world.fails("install", "--source", SNAPSHOT)


@pytest.mark.parametrize(
    "damage",
    ["Date: Fri, 30 Oct 2026 08:08:01 UTC\nDate: soon\n", "Date: \n", "", "SHA256:\n x\n", "SHA256:\n a b c d e\n"],
)
def test_signed_nonsense_is_one_clear_error(world: World, signer: Signer, moved: bytes, damage: str) -> None:
    serve_release(world, signer.sign(f"Suite: unstable\nCodename: sid\n{damage}", "archive"))
    assert "the release file of sid at" in world.fails("install", "--source", SNAPSHOT)


def test_index_with_another_version_does_not_do(world: World, signer: Signer, moved: bytes) -> None:
    index = serve_packages(world, {"llvm-dev": ("24.1.0-1", b"")})
    serve_release(world, signer.sign(release_text(index), "archive"))
    assert "has no llvm-dev 24.0 any more" in world.fails("install", "--source", SNAPSHOT)


def test_index_that_is_not_the_signed_one_is_refused(world: World, signer: Signer, moved: bytes) -> None:
    serve_release(world, signer.sign(release_text(moved), "archive"))
    other = bytearray(moved)
    other[40] ^= 1
    world.server.add("dists/sid/main/binary-amd64/Packages.xz", bytes(other))
    assert "Packages.xz has the wrong hash" in world.fails("install", "--source", SNAPSHOT)


def without_gpgv(world: World) -> str:
    world.monkeypatch.setattr(debian_release.shutil, "which", lambda name: None)
    return "gpgv is not installed"


def without_keyring(world: World) -> str:
    world.monkeypatch.setattr(debian_release, "_KEYRINGS", (world.tmp / "none.gpg",))
    return f"there is no {world.tmp}/none.gpg"


@pytest.mark.parametrize("lack", [without_gpgv, without_keyring])
def test_where_nothing_can_verify_nothing_is_installed(world: World, lack: object) -> None:
    """This test needs no signatures, so it runs everywhere."""
    assert callable(lack)
    debs = llvm_debs()
    world.manifest(debs, suite="sid", gone="llvm-dev")
    index = serve_packages(world, {"llvm-dev": ("24.0.1-1", debs["llvm-dev"])})
    serve_release(world, release_text(index).encode())
    why = lack(world)
    message = world.fails("install", "--source", SNAPSHOT)
    assert f"the package index of sid cannot be verified: {why} (fix: apt-get install gpgv debian-archive" in message
    assert "triton-ext sdk install --unverified" in message
    assert not world.server.asked("llvm-dev_24.0.1-1.deb")
    message = world.fails("install")  # the automatic order does not go on to a source that nothing can verify
    assert "cannot be verified" in message

    code, _, err = world.run("install", "--source", SNAPSHOT, "--unverified")
    assert code == 0, err
    line = f"the package index of sid: {why}"
    assert f"not verified: {line}" in err
    assert json.loads(world.run("info", "--json")[1])["unverified"] == [line]
    assert f"unverified   {line}" in world.run("info")[1]
    from triton_ext.authoring import doctor

    (row,) = doctor.sdk_downloads()
    assert (row.state, row.found) == ("warn", f"not verified: {line}")


def test_archive_without_a_hash_is_never_tried_by_itself(world: World) -> None:
    files = llvm_files(commit=find_triton().llvm_commit)
    world.server.add(ARCHIVE, tar_bytes(files, "gz", "llvm/"))
    assert world.run("install", "--unverified")[0] == 0
    assert not world.server.asked(ARCHIVE)
    assert json.loads(world.run("info", "--json")[1])["source"] == SNAPSHOT


def test_archive_without_a_hash_needs_the_flag(world: World) -> None:
    files = llvm_files(commit=find_triton().llvm_commit)
    world.server.add(ARCHIVE, tar_bytes(files, "gz", "llvm/"))
    message = world.fails("install", "--source", "triton-llvm")
    assert f"{ARCHIVE} cannot be verified: nobody has published its hash" in message
    assert not world.server.asked(ARCHIVE)
    code, _, err = world.run("install", "--source", "triton-llvm", "--unverified")
    assert code == 0, err
    assert json.loads(world.run("info", "--json")[1])["unverified"] == [f"{ARCHIVE}: nobody has published its hash"]


def test_own_llvm_needs_no_flag(world: World) -> None:
    """An LLVM that the user names belongs to the user."""
    assert world.run("install", "--from", str(write_tree(world.tmp / "llvm", llvm_files())))[0] == 0
    assert json.loads(world.run("info", "--json")[1])["unverified"] == []


@pytest.mark.slow
def test_tool_remembers_what_was_not_verified(world: World) -> None:
    add_tool(world)
    library = "usr/lib/x86_64-linux-gnu/libedit.so.2"
    index = serve_packages(world, {"libedit2": ("24-1", deb_bytes({library: "libedit\n"}))})
    serve_release(world, release_text(index).encode())
    (world.server.root / "pool" / "libedit2_1.deb").unlink()
    why = without_keyring(world)
    code, _, err = world.run("install", "--with", "mlir-opt")
    assert code == 1
    assert "the package index of sid cannot be verified" in err
    assert tools.find_tool("mlir-opt") is None
    assert world.run("install", "--with", "mlir-opt", "--unverified")[0] == 0
    assert tools.find_tool("mlir-opt") is not None
    assert tools.find_unverified("mlir-opt") == (f"the package index of sid: {why}",)


def test_record_of_an_older_triton_ext_is_read(world: World) -> None:
    from triton_ext import sdk

    world.run("install")
    record = world.target(SNAPSHOT) / "sdk.json"
    data = json.loads(record.read_text())
    del data["unverified"]
    record.write_text(json.dumps(data))
    found = sdk.find()
    assert found is not None
    assert found.unverified is None


def test_sizes_are_not_part_of_what_something_is_made_from() -> None:
    """Otherwise, a size that is added to the manifest would make everybody build and download again."""
    from triton_ext.sdk.sources import contents

    manifest = load_source_list()
    for source in (*manifest.parts, *manifest.tools):
        assert '"size"' not in json.dumps(contents(source))
        assert '"sha256"' in json.dumps(contents(source))


@pytest.mark.slow
def test_real_release_file_of_sid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real index has good signatures of the pinned keys, and lists the successor of a pinned package."""
    if debian_release.shutil.which("gpgv") is None or not any(path.is_file() for path in debian_release._KEYRINGS):
        pytest.skip("gpgv or the Debian keyring is not installed")
    news: list[str] = []
    try:
        base = debian.connect(news.append)
    except SourceUnavailableError as error:
        pytest.skip(error.message)
    times: list[object] = []
    real = debian_release._time

    def time_of(text: str) -> object:
        times.append(real(text))
        return times[-1]

    # The mirror here may be too old, so the test's date is that of its release file.
    monkeypatch.setattr(debian_release, "_time", time_of)
    monkeypatch.setattr(debian_release, "_now", lambda: times[0] + timedelta(hours=1))  # type: ignore[operator]
    package = load_source_list().source("debian-23").packages[0]
    trust = Trust(False, news.append)
    found = debian._look_up(package, "sid", base, tmp_path, trust)
    assert found.path.startswith("pool/main/")
    assert "_23.1" in found.path
    assert len(found.sha256) == 64
    assert found.size > 1_000_000
    assert trust.unverified == []
    monkeypatch.setattr(debian_release, "_now", lambda: times[0] + timedelta(days=30))  # type: ignore[operator]
    with pytest.raises(BuildError, match="was valid until"):
        debian._look_up(package, "sid", base, tmp_path, trust)
