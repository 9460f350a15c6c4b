# SPDX-License-Identifier: Apache-2.0
"""Checks the arguments of a search that are wrong by themselves, and reads its budget."""

from __future__ import annotations

import re

from ..errors import TritonExtError
from ..support.shown import shown
from ..tuning.options import check_count, check_executor, check_function, check_seconds

_UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}


def check_arguments(
    executor: object,
    trials: int | None,
    workers: int | None,
    functions: tuple[object, object, object],
    seconds: tuple[float | None, float | None],
) -> None:
    """Raises TritonExtError for an argument of `search` that is wrong by itself."""
    check_executor(executor)
    for what, count in (("trials", trials), ("workers", workers)):
        if count is not None:
            check_count(what, count, 0 if what == "workers" else 1)
    for what, function in zip(("inputs", "reference", "on_trial"), functions, strict=True):
        check_function(what, function)
    for what, limit in zip(("compile_timeout", "run_timeout"), seconds, strict=True):
        check_seconds(what, limit)


def seconds_of(budget: str | float) -> float:
    """Returns a budget in seconds.

    Raises:
        TritonExtError: it is not a positive number or such a text.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|m|min|h|)\s*", str(budget))
    seconds = float(match[1]) * _UNITS[match[2]] if match else 0.0
    if seconds <= 0:
        raise TritonExtError(f"budget: expected seconds or a text such as 90s, 10m or 2h, got {shown(budget)}")
    return seconds
