# SPDX-License-Identifier: Apache-2.0
"""Measures close candidates again, because one measurement of each does not show which is the fastest."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import replace

from .outcome import Outcome

#: The relative error of one measurement that is allowed for. On an H100, the candidate that was fastest in one
#: measurement was 5.3 % slower than another when both were measured in turns.
NOISE = 0.1
#: How many candidates are measured again: the fastest of those that are close.
MOST = 8


def settle(
    outcomes: list[Outcome], again: Callable[[list[int]], list[Outcome]], rounds: int, same: list[int] | None = None
) -> list[Outcome]:
    """Measures the candidates that are close to the fastest until each has been measured `rounds` times.

    Each round measures all of them in turn, so that slow changes, e.g. of the clock rate, affect all alike.

    Args:
        outcomes: the outcome of one measurement of each candidate.
        again: measures the candidates with the given indices once more, in that order.
        rounds: the number of measurements, including the first.
        same: for each candidate, the index of the first one that has the same binary; default: all differ.

    Returns:
        The outcomes, with the medians of all measurements.
    """
    outcomes = list(outcomes)
    first = list(range(len(outcomes))) if same is None else same
    seen = {i: [o.milliseconds] for i, o in enumerate(outcomes) if o.status == "ok" and first[i] == i}
    while seen:
        ranked = sorted(seen, key=lambda i: outcomes[i].milliseconds[0])
        limit = outcomes[ranked[0]].milliseconds[0] * (1 + NOISE)
        close = [i for i in ranked[:MOST] if outcomes[i].milliseconds[0] <= limit]
        todo = sorted(i for i in close if len(seen[i]) < rounds)
        if len(close) < 2 or not todo:
            break
        for i, outcome in zip(todo, again(todo), strict=True):
            if outcome.status != "ok":
                outcomes[i] = outcome
                del seen[i]
                continue
            seen[i].append(outcome.milliseconds)
            medians = tuple(statistics.median(times) for times in zip(*seen[i], strict=False))
            outcomes[i] = replace(outcomes[i], milliseconds=medians, measured=len(seen[i]))
    return [outcome if first[i] == i else _like(outcome, outcomes[first[i]]) for i, outcome in enumerate(outcomes)]


def _like(outcome: Outcome, first: Outcome) -> Outcome:
    """Returns the outcome of a candidate that has the same binary as one with the outcome `first`."""
    return replace(first, compile_seconds=outcome.compile_seconds, same_as=outcome.same_as)
