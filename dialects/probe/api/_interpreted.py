# SPDX-License-Identifier: Apache-2.0
"""The functions for kernels under Triton's interpreter, which need no buffer.

NumPy's types say which integers are unsigned, so no function needs the argument for that.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import numpy as np

from ._buffer import current
from ._decode import Records
from ._layout import (
    ABOVE,
    BELOW,
    COUNT,
    HEADS,
    HOME,
    INF,
    INVERTED_MIN,
    LOST,
    MAX,
    MOST_FAILURES,
    NAN,
    REGION_WORDS,
    SITE_WORDS,
    SQUARES,
    SUM,
)
from ._sites import Site
from ._statistics import key_of
from ._timing import REGION, THREAD, Timing

#: The most values of a record and the most bins of a histogram, as `Probe.cpp` has them.
MOST_VALUES, MOST_BINS = 16, 1024


def histogram(  # noqa: PLR0917 - as `histogram`
    name: str, value: Any, bins: int, lo: float, hi: float, mask: Any = None, **_: Any
) -> None:
    if not 0 < bins <= MOST_BINS:
        raise _wrong("histogram", f"expected 1 to {MOST_BINS} bins, got {bins}")
    if not (np.isfinite(hi - lo) and lo < hi):
        raise _wrong("histogram", f"expected finite numbers lo < hi, got {_digits(lo)} and {_digits(hi)}")
    _interpret("histogram", name, (value,), mask, bins=(bins, float(lo), float(hi)))


def minmax(name: str, value: Any, mask: Any = None, **_: Any) -> None:
    _interpret("minmax", name, (value,), mask)


def stats(name: str, value: Any, mask: Any = None, **_: Any) -> None:
    _interpret("stats", name, (value,), mask)


def count(name: str, mask: Any = None) -> None:
    _interpret("count", name, (), mask)


def record(name: str, *values: Any, mask: Any = None, **_: Any) -> None:
    _interpret("record", name, values, mask)


def check(condition: Any, message: str, *values: Any, mask: Any = None, **_: Any) -> None:
    _interpret("check", message, values, mask, negated=condition)


def clock() -> Any:
    return np.array(time.perf_counter_ns() if current() is not None else 0, np.int64)


class region:  # noqa: N801 - as `region`
    """Records when its block begins and ends. A program has one warp."""

    def __init__(self, name: str, per_warp: bool = False) -> None:
        _check_name("region_begin", name)
        function, file, line = _place()
        self._site = Site("region", name, function, file, line, per_warp=per_warp)

    def __enter__(self) -> None:
        self._start = time.perf_counter_ns()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        end = time.perf_counter_ns()
        session = current()
        if session is None:
            return
        from triton.runtime.interpreter import interpreter_builder

        (line,) = session._interpreted.lines.setdefault(self._site, [np.zeros(SITE_WORDS, np.int64)])
        program = tuple(interpreter_builder.grid_idx)
        is_new = not session._threads or session._threads[-1].program != program
        words = REGION_WORDS + (HEADS[HOME] if is_new else 0)
        if session._room < words:
            line[LOST] += 1
            return
        session._room -= words
        if is_new:
            session._threads.append(Thread(program))
        session._threads[-1].regions.append((self._site, self._start, end))


@dataclass
class Thread:
    """A program that the interpreter has run, and its regions with their times in nanoseconds."""

    program: tuple[int, ...]
    regions: list[tuple[Site, int, int]] = field(default_factory=list)


def timing_of(threads: list[Thread]) -> Timing:
    """Returns the regions as those of a buffer."""
    sites: dict[Site, int] = {}
    rows, parts = [], []
    for i, thread in enumerate(threads):
        times = [time for _, *times in thread.regions for time in times]
        rows.append((*thread.program, 0, 0, min(times), 0, max(times), 0, 0))
        parts += [(sites.setdefault(site, len(sites)), i, start, end - start) for site, start, end in thread.regions]
    return Timing("interpreter", np.array(rows, THREAD), np.array(parts, REGION), list(sites))


def _interpret(
    kind: str,
    name: str,
    values: tuple[Any, ...],
    mask: Any,
    *,
    negated: Any = None,
    bins: tuple[int, float, float] = (0, 0.0, 0.0),
) -> None:
    """Does for the session what the compiled operation does."""
    arrays = [np.asarray(value) for value in values]
    shape = _shape_of(kind, name, arrays, mask, negated)
    session = current()
    if session is None:
        return
    from triton.runtime.interpreter import interpreter_builder

    active = np.ones(shape, bool)
    if mask is not None:
        active &= np.asarray(mask, bool)
    if negated is not None:
        active &= ~np.asarray(negated, bool)
    lanes = np.flatnonzero(active.reshape(-1))
    function, file, source_line = _place()
    types = tuple(_name_of(array.dtype) for array in arrays)
    site = Site(kind, name, function, file, source_line, types, tuple(shape), bins)
    seen = session._interpreted
    width = SITE_WORDS - (-bins[0] // SITE_WORDS) * SITE_WORDS
    (line,) = seen.lines.setdefault(site, [np.zeros(width, np.int64)])
    columns = [np.broadcast_to(array, shape).reshape(-1)[lanes] for array in arrays]
    if kind == "histogram":
        _fill(columns[0], bins, line)
        return
    if kind in ("minmax", "stats"):
        _summarize(kind, columns[0], line)
        return
    if kind == "check":
        lanes, failed = lanes[: max(MOST_FAILURES - int(line[COUNT]), 0)], len(lanes)
        line[COUNT] += failed
    if kind == "count":
        line[COUNT] += len(lanes)
        return
    fit = min(session._room // site.words, len(lanes))
    session._room = max(session._room - len(lanes) * site.words, 0)
    line[LOST] += len(lanes) - fit
    if fit:
        lanes = lanes[:fit]
        x, y, z = interpreter_builder.grid_idx
        columns = [column[:fit] for column in columns]
        seen.records.append(
            Records(site, (x, y, z), lanes.astype(np.int32) if shape else np.array([-1], np.int32), columns)
        )


def _shape_of(kind: str, name: str, values: Sequence[Any], mask: Any, negated: Any) -> tuple[int, ...]:
    """Returns the shape of the tensors of a call; () if it has only scalars.

    Raises:
        ValueError: the verifier of the operation refuses the call; in its words.
    """
    _check_name(kind, name)
    if len(values) > MOST_VALUES:
        raise _wrong(kind, f"expected at most {MOST_VALUES} values, got {len(values)}")
    for number, one in ((0, negated), (len(values) + (negated is not None), mask)):
        if isinstance(one, int | float) and not isinstance(
            one, bool
        ):  # a constant; the type of tensors is checked before
            raise _wrong(
                kind,
                f"operand #{number} must be i1 or tensor of i1, but got '{'i32' if isinstance(one, int) else 'f32'}'",
            )
    # In the order of the operands.
    every = [*(np.asarray(one) for one in (negated,) if one is not None), *values]
    every += [np.asarray(mask)] if mask is not None else []
    tensors = [array for array in every if array.shape]
    for array in tensors[1:]:
        if array.shape != tensors[0].shape:
            types = (
                f"'tensor<{'x'.join(map(str, one.shape))}x{_name_of(one.dtype).removeprefix('u')}>'"
                for one in (tensors[0], array)
            )
            raise _wrong(kind, f"expected tensors of one shape, got {' and '.join(types)}")
    return tuple(tensors[0].shape) if tensors else ()


def _check_name(operation: str, name: str) -> None:
    if not name:
        raise _wrong(operation, "expected a name that is not empty")


def _wrong(operation: str, why: str) -> ValueError:
    """Returns the error that a compilation gets from the verifier of an operation."""
    return ValueError(f"'probe.{operation}' op {why}")


def _digits(number: float) -> str:
    """Returns a number as MLIR's messages write it."""
    return f"{number:e}"


