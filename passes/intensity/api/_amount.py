# SPDX-License-Identifier: Apache-2.0
"""A number of bytes or FLOPs, with a mark that says whether it is exact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from triton_ext.errors import TritonExtError

from ._conditions import Reason

EXACT, UPPER_BOUND, UNKNOWN = "exact", "upper bound", "unknown"


@dataclass(frozen=True)
class Amount:
    """A number of bytes or FLOPs.

    Attributes:
        value: the number; None if it is not known.
        mark: ``exact``, ``upper bound`` or ``unknown``.
        reasons: the lines that are the reason why it is not exact.
    """

    value: int | None
    mark: str = EXACT
    reasons: tuple[Reason, ...] = ()

    def __int__(self) -> int:
        if self.value is None:
            why = "; ".join(f"{reason.line}: {reason.why}" for reason in self.reasons)
            raise TritonExtError(f"the number is not known: {why}", fix="told={line: trips} if it is a loop")
        return self.value

    def __index__(self) -> int:
        return int(self)

    def __float__(self) -> float:
        return float(int(self))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int):
            return self.value == other
        return isinstance(other, Amount) and (self.value, self.mark) == (other.value, other.mark)

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        return UNKNOWN if self.value is None else f"{self.value:,}" + (" at most" if self.mark == UPPER_BOUND else "")


def added(amounts: Iterable[Amount]) -> Amount:
    """Returns the sum, with the reasons of all."""
    found = list(amounts)
    reasons = tuple(dict.fromkeys(reason for one in found for reason in one.reasons))
    if any(one.value is None for one in found):
        return Amount(None, UNKNOWN, reasons)
    mark = UPPER_BOUND if any(one.mark == UPPER_BOUND for one in found) else EXACT
    return Amount(sum(one.value or 0 for one in found), mark, reasons)


@dataclass(frozen=True)
class Flops:
    """The FLOPs of a launch, by kind and type, e.g. ``flops["dot", "bf16"]``."""

    by_kind: Mapping[tuple[str, str], Amount]

    def __getitem__(self, key: tuple[str, str]) -> Amount:
        return self.by_kind.get(key, Amount(0))

    @property
    def total(self) -> Amount:
        """All FLOPs; a fused multiplication and addition is two, a transcendental function is one."""
        return added(self.by_kind.values())

    def __int__(self) -> int:
        return int(self.total)

    def __float__(self) -> float:
        return float(int(self))

    def __str__(self) -> str:
        return "\n".join(f"{kind or 'unknown'} {type_}: {amount}" for (kind, type_), amount in self.by_kind.items())
