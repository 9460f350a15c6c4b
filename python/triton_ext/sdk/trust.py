# SPDX-License-Identifier: Apache-2.0
"""What may be installed although nothing verifies it, and what was.

A download is verified by a hash that is pinned in ``sources.toml``, or by one in an index that the Debian archive has
signed. Where neither is there, nothing is installed unless ``--unverified`` says so; the SDK's record then says it too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ..errors import BuildError
from . import INSTALL_COMMAND

# As far as the last @, so that a password that was written with an @ or a / is not shown either.
_CREDENTIALS = re.compile(r"(?<=://)[^\s'\"<>]*@")


def without_credentials(text: str) -> str:
    """Returns `text` with ``***`` in place of the user and password of every address in it."""
    return _CREDENTIALS.sub("***@", text)


def checked_address(text: str, variable: str) -> str:
    """Returns the address `text`, without a slash at its end.

    Raises:
        BuildError: it is not the address of a server. The message does not repeat it: where user and password end
            cannot be told then.
    """
    if not re.fullmatch(r"https?://[^\s'\"<>/]+(/[^\s'\"<>]*)?", text):
        raise BuildError(
            f"{variable} is not an address of a server; special characters in a password are written as %XX",
            fix=f"{variable}=https://server/path {INSTALL_COMMAND}",
        )
    return text.rstrip("/")


@dataclass
class Trust:
    """Decides about what nothing can verify, for one installation.

    Attributes:
        allowed: whether the user said ``--unverified``.
        say: called with one line of news.
        unverified: what was taken unverified, and why nothing could verify it; one line each.
    """

    allowed: bool
    say: Callable[[str], None]
    unverified: list[str] = field(default_factory=list)

    def accept(self, what: str, why: str, fix: str = "") -> None:
        """Notes that `what` is used unverified.

        Args:
            what: what it is, such as a file's name.
            why: why nothing can verify it.
            fix: what would make it verifiable, if anything.

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
