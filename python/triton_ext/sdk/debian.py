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
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from ..errors import BuildError
from ..support.shown import printable
from .decompress import decompressed
from .download import MissingFileError, Say, answers, fetch
from .sources import Archive, Package, SourceUnavailableError, Suite, load_source_list
from .trust import Trust, checked_address, without_credentials

MIRROR_ENV = "TRITON_EXT_DEBIAN_MIRROR"
_INDEX = "main/binary-amd64/Packages.xz"
_KEYRINGS = tuple(Path(f"/usr/share/keyrings/debian-archive-keyring.{kind}") for kind in ("gpg", "pgp"))
_GET_GPGV = "apt-get install gpgv debian-archive-keyring"
_OTHER_MIRROR = f"name another mirror in {MIRROR_ENV}"
_MOST_RELEASE, _MOST_INDEX = 16_000_000, 1_000_000_000  # bytes; sid has 0.2 MB and 60 MB
_CLOCKS = timedelta(days=1)  # the difference that is allowed between the clocks of two machines
_STATUS = "[GNUPG:] "
_NOT_GOOD = frozenset({"BADSIG", "ERRSIG", "EXPSIG", "EXPKEYSIG", "REVKEYSIG", "NO_PUBKEY", "NODATA", "FAILURE"})


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
        text = _signed_text(release_file, archive, suite, trust)
    sha256, size = _index_of(text, suite, shown, trust)
    url = f"{base}/dists/{name}/{_INDEX}"
    index = fetch(url, into, sha256=sha256, size=size, say=trust.say)
    for fields in _stanzas(index, package.name):
        try:
            if fields["Version"].rpartition(":")[2].startswith(package.version_prefix):
                return replace(package, path=fields["Filename"], sha256=fields["SHA256"], size=int(fields["Size"]))
        except (KeyError, ValueError) as error:
            raise BuildError(
                f"the index of {name} at {shown} is damaged: {printable(str(error))}", fix=_OTHER_MIRROR
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


def _now() -> datetime:
    return datetime.now(UTC)


def _index_of(text: str, suite: Suite, shown: str, trust: Trust) -> tuple[str, int]:
    """Returns hash and size of the index that a release file names; the file must be of `suite` and not expired.

    An old release file, or one of another suite, has a good signature, too. With it, a server could withhold security
    fixes, or send other versions than were asked for.

    Args:
        text: the signed text of the release file.
        suite: the suite that it must be of.
        shown: the mirror, for messages.
        trust: decides about an expired release file.

    Raises:
        BuildError: it is damaged, of another suite or from the future; or it has expired, and `trust` does not allow
            it.
        SourceUnavailableError: it names no index.
    """
    from debian.deb822 import Release

    where = f"the release file of {suite.name} at {shown}"
    try:
        release = Release(text)
        named = (release.get("Suite"), release.get("Codename"))
        made = _time(release["Date"])
        until = _time(release["Valid-Until"]) if "Valid-Until" in release else None
        index = next((entry for entry in release.get("SHA256", ()) if entry["name"] == _INDEX), None)
        size = int(index["size"]) if index else 0
    except (KeyError, ValueError, TypeError, AttributeError, IndexError) as error:
        raise BuildError(
            f"{where} is damaged: {type(error).__name__}: {printable(str(error))}", fix=_OTHER_MIRROR
        ) from None
    if named != (suite.suite, suite.codename):
        found = " ".join(f"'{printable(str(field))}'" for field in named)
        raise BuildError(f"{where} is of {found}, expected '{suite.suite}' '{suite.codename}'", fix=_OTHER_MIRROR)
    if made > _now() + _CLOCKS:
        raise BuildError(f"{where} is of {made:%Y-%m-%d}, which is in the future", fix="set this machine's clock")
    if until is None:
        until = made + timedelta(days=suite.max_age_days)
    if until < _now():
        trust.accept(
            f"the package index of {suite.name}",
            f"it is of {made:%Y-%m-%d} and was valid until {until:%Y-%m-%d}",
            f"check this machine's clock, or {_OTHER_MIRROR}",
        )
    if index is None or not re.fullmatch("[0-9a-f]{64}", index["sha256"]):
        raise SourceUnavailableError(f"{where} lists no {_INDEX}")
    return index["sha256"], size


def _time(text: str) -> datetime:
    found = parsedate_to_datetime(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _signed_text(release: Path, archive: Archive, suite: Suite, trust: Trust) -> str:
    """Returns the signed text of an ``InRelease`` file, as gpgv writes it.

    Claim: the text is signed by a key of `archive` that has not expired. gpgv must exit with 0, which means that it
    knows the keys of all signatures and all signatures are good; this holds for Debian's suites with the keyring of
    Debian 12. The exit status does not cover two cases: an expired key, and a key of another archive in the same
    keyring. So the status lines must have both GOODSIG and VALIDSIG for a key of `archive`, and no bad result for any
    key. The status lines come through a file of their own, because gpgv copies text of the checked file to its log,
    where a forged text could imitate them.

    Raises:
        BuildError: there is no good signature; or none could be checked, and `trust` does not allow that.
    """
    what = f"the package index of {suite.name}"
    gpgv, keyring = shutil.which("gpgv"), next((path for path in _KEYRINGS if path.is_file()), None)
    if gpgv is None or keyring is None:
        why = "gpgv is not installed" if gpgv is None else f"there is no {_KEYRINGS[0]}"
        trust.accept(what, why, _GET_GPGV)
        return release.read_text(errors="replace")
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryFile() as status:
        command = [
            gpgv, "--homedir", home, "--keyring", str(keyring), "--weak-digest", "SHA1",
            "--status-fd", str(status.fileno()), "--output", "-", str(release),
        ]  # fmt: skip
        try:
            result = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60,
                pass_fds=(status.fileno(),), env=os.environ | {"LC_ALL": "C"},
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise BuildError(f"{what} cannot be verified: gpgv failed: {error}", fix=_GET_GPGV) from None
        status.seek(0)
        lines = status.read().decode(errors="replace").splitlines()
    if problem := _signature_problem(result.returncode, lines, archive.signing_keys):
        raise BuildError(
            f"{what} carries no valid signature of the Debian archive: {problem}",
            fix=f"{_GET_GPGV}, or {_OTHER_MIRROR}",
        )
    return result.stdout.decode(errors="replace")


def _signature_problem(returncode: int, lines: list[str], expected: tuple[str, ...]) -> str:
    """Returns the problem of the signatures that gpgv has reported in `lines`; empty if there is none.

    Args:
        returncode: the exit status of gpgv.
        lines: its status lines.
        expected: fingerprints of primary keys, one of which must have signed.
    """
    good, signers = "", []
    for line in lines:
        word, *fields = line.removeprefix(_STATUS).split(" ") if line.startswith(_STATUS) else [""]
        if word in _NOT_GOOD:
            return " ".join([word, *fields[:1]])
        if word == "NEWSIG":
            good = ""
        elif word == "GOODSIG":
            good = fields[0]
        elif word == "VALIDSIG" and len(fields) >= 10 and good and fields[0].endswith(good):
            signers.append(fields[9])
    if returncode:
        return f"gpgv exits with {returncode}"
    if not signers:
        return "it is not signed"
    if not set(signers) & set(expected):
        return f"it is signed by {', '.join(signers)}, expected one of {', '.join(expected)}"
    return ""
