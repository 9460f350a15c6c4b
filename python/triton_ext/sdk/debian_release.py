# SPDX-License-Identifier: Apache-2.0
"""Verifies the signature and the age of a Debian suite's release file, which has the hashes of the suite's indexes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path

from ..errors import BuildError
from ..support.shown import printable
from .sources import Archive, SourceUnavailableError, Suite
from .trust import Trust

MIRROR_ENV = "TRITON_EXT_DEBIAN_MIRROR"
OTHER_MIRROR = f"name another mirror in {MIRROR_ENV}"
_KEYRINGS = tuple(Path(f"/usr/share/keyrings/debian-archive-keyring.{kind}") for kind in ("gpg", "pgp"))
_GET_GPGV = "apt-get install gpgv debian-archive-keyring"
_CLOCKS = timedelta(days=1)  # the difference that is allowed between the clocks of two machines
_STATUS = "[GNUPG:] "
_NOT_GOOD = frozenset({"BADSIG", "ERRSIG", "EXPSIG", "EXPKEYSIG", "REVKEYSIG", "NO_PUBKEY", "NODATA", "FAILURE"})


def _now() -> datetime:
    return datetime.now(UTC)


def index_of(text: str, name: str, suite: Suite, shown: str, trust: Trust) -> tuple[str, int]:
    """Returns hash and size of the index `name` in a release file; the file must be of `suite` and not expired.

    An old release file, or one of another suite, has a good signature, too. With it, a server could withhold security
    fixes, or send other versions than were asked for.

    Args:
        text: the signed text of the release file.
        name: the path of the index in the suite.
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
        index = next((entry for entry in release.get("SHA256", ()) if entry["name"] == name), None)
        size = int(index["size"]) if index else 0
    except (KeyError, ValueError, TypeError, AttributeError, IndexError) as error:
        raise BuildError(
            f"{where} is damaged: {type(error).__name__}: {printable(str(error))}", fix=OTHER_MIRROR
        ) from None
    if named != (suite.suite, suite.codename):
        found = " ".join(f"'{printable(str(field))}'" for field in named)
        raise BuildError(f"{where} is of {found}, expected '{suite.suite}' '{suite.codename}'", fix=OTHER_MIRROR)
    if made > _now() + _CLOCKS:
        raise BuildError(f"{where} is of {made:%Y-%m-%d}, which is in the future", fix="set this machine's clock")
    if until is None:
        until = made + timedelta(days=suite.max_age_days)
    if until < _now():
        trust.accept(
            f"the package index of {suite.name}",
            f"it is of {made:%Y-%m-%d} and was valid until {until:%Y-%m-%d}",
            f"check this machine's clock, or {OTHER_MIRROR}",
        )
    if index is None or not re.fullmatch("[0-9a-f]{64}", index["sha256"]):
        raise SourceUnavailableError(f"{where} lists no {name}")
    return index["sha256"], size


def _time(text: str) -> datetime:
    found = parsedate_to_datetime(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def signed_text(release: Path, archive: Archive, suite: Suite, trust: Trust) -> str:
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
            fix=f"{_GET_GPGV}, or {OTHER_MIRROR}",
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
