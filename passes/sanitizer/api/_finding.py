# SPDX-License-Identifier: Apache-2.0
"""`Finding`: one bug of a kernel, with what its reader needs to mend it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: What a finding can say, the worst first; also the levels of SARIF.
SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """One bug at one place of a kernel, found by running it or by reading it.

    Attributes:
        check: which check found it: ``bounds``, ``view``, ``lanes``, ``uninit``, ``race``, ``overflow``, ``hints``,
            ``arith``, or the name of a rule of ``triton-ext lint``.
        kernel: the name of the kernel.
        file: the Python file; empty if it is unknown.
        line: the line in it, from 1; 0 if it is unknown.
        column: the column of the operation, from 1; 0 if it is unknown.
        message: one sentence, which says what is wrong.
        argument: the name of the argument that the address came from, such as ``x``, ``pair[1]`` or ``desc``; None if
            it is unknown or the check is not about a tensor.
        shape: the shape of the tensor; None without one.
        strides: the strides of the tensor, in elements; None without one.
        dtype: the dtype of the tensor, as torch or NumPy calls it; empty without one.
        coordinates: the index of the element in the tensor, which can lie outside of its shape; None if the address is
            not that of an element.
        distance: how many bytes outside the access is: positive behind the end, negative before the start.
        program: the ids of the first program in which it was found; None if it was found without running.
        lane: the first lane of that program, row-major in the tile; -1 for a scalar, None if it was found without
            running.
        lanes: how many lanes have it, over all launches; 0 if it was found without running, and they were not counted.
        programs: how many programs have it.
        at_least: whether `programs` is only a lower bound, because not every lane was recorded.
        counted: whether `lanes` were counted; else it is a lower bound: some launches have kept their first lane
            only.
        address: the address of the first lane; None if the check has none.
        access: ``load``, ``store``, ``atomic``, ``gather`` and so on; empty if the check is not about an access.
        values: names and values of what the check shows, such as the variables on the line.
        suggestion: what mends it, if the cause is known; else empty.
        severity: ``error``, ``warning`` or ``note``.
        related: further places, as (file, line, what is there), such as the other line of a race.
        other: the ids of the other program of a race; None if it may be one of several, or it is not about a race.
    """

    check: str
    kernel: str
    file: str
    line: int
    column: int = 0
    message: str = ""
    argument: str | None = None
    shape: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None
    dtype: str = ""
    coordinates: tuple[int, ...] | None = None
    distance: int | None = None
    program: tuple[int, int, int] | None = None
    lane: int | None = None
    lanes: int = 0
    programs: int = 0
    at_least: bool = False
    counted: bool = True
    address: int | None = None
    access: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    suggestion: str = ""
    severity: str = "error"
    related: tuple[tuple[str, int, str], ...] = ()
    other: tuple[int, int, int] | None = None
