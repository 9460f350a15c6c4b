# SPDX-License-Identifier: Apache-2.0
"""How what somebody else wrote stands in a message: on one line, printable and short, whatever it is."""

from __future__ import annotations

_MOST = 200


def printable(text: str) -> str:
    r"""Returns `text` with an escape such as ``\x1b`` for each character that a terminal does not simply show."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shown(value: object) -> str:
    """Returns ``repr(value)``, cut if it is long.

    Where there is none, the type's name stands for the value: an integer of more than 4,300 digits has none, nor has
    what holds one, and the ``__repr__`` of a user's class may raise whatever it likes.
    """
    try:
        text = repr(value)
    except KeyboardInterrupt:
        raise
    except BaseException:
        if isinstance(value, int):
            return f"an integer of {value.bit_length():,} bits"
        return f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= _MOST else f"{text[:_MOST]}..."


def said(error: BaseException) -> str:
    """Returns what `error` says, its type's name where it says nothing or raises when it is asked."""
    try:
        return str(error) or type(error).__name__
    except KeyboardInterrupt:
        raise
    except BaseException:
        return type(error).__name__
