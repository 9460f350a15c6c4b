# SPDX-License-Identifier: Apache-2.0
"""Which clang and lld builds look for: the versions in ``infra/cmake/clang-versions``, which CMake reads, too."""

from __future__ import annotations

from .resources import infra_dir

#: The command that installs a clang on Debian and Ubuntu.
GET_CLANG = "apt-get install clang-19"


def versions() -> list[int]:
    """Returns the major versions, in the order in which they are looked for."""
    lines = (infra_dir() / "cmake" / "clang-versions").read_text().splitlines()
    return [int(line) for line in lines if line.isdecimal()]


def names_of(program: str) -> list[str]:
    """Returns the names to look for `program` by, e.g. ``clang++-21`` to ``clang++-17`` and then ``clang++``."""
    return [*(f"{program}-{version}" for version in versions()), program]
