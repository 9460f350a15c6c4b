# SPDX-License-Identifier: Apache-2.0
"""Makes values and texts from outside presentable in a message: on one line, printable and short."""

from __future__ import annotations

_MOST = 200


def printable(text: str) -> str:
    r"""Returns `text` with an escape such as ``\x1b`` for each character that is not printable."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shown(value: object) -> str:
    """Returns ``repr(value)``, cut if it is long, or the name of the type if ``repr`` raises.

    It raises for an integer of more than 4,300 digits and for a container of one; a user's ``__repr__`` may raise
    anything.
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
    """Returns the message of `error`, or the name of its type if the message is empty or its ``__str__`` raises."""
    try:
        return str(error) or type(error).__name__
    except KeyboardInterrupt:
        raise
    except BaseException:
        return type(error).__name__
