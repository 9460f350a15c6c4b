# SPDX-License-Identifier: Apache-2.0
"""Counts the different bytes that the accesses through one argument touch, and says whether the count is exact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ._amount import EXACT, UPPER_BOUND, Amount, add_up
from ._conditions import Reason
from ._evaluate import Interval
from ._expression import Symbol
from ._footprint import Place, bytes_of, different, extent, hull
from ._image import Image, NotAffineError


@dataclass(frozen=True)
class Access:
    """An operation that accesses memory in a launch.

    Attributes:
        line: ``file:line`` in the source.
        amount: the bytes that it requests, not 0.
        place: where they are.
        ranges: the ranges of the symbols in `place`.
    """

    line: str
    amount: Amount
    place: Place
    ranges: Mapping[Symbol, Interval]


def different_bytes(accesses: Sequence[Access]) -> Amount:
    """Returns how many different bytes accesses below one argument have."""
    images: list[tuple[Image | None, int]] = []
    reasons: list[Reason] = []
    for one in accesses:
        if one.amount.mark != EXACT:
            reasons += one.amount.reasons
            continue
        try:
            images.append(different(one.place, one.ranges))
        except NotAffineError:
            why = one.place.vague or "addresses that overlap, or whose bounds are not those of a box"
            reasons.append(Reason(one.line, why))
    if not reasons:
        try:
            return Amount(bytes_of(images))
        except NotAffineError:
            reasons = [Reason(one.line, "an overlap with other lines") for one in accesses]
    requested = add_up(one.amount for one in accesses)
    extents = [extent(one.place, one.ranges) for one in accesses]
    known = [one for one in extents if one is not None]
    bounds = [] if requested.value is None else [requested.value]
    bounds += [hull(known)] if len(known) == len(extents) else []
    if not bounds:
        return requested
    return Amount(min(bounds), UPPER_BOUND, tuple(dict.fromkeys(reasons)))


def bounded(amount: Amount, line: str, why: str) -> Amount:
    """Returns an amount of requested bytes as an upper bound of the different ones."""
    if amount.value is None:
        return amount
    return Amount(amount.value, UPPER_BOUND, (*amount.reasons, Reason(line, why)))
