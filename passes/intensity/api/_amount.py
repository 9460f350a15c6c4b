# SPDX-License-Identifier: Apache-2.0
"""Numbers of bytes and FLOPs, and whether they are exact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from triton_ext.errors import TritonExtError

from ._conditions import Reason
from ._costs import Cost
from ._evaluate import MOST_TERMS, Evaluator, Interval, TooLong, interval
from ._expression import Symbol
from ._graph import Check
from ._sums import substitute

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


def add_up(amounts: Iterable[Amount]) -> Amount:
    """Returns the sum: exact if all of them are."""
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
        return add_up(self.by_kind.values())

    def __int__(self) -> int:
        return int(self.total)

    def __float__(self) -> float:
        return float(int(self))

    def __str__(self) -> str:
        return "\n".join(f"{kind or 'unknown'} {type_}: {amount}" for (kind, type_), amount in self.by_kind.items())


def evaluate(cost: Cost, numbers: Mapping[Symbol, int], evaluator: Evaluator) -> Amount:
    """Returns the number for a launch.

    Raises:
        TritonExtError: an argument or the grid is missing.
    """
    if cost.amount is None:
        return Amount(None, UNKNOWN, cost.reasons)
    if cost.amount.constant is None or cost.checks:
        missing = sorted(symbol.name for symbol in cost.amount.symbols - set(numbers))
        if missing:
            raise TritonExtError(f"the number depends on {', '.join(missing)}", fix=_mending(missing[0]))
    found = _wrapped(cost, numbers)
    if found is not None:
        return Amount(None, UNKNOWN, (*cost.reasons, found))
    try:
        value = evaluator.value(substitute(cost.amount, numbers))
    except TooLong:
        why = f"more than {MOST_TERMS:,} terms would have to be added up"
        return Amount(None, UNKNOWN, (*cost.reasons, Reason(cost.line, why)))
    except ZeroDivisionError:
        return Amount(None, UNKNOWN, (*cost.reasons, Reason(cost.line, "a division by zero")))
    return Amount(value, UPPER_BOUND if cost.reasons else EXACT, cost.reasons)


def _mending(name: str) -> str:
    return "grid=(…)" if name.startswith("grid") else f"{name.partition('.')[0]}=…"


def _wrapped(cost: Cost, numbers: Mapping[Symbol, int]) -> Reason | None:
    """Returns a reason if an integer of the kernel may wrap around, so that the expressions may differ from it."""
    ranges = ranges_of(cost, numbers)
    if ranges is None:
        return Reason(cost.line, "an integer whose range is not known")
    # What an empty loop would compute never runs; that it is empty has to be shown by the checks of its own bounds.
    empty = {symbol for symbol, (low, high) in ranges.items() if low > high}
    checks = (check for check in cost.checks if check.value.symbols.isdisjoint(empty))
    wrong = next((check for check in checks if not holds(check, ranges)), None)
    return None if wrong is None else Reason(cost.line, f"an integer that may wrap around: {wrong.value}")


def ranges_of(cost: Cost, numbers: Mapping[Symbol, int]) -> dict[Symbol, Interval] | None:
    """Returns the intervals of all symbols of a cost; None if one is not found."""
    ranges: dict[Symbol, Interval] = {symbol: (number, number) for symbol, number in numbers.items()}
    for symbol, count in cost.ranges:
        found = interval(count, ranges)
        if found is None:
            return None
        ranges[symbol] = (0, found[1] - 1)
    return ranges


def holds(check: Check, ranges: Mapping[Symbol, Interval]) -> bool:
    """Whether a check holds for all values in these intervals."""
    found = interval(check.value, ranges)
    if found is None:
        return False
    return (check.low is None or found[0] >= check.low) and (check.high is None or found[1] <= check.high)
