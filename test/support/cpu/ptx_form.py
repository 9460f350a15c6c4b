# SPDX-License-Identifier: Apache-2.0
"""`Form`: one instruction of PTX, with a model of what it computes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Form:
    """One instruction.

    Attributes:
        model: from the bits of the operands to those of the result.
        widths: the bits of the result and of each operand.
        kind: the format of the result if it is a float, whose NaN may have any bits.
        bound: the largest error in units in the last place.
        text: the assembly; empty if it is the instruction alone.
        lanes: how many floats the result has.
    """

    model: Callable[..., int]
    widths: tuple[int, ...]
    kind: str = ""
    bound: float = 0
    text: str = ""
    lanes: int = 1


class Forms(dict[str, Form]):
    """Forms by what the page of PTX calls them: the instruction, if it is one."""

    def add(self, name: str, model: Callable[..., int], *widths: int, **more: object) -> None:
        """Adds a form, whose other attributes are `more`."""
        self[name] = Form(model, widths, **more)  # type: ignore[arg-type]


def mask_of(width: int) -> int:
    """Returns the bits of a register."""
    return (1 << width) - 1