def _place() -> tuple[str, str, int]:
    """Returns the name of the function that the interpreter runs, its file and the line."""
    frame = sys._getframe(2)
    while frame.f_back is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] not in ("triton", "triton_ext"):
            return frame.f_code.co_name, frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return "", "", 0


def _name_of(dtype: Any) -> str:
    bits = 8 * dtype.itemsize
    return {"b": "i1", "f": f"f{bits}", "u": f"ui{bits}"}.get(dtype.kind, f"i{bits}")


def _summarize(kind: str, numbers: Any, line: Any) -> None:
    """Adds `numbers` to the line of a site of `minmax` or `stats`."""
    wide = numbers.astype(np.float64)
    is_nan, is_inf = np.isnan(wide), np.isinf(wide)
    line[NAN] += is_nan.sum()
    if kind == "stats":
        finite = wide[~(is_nan | is_inf)]
        line[INF] += is_inf.sum()
        line[COUNT] += len(finite)
        line.view(np.float64)[SUM] += finite.sum()
        line.view(np.float64)[SQUARES] += (finite * finite).sum()
    elif len(keys := key_of(numbers[~is_nan])):
        line[COUNT] += len(keys)
        words = line.view(np.uint64)
        words[MAX] = max(words[MAX], keys.max())
        words[INVERTED_MIN] = max(words[INVERTED_MIN], (~keys).max())


def _fill(numbers: Any, bins: tuple[int, float, float], line: Any) -> None:
    """Adds `numbers` to the line and the bins of a site of `histogram`."""
    wide = numbers.astype(np.float64)
    count, lo, hi = bins
    line[NAN] += np.isnan(wide).sum()
    line[BELOW] += (wide < lo).sum()
    line[ABOVE] += (wide > hi).sum()
    line[COUNT] += ((wide >= lo) & (wide <= hi)).sum()
    line[SITE_WORDS : SITE_WORDS + count] += np.histogram(wide[~np.isnan(wide)], count, (lo, hi))[0]
