# SPDX-License-Identifier: Apache-2.0
"""Chooses between candidates that are close: one measurement of each does not say which is the fastest."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import replace

from .outcome import Outcome

#: How far from the fastest a single measurement may put one that is as fast. On an H100, what one measurement took for
#: the fastest was 5.3 % slower than another when both were measured in turns.
NOISE = 0.1
#: How many are measured again at a time: the fastest of those that are close.
MOST = 8


def settle(
    outcomes: list[Outcome], again: Callable[[list[int]], list[Outcome]], rounds: int, same: list[int] | None = None
) -> list[Outcome]:
    """Measures those that are close to the fastest until each has been measured `rounds` times.

    Each round takes all of them in turn, so that what changes slowly is the same for all.

    Args:
        outcomes: of one measurement of each candidate.
        again: measures the candidates with the given indices once more, in that order.
        rounds: how often, with the first; 1 for never again.
        same: for each, the index of the first candidate that has the same binary; default: all differ.

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
    """The outcome of one with the same binary."""
    return replace(first, compile_seconds=outcome.compile_seconds, same_as=outcome.same_as)
