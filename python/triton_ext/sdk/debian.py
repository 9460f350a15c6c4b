# SPDX-License-Identifier: Apache-2.0
"""Debian packages as files: which mirror, the pinned path, and the successor of a pin that has moved on.

Nothing is installed on the system and no package database is read or written; apt is only asked which
mirror it uses.
"""

from __future__ import annotations

import lzma
import os
import platform
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from ..errors import BuildError
from .download import MissingFileError, Say, fetch
from .sources import Package, SourceUnavailableError

MIRROR_ENV = "TRITON_EXT_DEBIAN_MIRROR"
_INDEX = "main/binary-amd64/Packages.xz"
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def mirror() -> str:
    """Base URL of a mirror of the Debian archive: what `MIRROR_ENV` names, or else the one that apt uses.

    Raises:
        SourceUnavailableError: neither names one.
    """
    if named := os.environ.get(MIRROR_ENV):
        return named.rstrip("/")
    for base in (*_listed_mirrors(), *_configured_mirrors()):
        if base.startswith("http") and not base.endswith("-security"):
            return base
    raise SourceUnavailableError(
        "apt names no mirror of the Debian archive on this system", fix=f"set {MIRROR_ENV} to the address of one"
    )


def _listed_mirrors() -> list[str]:
    """Mirrors whose index apt has downloaded and which say that they are Debian's."""
    lines = _apt_get("indextargets", "--format", "$(ORIGIN) $(REPO_URI)").splitlines()
    return [line.partition(" ")[2].rstrip("/") for line in lines if line.startswith("Debian ")]


def _configured_mirrors() -> list[str]:
    """What apt would update from, on a Debian system where it has not done so yet; the likeliest first.

    Others name their suites like Debian's releases, but only Debian has one for updates.
    """
    try:
        system = platform.freedesktop_os_release()
    except OSError:
        return []
    if system["ID"] != "debian":
        return []
    pairs = re.findall(r"^'(\S+?)/dists/(\S+)/InRelease'", _apt_get("update", "--print-uris"), re.MULTILINE)
    updates = f"{system.get('VERSION_CODENAME')}-updates"
    return sorted(
        (base for base, suite in pairs if suite == updates or base.endswith("/debian")),
        key=lambda base: (base, updates) not in pairs,
    )


def _apt_get(*arguments: str) -> str:
    """What apt-get prints, nothing if there is none."""
    try:
        return subprocess.run(["apt-get", *arguments], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def fetch_package(package: Package, base: str, into: Path, say: Say) -> tuple[Path, Package]:
    """Downloads `package` from the mirror `base`, or its successor if the pinned file is gone.

    The successor is what the index of the package's suite lists.

    Returns:
        The file, and the package that it is.
    """
    try:
        return fetch(f"{base}/{quote(package.path)}", into, sha256=package.sha256, say=say), package
    except MissingFileError:
        if package.suite is None:
            raise
    say(f"{package.path.rpartition('/')[2]} is gone from the mirror, looking {package.name} up in {package.suite}")
    found = _look_up(package, package.suite, base, into, say)
    return fetch(f"{base}/{quote(found.path)}", into, sha256=found.sha256, say=say), found


def _look_up(package: Package, suite: str, base: str, into: Path, say: Say) -> Package:
    """Finds `package` in the index of `suite`, which is itself checked against the suite's signed release file."""
    release_file = fetch(f"{base}/dists/{suite}/InRelease", into, sha256=None, say=say)
    try:
        release = _signed_text(release_file, say)
    finally:
        # Not kept: it names no version, so a later run could not tell that it is stale.
        release_file.unlink()
    digest = re.search(rf"^ ([0-9a-f]{{64}}) +\d+ {re.escape(_INDEX)}$", release, re.MULTILINE)
    if digest is None:
        raise SourceUnavailableError(f"the release file of {suite} at {base} lists no {_INDEX}")
    index = fetch(f"{base}/dists/{suite}/{_INDEX}", into, sha256=digest[1], say=say)
    for stanza in lzma.decompress(index.read_bytes()).decode().split("\n\n"):
        if not stanza.startswith(f"Package: {package.name}\n"):
            continue
        fields = dict(re.findall(r"^(Version|Filename|SHA256): (.+)$", stanza, re.MULTILINE))
        if fields["Version"].rpartition(":")[2].startswith(package.version_prefix):
            return replace(package, path=fields["Filename"], sha256=fields["SHA256"])
    wanted = f"{package.name} {package.version_prefix}".strip()
    raise SourceUnavailableError(f"{suite} at {base} has no {wanted} any more")


def _signed_text(release: Path, say: Say) -> str:
    """The text of an ``InRelease`` file: only what is signed, if there is something to check signatures with.

    Raises:
        BuildError: it was checked and no good signature was found.
    """
    gpgv = shutil.which("gpgv")
    if gpgv is None or not _KEYRING.exists():
        say("the signature of the package index was not verified: gpgv or the Debian keyring is not installed")
        return release.read_text()
    # Several keys sign; one that is known suffices, so gpgv's exit status (all of them) is not the judge.
    command = [gpgv, "--keyring", str(_KEYRING), "--status-fd", "2", "--output", "-", str(release)]
    result = subprocess.run(command, capture_output=True, check=False)
    status = result.stderr.decode(errors="replace")
    if "[GNUPG:] VALIDSIG" not in status or "[GNUPG:] BADSIG" in status:
        raise BuildError(
            "the package index of the Debian mirror carries no valid signature",
            fix="apt-get install debian-archive-keyring, or name another mirror in " + MIRROR_ENV,
        )
    return result.stdout.decode()
