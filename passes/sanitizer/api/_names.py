# SPDX-License-Identifier: Apache-2.0
"""The names of checks and actions. Imports nothing that needs Triton, because commands print them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from triton_ext.errors import TritonExtError

#: The checks.
CHECKS = ("bounds", "lanes", "uninit", "race", "overflow", "hints", "arith")
#: Those for which the pass inserts nothing: the host decides them from the numbers of a launch.
OF_HOST = frozenset({"overflow"})
#: Those that are cheap enough to stay on.
DEFAULT = ("bounds", "lanes", "overflow", "hints")
#: What becomes of an access that is out of bounds.
ACTIONS = ("report", "suppress", "trap")


def checked_names(checks: str | Iterable[str]) -> tuple[str, ...]:
    """Returns the names of checks, in order.

    Args:
        checks: names, or a text with commas between them; ``all`` for all.

    Raises:
        TritonExtError: there is no such check, or none is named.
    """
    names = [name.strip() for name in (checks.split(",") if isinstance(checks, str) else checks)]
    names = [name for name in names if name]
    if unknown := [name for name in names if name not in (*CHECKS, "all")]:
        raise TritonExtError(f"sanitize: there is no check '{unknown[0]}', there are: {', '.join(CHECKS)}, all")
    if not names:
        raise TritonExtError(f"sanitize: no check is named, there are: {', '.join(CHECKS)}, all")
    return CHECKS if "all" in names else tuple(name for name in CHECKS if name in names)


def of_pass(checks: Iterable[str]) -> str:
    """Returns the option of the pass for these checks."""
    return ",".join(name for name in checks if name not in OF_HOST)


def found_by(checks: Collection[str]) -> frozenset[str]:
    """Returns the checks that findings of `checks` can have: those, and ``view``, which ``bounds`` finds."""
    return frozenset(checks) | ({"view"} if "bounds" in checks else frozenset())
