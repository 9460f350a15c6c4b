# SPDX-License-Identifier: Apache-2.0
"""Which clang and lld builds look for: the versions in ``infra/cmake/clang-versions``, which CMake reads, too."""

from __future__ import annotations

from .resources import infra_dir


def _lines() -> list[str]:
    return (infra_dir() / "cmake" / "clang-versions").read_text().splitlines()


def versions() -> list[int]:
    """Returns the major versions, in the order in which they are looked for."""
    return [int(line) for line in _lines() if line.isdecimal()]


def get_clang() -> str:
    """Returns the command that installs a clang on Debian and Ubuntu."""
    return next(line for line in _lines() if line.startswith("apt-get "))


def names_of(program: str) -> list[str]:
    """Returns the names to look for `program` by, e.g. ``clang++-21`` to ``clang++-17`` and then ``clang++``."""
    return [*(f"{program}-{version}" for version in versions()), program]
