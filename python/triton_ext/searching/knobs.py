# SPDX-License-Identifier: Apache-2.0
"""`Knob`: one thing that can be turned for a kernel, and how its value becomes an edit or an option."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

#: What can be turned.
Kind = Literal[
    "extension pass",
    "extension option",
    "skip",
    "move",
    "repeat",
    "argument",
    "layout",
    "launch option",
    "constexpr",
    "llvm pipeline",
    "llvm option",
    "pipelines",
]
#: Whether results can change: not at all, by rounding, or in other ways (a pass that the target needs, for example).
Effect = Literal["no", "rounding", "yes"]
Value = int | float | bool | str | None

#: The kinds whose values are edits of the pipeline; those of the others are arguments of the launch.
OF_LAUNCHES = ("launch option", "constexpr")


@dataclass(frozen=True)
class Knob:
    """One thing that can be turned.

    Attributes:
        name: its name, which is unique in a space, e.g. ``skip ttir:common.cse#1`` or ``num_warps``.
        kind: what it is.
        type: type of its values: ``bool``, ``int``, ``float``, ``str`` or ``choice``.
        choices: the values that a search tries, with the default.
        default: the value of the kernel as it is.
        meaning: what it does, in one line.
        changes_results: ``no`` (results stay equal bit by bit), ``rounding``, or ``yes``.
        searched: whether a search turns it if the user names no knobs. It does not turn those that can change results
            in other ways than by rounding, nor those that cannot change this kernel.
        low: the least value that the type allows; None if it is not a number or the limit is unknown.
        high: the greatest value, likewise.
        place: the place in the pipeline, as an anchor; empty for launches.
        texts: for each choice, the edits that it adds, as text; for the options of passes see `Space.pipeline`.
    """

    name: str
    kind: Kind
    type: str
    choices: tuple[Value, ...]
    default: Value
    meaning: str
    changes_results: Effect
    searched: bool = True
    low: int | None = None
    high: int | None = None
    place: str = ""
    texts: tuple[str, ...] = field(default=(), repr=False)

    @property
    def values_text(self) -> str:
        """The choices as text; the type if there are none."""
        return ", ".join(map(str, self.choices)) if len(self.choices) > 1 else self.type

    def text(self, value: Value) -> str:
        """Returns the edits that `value` adds, as the text form of a pipeline; empty if there are none."""
        return self.texts[index_of(value, self.choices)] if self.texts else ""

    def as_dict(self) -> dict[str, Any]:
        """Returns the knob as JSON's types."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in vars(self).items() if name != "texts"}


def index_of(value: Value, choices: tuple[Value, ...]) -> int:
    """Returns the index of `value` in `choices`, in which True and 1 differ.

    Raises:
        ValueError: it is not among them.
    """
    for i, choice in enumerate(choices):
        if type(choice) is type(value) and choice == value:
            return i
    raise ValueError(value)


def powers(default: int, low: int = 0, high: int = 2**31 - 1) -> tuple[int, ...]:
    """Returns integers around `default`: itself, its halves and doubles, and the small ones next to it."""
    found = {default, default // 4, default // 2, 2 * default, 4 * default, default - 1, default + 1}
    found |= {0, 1, 2, 4} if default <= 4 else set()
    return tuple(sorted(value for value in found if low <= value <= high))
