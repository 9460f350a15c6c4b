# SPDX-License-Identifier: Apache-2.0
"""Decides whether a download may be used that nothing verifies, and records it.

A download is verified by a hash in ``sources.toml``, or by a hash in an index that the Debian archive has signed. If
there is neither, it is used only with ``--unverified``, and the SDK's record then lists it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ..errors import BuildError
from . import INSTALL_COMMAND

# Up to the last @, so that a password that contains an @ or a / is hidden, too.
_CREDENTIALS = re.compile(r"(?<=://)[^\s'\"<>]*@")


def without_credentials(text: str) -> str:
    """Returns `text` with ``***`` in place of the user and password of every address in it."""
    return _CREDENTIALS.sub("***@", text)


def checked_address(text: str, variable: str) -> str:
    """Returns the address `text`, without a slash at its end.

    Raises:
        BuildError: it is not the address of a server. The message does not repeat it, because in a malformed address
            the password cannot be found and hidden.
    """
    if not re.fullmatch(r"https?://[^\s'\"<>/]+(/[^\s'\"<>]*)?", text):
        raise BuildError(
            f"{variable} is not an address of a server; special characters in a password are written as %XX",
            fix=f"{variable}=https://server/path {INSTALL_COMMAND}",
        )
    return text.rstrip("/")


@dataclass
class Trust:
    """Decides about downloads that nothing verifies, for one installation.

    Attributes:
        allowed: whether the user gave ``--unverified``.
        say: is called with one line of news.
        unverified: each download that was used unverified, with the reason, one line each.
    """

    allowed: bool
    say: Callable[[str], None]
    unverified: list[str] = field(default_factory=list)

    def accept(self, what: str, why: str, fix: str = "") -> None:
        """Notes that `what` is used unverified.

        Args:
            what: the download, e.g. the name of a file.
            why: why nothing can verify it.
            fix: a command that makes it verifiable; empty if there is none.

        Raises:
            BuildError: the user has not allowed it.
        """
        if not self.allowed:
            flag = f"{INSTALL_COMMAND} --unverified, which trusts the server and the network"
            raise BuildError(f"{what} cannot be verified: {why}", fix=f"{fix}, or {flag}" if fix else flag)
        line = f"{what}: {why}"
        if line not in self.unverified:
            self.unverified.append(line)
            self.say(f"not verified: {line}")
