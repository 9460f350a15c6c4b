# SPDX-License-Identifier: Apache-2.0
"""The objectives of a search: the time, and figures of the binary. All are minimised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

from ..errors import TritonExtError
from ..support.shown import shown

Objective = Literal["time", "shared", "registers", "spills", "compile_time", "code_size"]


def checked_objectives(names: Iterable[str]) -> tuple[str, ...]:
    """Returns the objectives as a tuple.

    Raises:
        TritonExtError: there is none, or one is unknown or given twice.
    """
    known = get_args(Objective)
    found = (names,) if isinstance(names, str) else tuple(names)
    for name in found:
        if name not in known:
            raise TritonExtError(f"no objective {shown(name)}, expected some of {', '.join(known)}")
    if not found or len(set(found)) != len(found):
        raise TritonExtError(f"objectives: expected different ones, got {shown(found)}", fix='objectives=("time",)')
    return found


def values_of(names: Iterable[str], milliseconds: float | None, figures: Mapping[str, float]) -> tuple[float, ...]:
    """Returns the values of the objectives.

    Raises:
        TritonExtError: the target has no such figure.
    """
    values = []
    for name in names:
        value = milliseconds if name == "time" else figures.get(name)
        if value is None:
            raise TritonExtError(f"objective '{name}': the binary of this target does not say it")
        values.append(float(value))
    return tuple(values)
