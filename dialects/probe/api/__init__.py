# SPDX-License-Identifier: Apache-2.0
"""Looks into a running kernel: ``tx.probe``.

A kernel calls `count`, `record`, `check`, `region` and others; a `session` collects what they see. Outside of a
session, or with ``TRITON_EXT_PROBE=0``, they compile to nothing. ``dialects/probe/README.md`` shows how to use it, and
RATIONALE.md explains its design.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import triton.language as tl

import triton_ext as tx
from triton_ext.language import attr

from . import _interpreted
from ._pipeline import pipeline
from ._session import Session
from ._sites import Site
from ._statistics import Histogram, Stats

__all__ = [
    "Histogram",
    "Session",
    "Site",
    "Stats",
    "check",
    "clock",
    "count",
    "histogram",
    "minmax",
    "pipeline",
    "record",
    "region",
    "session",
    "stats",
]


_UNSIGNED = tuple(tl.dtype(name) for name in tl.dtype.UINT_TYPES if name != "int1")
#: The types of numbers for summaries.
_NUMBERS = {
    "value": (*_UNSIGNED, tl.int1, *(tl.dtype(name) for name in (*tl.dtype.SINT_TYPES, *tl.dtype.FP_TYPES))),
    "mask": tl.int1,
}


def _signs(operands: Mapping[str, Sequence[Any]]) -> list[bool] | None:
    """Returns which of the values are unsigned integers; None if none of them is. MLIR's integers have no sign."""
    found = [value.type.scalar in _UNSIGNED for value in operands["values"]]
    return found if any(found) else None


def _sign(operands: Mapping[str, Sequence[Any]]) -> bool:
    """Returns whether the value is an unsigned integer."""
    return operands["value"][0].type.scalar in _UNSIGNED


_are_unsigned = attr.of_operands(attr.dense(attr.boolean), _signs)
_is_unsigned = attr.of_operands(attr.unit, _sign)


@tx.language.op("probe.count", dtypes={"mask": tl.int1}, interpret=_interpreted.count)
def count(name: attr.string, mask: tl.tensor | None = None) -> None:  # type: ignore[valid-type]
    """Adds the number of lanes in `mask` to the counter `name`; without a mask, or with a scalar, 1 for the program."""


@tx.language.op("probe.record", dtypes={"mask": tl.int1}, interpret=_interpreted.record)
def record(
    name: attr.string,  # type: ignore[valid-type]
    *values: tl.tensor,
    mask: tl.tensor | None = None,
    are_unsigned: _are_unsigned = None,  # type: ignore[valid-type]
) -> None:
    """Appends a record with the values: one for the program, or one for each lane in `mask` if there are tensors.

    Tensors have one shape; scalars are repeated.
    """


@tx.language.op("probe.check", dtypes=dict.fromkeys(("condition", "mask"), tl.int1), interpret=_interpreted.check)
def check(
    condition: tl.tensor,
    message: attr.string,  # type: ignore[valid-type]
    *values: tl.tensor,
    mask: tl.tensor | None = None,
    are_unsigned: _are_unsigned = None,  # type: ignore[valid-type]
) -> None:
    """Counts the lanes where `condition` is false, and records the values of the first 16. The kernel goes on."""


@tx.language.op("probe.minmax", dtypes=_NUMBERS, interpret=_interpreted.minmax)
def minmax(
    name: attr.string,  # type: ignore[valid-type]
    value: tl.tensor,
    mask: tl.tensor | None = None,
    *,
    is_unsigned: _is_unsigned = None,  # type: ignore[valid-type]
) -> None:
    """Keeps the least and the greatest number of the lanes in `mask`, and counts NaNs apart."""


@tx.language.op("probe.stats", dtypes=_NUMBERS, interpret=_interpreted.stats)
def stats(
    name: attr.string,  # type: ignore[valid-type]
    value: tl.tensor,
    mask: tl.tensor | None = None,
    *,
    is_unsigned: _is_unsigned = None,  # type: ignore[valid-type]
) -> None:
    """Sums up the numbers of the lanes in `mask` and their squares, in f64, and counts NaNs and infinities apart."""


@tx.language.op("probe.histogram", dtypes=_NUMBERS, interpret=_interpreted.histogram)
def histogram(  # noqa: PLR0917 - as NumPy's
    name: attr.string,  # type: ignore[valid-type]
    value: tl.tensor,
    bins: attr.i32,  # type: ignore[valid-type]
    lo: attr.f64,  # type: ignore[valid-type]
    hi: attr.f64,  # type: ignore[valid-type]
    mask: tl.tensor | None = None,
    *,
    is_unsigned: _is_unsigned = None,  # type: ignore[valid-type]
) -> None:
    """Counts the numbers of the lanes in `mask` in `bins` bins from `lo` to `hi`, as ``numpy.histogram`` does in f64.

    Numbers below and above, and NaNs, are counted apart.
    """


@tx.language.op("probe.clock", interpret=_interpreted.clock)
def clock() -> tl.int64:  # type: ignore[valid-type]
    """Returns the cycle counter of the processor, which a program stores or records; 0 outside of a session.

    NVIDIA: ``%clock64``. AMD: ``s_memtime``, or a counter of 100 MHz from gfx11 on. x86-64: ``rdtsc``. Interpreter:
    nanoseconds. Each thread of a program reads its own value, and a store of a scalar writes the value of the first
    one: do not branch on it.
    """


@tx.language.op("probe.region_begin", end="probe.region_end", result=tl.int64, interpret=_interpreted.region)
def region(name: attr.string, per_warp: attr.unit = False) -> tl.tensor:  # type: ignore[valid-type]
    """Records how long the block of a ``with`` statement takes, each time that it runs.

    The times are those of the program's first thread; with `per_warp`, those of each warp's first thread. Regions nest.
    """


def session(*, capacity: int = 2**24, kernels: int = 1024, process: bool = False) -> Session:
    """Returns a session, in whose ``with`` block kernels are compiled with their probes.

    Args:
        capacity: bytes for records on each device, at most 2^33; a record takes 24 bytes and 8 for each value, a region
            16, and each program or warp with regions 64. From 1 MiB on, 64 shards have half as many in addition.
        kernels: how many kernels, in groups of 16 probes, have room for their counters.
        process: whether the kernels of every thread take part, not only those that this thread launches.
    """
    return Session(capacity, kernels, process)
