# SPDX-License-Identifier: Apache-2.0
"""Downloads Debian packages as files: finds a mirror, the pinned file, or its successor if the file is gone.

Nothing is installed on the system, and no package database is read or written; apt is only asked for its mirror. The
mirror is not trusted: a pinned hash verifies a package, or a hash in an index that the archive's signature verifies.
"""

from __future__ import annotations

import io
import os
import platform
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from ..errors import BuildError
from ..support.shown import printable
from .debian_release import MIRROR_ENV, OTHER_MIRROR, index_of, signed_text
from .decompress import decompressed
from .download import MissingFileError, Say, answers, fetch
from .source_file import load_source_list
from .sources import Package, SourceUnavailableError
from .trust import Trust, checked_address, without_credentials

_INDEX = "main/binary-amd64/Packages.xz"
_MOST_RELEASE, _MOST_INDEX = 16_000_000, 1_000_000_000  # bytes; sid has 0.2 MB and 60 MB


def mirror() -> str:
    """Returns the base URL of a mirror of the Debian archive: the value of `MIRROR_ENV`, or else apt's mirror.

    Raises:
        SourceUnavailableError: neither names a mirror.
    """
    if named := os.environ.get(MIRROR_ENV):
        return checked_address(named, MIRROR_ENV)
    for base in (*_listed_mirrors(), *_configured_mirrors()):
        if base.startswith("http") and not base.endswith("-security"):
            return base
    raise SourceUnavailableError(
        "apt names no mirror of the Debian archive on this system", fix=f"set {MIRROR_ENV} to the address of one"
    )


def connect(say: Say) -> str:
    """Returns the base URL of the mirror, with https if its server has it, although apt's configuration says http.

    Args:
        say: is called with one line of news.

    Raises:
        SourceUnavailableError: there is no mirror.
    """
    base = mirror()
    try:
        parts = urlsplit(base)
    except ValueError:
        return base  # malformed, which the first download reports
    # A port in the address is one for http.
    if parts.scheme != "http" or parts.netloc.rpartition("@")[2].partition(":")[1]:
        return base
    secure = parts._replace(scheme="https").geturl()
    if answers(f"{secure}/dists/{load_source_list().debian.suites[0].name}/InRelease"):
        return secure
    say(f"{without_credentials(base)} has no https: going on with http; hashes and signatures are checked all the same")
    return base


def _listed_mirrors() -> list[str]:
    """Returns the mirrors whose index apt has downloaded, if the index says that it is Debian's."""
    lines = _apt_get("indextargets", "--format", "$(ORIGIN) $(REPO_URI)").splitlines()
    return [line.partition(" ")[2].rstrip("/") for line in lines if line.startswith("Debian ")]


def _configured_mirrors() -> list[str]:
    """Returns the mirrors that apt would update from, if it has not updated yet; the likeliest first.

    Other archives use the names of Debian's releases, too, but only Debian has a suite for updates.
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
    """Returns what apt-get prints; empty if it is not installed or fails."""
    try:
        return subprocess.run(["apt-get", *arguments], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def fetch_package(package: Package, base: str, into: Path, trust: Trust) -> tuple[Path, Package]:
    """Downloads a package, or its successor in the index of its suite if the pinned file is gone.

    Args:
        package: the package.
        base: the base URL of the mirror.
        into: the directory for the file.
        trust: decides about an index that cannot be verified.

    Returns:
        The file, and the package that it contains.

    Raises:
        SourceUnavailableError: the mirror has neither the file nor a successor.
        BuildError: the file has another hash, or the index cannot be verified.
    """
    try:
        return _fetch_file(package, base, into, trust.say), package
    except MissingFileError:
        if package.suite is None:
            raise
    name = package.path.rpartition("/")[2]
    trust.say(f"{name} is gone from the mirror, looking {package.name} up in {package.suite}")
    found = _look_up(package, package.suite, base, into, trust)
    return _fetch_file(found, base, into, trust.say), found


def _fetch_file(package: Package, base: str, into: Path, say: Say) -> Path:
    url = f"{base}/{quote(package.path)}"
    return fetch(url, into, sha256=package.sha256, size=package.size, say=say)


def _look_up(package: Package, name: str, base: str, into: Path, trust: Trust) -> Package:
    """Finds `package` in the index of the suite `name`, whose hash is in the suite's signed release file."""
    archive = load_source_list().debian
    suite, shown = archive.suite(name), without_credentials(base)
    # The file is not kept, because its name has no version, so a later run could not see that it is old.
    with tempfile.TemporaryDirectory(dir=into) as scratch:
        url = f"{base}/dists/{name}/InRelease"
        release_file = fetch(url, Path(scratch), sha256=None, most=_MOST_RELEASE, say=trust.say)
        text = signed_text(release_file, archive, suite, trust)
    sha256, size = index_of(text, _INDEX, suite, shown, trust)
    url = f"{base}/dists/{name}/{_INDEX}"
    index = fetch(url, into, sha256=sha256, size=size, say=trust.say)
    for fields in _stanzas(index, package.name):
        try:
            if fields["Version"].rpartition(":")[2].startswith(package.version_prefix):
                return replace(package, path=fields["Filename"], sha256=fields["SHA256"], size=int(fields["Size"]))
        except (KeyError, ValueError) as error:
            raise BuildError(
                f"the index of {name} at {shown} is damaged: {printable(str(error))}", fix=OTHER_MIRROR
            ) from None
    wanted = f"{package.name} {package.version_prefix}".strip()
    raise SourceUnavailableError(f"{name} at {shown} has no {wanted} any more")


def _stanzas(index: Path, name: str) -> Iterator[Any]:
    """Yields the entries of the package `name` in `index`; the other sixty thousand packages are not parsed."""
    from debian.deb822 import Packages

    with decompressed(index, most=_MOST_INDEX) as stream:
        lines: list[str] | None = None
        for line in io.TextIOWrapper(io.BufferedReader(stream, 1 << 20), "utf-8", "replace"):
            if line == f"Package: {name}\n":
                lines = []
            if lines is not None and line == "\n":
                yield Packages(lines)
                lines = None
            elif lines is not None:
                lines.append(line)
        if lines:
            yield Packages(lines)
