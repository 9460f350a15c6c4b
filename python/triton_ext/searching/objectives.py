# SPDX-License-Identifier: Apache-2.0
"""The objectives of a search: the time, and figures of the binary. All are minimised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

from ..errors import TritonExtError
from ..support.shown import shown
from .figures import INSTRUCTIONS

Objective = Literal["time", "shared", "registers", "spills", "compile_time", "code_size", "instructions"]
#: The figures whose sum, or one of which, is an objective: instructions by kind.
_BY_KIND = "instructions."


def checked_objectives(names: Iterable[str] | None, backend: str, *, compile_only: bool = False) -> tuple[str, ...]:
    """Returns the objectives as a tuple.

    Args:
        names: the objectives; None for the default: the time, or if nothing is run figures of the target's binaries.
        backend: the target's backend.
        compile_only: whether nothing is run.

    Raises:
        TritonExtError: no objective is given, one is unknown or given twice, or one is the time and nothing is run.
    """
    if names is None:
        of_binaries = ("spills", "registers", "shared") if backend in ("cuda", "hip") else ("code_size",)
        return of_binaries if compile_only else ("time",)
    known = (*get_args(Objective), *(f"{_BY_KIND}{kind}" for kind in INSTRUCTIONS))
    found = (names,) if isinstance(names, str) else tuple(names)
    for name in found:
        if name not in known:
            raise TritonExtError(f"no objective {shown(name)}, expected some of {', '.join(known)}")
    if not found or len(set(found)) != len(found):
        raise TritonExtError(f"objectives: expected different ones, got {shown(found)}", fix='objectives=("time",)')
    if compile_only and "time" in found:
        raise TritonExtError("objective 'time': nothing is run", fix='objectives=("registers", "code_size")')
    return found


def values_of(names: Iterable[str], milliseconds: float | None, figures: Mapping[str, float]) -> tuple[float, ...]:
    """Returns the values of the objectives.

    Raises:
        TritonExtError: the target has no such figure.
    """
    by_kind = [value for figure, value in figures.items() if figure.startswith(_BY_KIND)]
    values = []
    for name in names:
        value = milliseconds if name == "time" else figures.get(name)
        if name == "instructions" and by_kind:
            value = sum(by_kind)
        if name.startswith(_BY_KIND) and by_kind:
            value = figures.get(name, 0.0)
        if value is None:
            raise TritonExtError(f"objective '{name}': the binary of this target does not say it")
        values.append(float(value))
    return tuple(values)
