# SPDX-License-Identifier: Apache-2.0
"""The names of checks and actions. Imports nothing that needs Triton, because commands print them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from triton_ext.errors import TritonExtError

#: The checks of the pass.
CHECKS = ("bounds", "lanes", "uninit", "race", "hints", "arith")
_THERE_ARE = f"there are: {', '.join(CHECKS)}, all"
#: Those that are cheap enough to stay on.
DEFAULT = ("bounds", "lanes", "hints")
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
        fix = "tx.sanitize.check_launch" if unknown[0] == "overflow" else None
        raise TritonExtError(
            f"sanitize: there is no check '{unknown[0]}', there are: {', '.join(CHECKS)}, all", fix=fix
        )
    if not names:
        raise TritonExtError(f"sanitize: no check is named, there are: {', '.join(CHECKS)}, all")
    return CHECKS if "all" in names else tuple(name for name in CHECKS if name in names)


def found_by(checks: Collection[str]) -> frozenset[str]:
    """Returns the checks that findings of `checks` can have: those, and ``view``, which ``bounds`` finds."""
    return frozenset(checks) | ({"view"} if "bounds" in checks else frozenset())
