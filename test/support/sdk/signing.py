# SPDX-License-Identifier: Apache-2.0
"""Keys and signatures like those of the Debian archive, made with gpg in a separate directory."""

from __future__ import annotations

import hashlib
import lzma
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from support.sdk.world import World
from triton_ext.sdk import debian_release

INDEX = "main/binary-amd64/Packages.xz"


@dataclass
class Signer:
    """A home of gpg with five keys.

    ``archive`` and ``archive2`` sign the archive. ``security`` is in its keyring, too, and so is ``expired``, which was
    valid on one day of 2020. ``stranger`` is not in the keyring.
    """

    home: Path
    keys: dict[str, str] = field(default_factory=dict)

    def gpg(self, *arguments: str, text: bytes = b"") -> bytes:
        command = ["gpg", "--batch", "--quiet", "--passphrase=", "--pinentry-mode", "loopback", *arguments]
        env = os.environ | {"GNUPGHOME": str(self.home)}
        return subprocess.run(command, input=text, env=env, capture_output=True, check=True).stdout

    def make(self, name: str, *, at: str = "", expires: str = "0") -> None:
        then = ["--faked-system-time", at] if at else []
        self.gpg(*then, "--quick-generate-key", f"{name} <{name}@example.org>", "ed25519", "sign", expires)
        listed = self.gpg("--list-keys", "--with-colons", f"{name}@example.org").decode()
        self.keys[name] = re.findall(r"^fpr:+([0-9A-F]{40}):", listed, re.MULTILINE)[0]

    def sign(self, text: str, *names: str, at: str = "") -> bytes:
        """Returns `text` as an ``InRelease`` file that the keys `names` sign."""
        users = [argument for name in names for argument in ("--local-user", self.keys[name])]
        then = ["--faked-system-time", at] if at else []
        return self.gpg(*then, *users, "--clearsign", "--output", "-", text=text.encode())

    def keyring(self, path: Path, *names: str) -> Path:
        path.write_bytes(self.gpg("--export", *(self.keys[name] for name in names)))
        return path


def make_signer() -> Iterator[Signer]:
    """Makes a signer with its keys, in a directory with a short path, because the path of the agent's socket is
    limited."""
    home = Path(tempfile.mkdtemp(prefix="gpg-", dir="/tmp"))
    signer = Signer(home)
    try:
        for name in ("archive", "archive2", "security", "stranger"):
            signer.make(name, at="20190101T000000")
        signer.make("expired", at="20200101T000000", expires="1d")
        yield signer
    finally:
        env = os.environ | {"GNUPGHOME": str(home)}
        subprocess.run(["gpgconf", "--kill", "all"], env=env, capture_output=True, check=False)
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def signer() -> Iterator[Signer]:
    if not shutil.which("gpg") or not shutil.which("gpgv"):
        pytest.skip("making signatures needs gpg and gpgv")
    yield from make_signer()


def trust_archive(world: World, signer: Signer) -> None:
    """Makes ``archive`` and ``archive2`` the keys of the archive, in a keyring that also has other keys."""
    ring = signer.keyring(world.tmp / "keyring.gpg", "archive", "archive2", "security", "expired")
    world.monkeypatch.setattr(debian_release, "_KEYRINGS", (ring,))
    manifest = world.infra / "sdk" / "sources.toml"
    keys = f'signing_keys = ["{signer.keys["archive"]}", "{signer.keys["archive2"]}"]'
    manifest.write_text(re.sub(r"^signing_keys = .*$", keys, manifest.read_text(), flags=re.MULTILINE))


def release_text(
    index: bytes, *, suite: str = "unstable", codename: str = "sid", age: float = 0.0, valid: float | None = 7.0
) -> str:
    """Returns a ``Release`` file that was made `age` days ago and is valid for `valid` days since then."""

    def date(days: float) -> str:
        return f"{datetime.now(UTC) + timedelta(days=days):%a, %d %b %Y %H:%M:%S} UTC"

    until = f"Valid-Until: {date(valid - age)}\n" if valid is not None else ""
    return (
        f"Origin: Debian\nSuite: {suite}\nCodename: {codename}\nDate: {date(-age)}\n{until}"
        f"SHA256:\n {hashlib.sha256(index).hexdigest()} {len(index)} {INDEX}\n"
    )


def serve_packages(world: World, packages: dict[str, tuple[str, bytes]]) -> bytes:
    """Serves `packages`, name to version and content, and sid's index of them; returns the index."""
    text = ""
    for name, (version, data) in packages.items():
        sha256 = world.server.add(f"pool/{name}_{version}.deb", data)
        text += f"Package: {name}\nVersion: 1:{version}\nFilename: pool/{name}_{version}.deb\n"
        text += f"Size: {len(data)}\nSHA256: {sha256}\nDescription: of {name}\n Package: {name}\n\n"
    index = lzma.compress(text.encode())
    world.server.add(f"dists/sid/{INDEX}", index)
    return index


def serve_release(world: World, data: bytes) -> None:
    world.server.add("dists/sid/InRelease", data)


def forge(signer: Signer, good: str, evil: str) -> dict[str, bytes]:
    """Returns by name release files whose signed text is not `evil`, or was not signed by the archive."""
    signed = signer.sign(good, "archive")
    head, blank, rest = signed.partition(b"\n\n")
    text, begin, signature = rest.partition(b"-----BEGIN PGP SIGNATURE-----")
    assert text.decode() == good
    status = b"[GNUPG:] GOODSIG %s x\n[GNUPG:] VALIDSIG %s" % (
        signer.keys["archive"][-16:].encode(),
        f"{signer.keys['archive']} 2026-01-01 1 0 4 0 22 8 01 {signer.keys['archive']}".encode(),
    )
    other = signer.sign(evil, "stranger")
    return {
        # gpgv writes a bad header to its log. The key is unknown, so it says ERRSIG, not BADSIG.
        "echoed in the log": other.replace(b"\n\n", b"\n[GNUPG:] VALIDSIG x\n\n", 1),
        "all of a status in the log": other.replace(b"\n\n", b"\n" + status + b"\n\n", 1),
        "a status in the header": head + b"\n" + status + blank + evil.encode() + begin + signature,
        "a status in the text": head + blank + status + b"\n" + evil.encode() + begin + signature,
        "other text": head + blank + evil.encode() + begin + signature,
        "no signature": evil.encode(),
        "a stranger's": other,
        "of an expired key": signer.sign(evil, "expired", at="20200101T010000"),
        "of another archive": signer.sign(evil, "security"),
        "half a stranger's": signer.sign(evil, "archive", "stranger"),
        "half of an expired key": signer.sign(evil, "archive", "expired", at="20200101T010000"),
        "two parts, evil first": other + signed,
        "two parts, evil last": signed + other,
        "damaged": signed.replace(b"Origin: Debian", b"Origin: Debiam"),
        "cut": signed[: len(signed) - 60],
        "empty": b"",
    }
