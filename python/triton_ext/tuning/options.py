# SPDX-License-Identifier: Apache-2.0
"""Checks the arguments of `autotune` that Triton's does not have, at the decorator and not in the first launch."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

from ..errors import TritonExtError
from ..support.shown import shown


def check_function(name: str, function: object) -> None:
    """Raises TritonExtError unless `function` is a function or None."""
    if function is not None and not callable(function):
        raise TritonExtError(f"{name}: expected a function, got {shown(function)}")


def check_count(name: str, count: object, least: int) -> None:
    """Raises TritonExtError unless `count` is an int of at least `least`."""
    if not isinstance(count, int) or count < least:
        raise TritonExtError(f"{name}: expected an int from {least}, got {shown(count)}")


def check_seconds(name: str, seconds: object) -> None:
    """Raises TritonExtError unless `seconds` is a number above 0, or None."""
    if seconds is not None and not (isinstance(seconds, int | float) and seconds > 0):
        raise TritonExtError(f"{name}: expected seconds above 0, or None for no limit, got {shown(seconds)}")


def checked_tolerance(tolerance: Any) -> tuple[float, float] | None:
    """Returns `tolerance` as a pair of floats, or None.

    Raises:
        TritonExtError: it is something else, or negative.
    """
    if tolerance is None:
        return None
    try:
        relative, absolute = (float(number) for number in tolerance)
    except (TypeError, ValueError, OverflowError):
        relative = absolute = -1.0
    if not (relative >= 0 and absolute >= 0):  # NaN is not, either
        raise TritonExtError(
            f"tolerance: expected a relative and an absolute one, both from 0, got {shown(tolerance)}",
            fix="tolerance=(1e-3, 1e-5)",
        )
    return relative, absolute


def check_executor(executor: object, *, made: bool = False) -> None:
    """Checks where candidates are to be measured.

    Args:
        executor: the argument of `autotune`, or what that function returned.
        made: whether it is the result of the function.

    Raises:
        TritonExtError: it is neither an executor nor a function that could return one.
    """
    if isinstance(executor, Executor) or (not made and (executor is None or callable(executor))):
        return
    wanted = "the function to return a concurrent.futures.Executor"
    wanted = wanted if made else "a concurrent.futures.Executor or a function that returns one"
    raise TritonExtError(f"executor: expected {wanted}, got {shown(executor)}", fix="with Dask: client.get_executor()")
