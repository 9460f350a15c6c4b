# SPDX-License-Identifier: Apache-2.0
"""Runs a Python program in a session for the whole process, and reports the hottest lines of its kernels."""

from __future__ import annotations

import contextlib
import io
import json
import os
import runpy
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import triton_ext as tx
from triton_ext.errors import TritonExtError
from triton_ext.support.storage import write_whole

from . import _lines
from ._layout import LOST
from ._session import Session

#: Bytes for the records of regions and NaNs on each device.
CAPACITY = 2**26


@dataclass(frozen=True)
class Profile:
    """The profile of one run of a program: the counts and times of its kernels.

    Attributes:
        program: its file, and its arguments.
        status: its exit status.
        seconds: how long it ran, with the probes.
        lines: a row for each source line, as `Session.lines` returns it.
        nans: as `Session.nans` returns it.
        session: in which it ran.
    """

    program: tuple[str, ...]
    status: int
    seconds: float
    lines: Any
    nans: Any
    session: Session

    def measure(self, sort: str | None) -> tuple[str, Any]:
        """Returns what the lines are sorted by, and its value for each line: `sort`, or the best that there is."""
        bytes_ = sum(self.lines[name] for name in _lines.BYTES)
        if sort is None:
            candidates = ("time", "bytes", "nans", "iterations", "calls")
            sort = next((one for one in candidates if (bytes_ if one == "bytes" else self.lines[one]).any()), "calls")
        return sort, bytes_ if sort == "bytes" else self.lines[sort]


def run(file: str, arguments: Sequence[str], rules: Mapping[str, bool]) -> Profile:
    """Runs `file` as Python would, with `arguments`, and returns what its kernels have done.

    Whatever ends the program, an exception included, ends here; a traceback goes to standard error. A process that the
    program has forked and that comes here ends, too: the report is that of its parent.

    Args:
        file: a Python program.
        arguments: its ``sys.argv[1:]``.
        rules: the options of the pass `instrument`.

    Raises:
        TritonExtError: the pass `instrument` is not installed.
    """
    from triton import knobs

    if knobs.runtime.interpret:
        raise TritonExtError(
            "TRITON_INTERPRET=1: the interpreter runs no passes, so nothing is counted", fix="unset it"
        )
    if os.environ.get("TRITON_EXT_PROBE") == "0":
        raise TritonExtError("TRITON_EXT_PROBE=0 switches probes off", fix="unset it")
    instrumented = tx.Pipeline().at_end("ttir", tx.passes.ttir.instrument(**rules))
    # The program may choose its device, so the buffer is made at the first launch.
    session = Session(CAPACITY, 4096, True, waits=True)
    before, streams = (sys.argv, sys.path[:]), (sys.stdout, sys.stderr)
    process, threads = os.getpid(), set(threading.enumerate())
    sys.argv, sys.path[0:0] = [file, *arguments], [str(Path(file).resolve().parent)]
    started = time.perf_counter()
    with session:
        instrumented.install()
        try:
            status = _status_of(os.path.abspath(file), threads)  # as Python does: the program may change its directory
        finally:
            instrumented.uninstall()
            sys.argv, sys.path[:] = before
            _flush()
            sys.stdout, sys.stderr = streams
    if os.getpid() != process:
        raise SystemExit(status)
    if sys.stdout.closed:  # by the program; the files are still written
        sys.stdout = io.StringIO()
    seconds = time.perf_counter() - started
    return Profile((file, *arguments), status, seconds, session.lines(), session.nans(), session)


def _status_of(file: str, others: set[threading.Thread]) -> int:
    """Runs `file` and returns the exit status that Python would have.

    Args:
        file: its absolute path.
        others: threads that are not the program's.
    """
    try:
        try:
            runpy.run_path(file, run_name="__main__")
        finally:
            _wait_for_threads(others)
    except SystemExit as exit_:
        if exit_.code is None or isinstance(exit_.code, int):
            return exit_.code or 0
        print(exit_.code, file=sys.stderr)
        return 1
    except BaseException as error:
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename != file:
            frames = frames.tb_next  # those of this module and of runpy
        traceback.print_exception(type(error), error, frames)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _wait_for_threads(others: set[threading.Thread]) -> None:
    """Waits for the threads that the program has left behind, as Python does at its end.

    Workers of ``concurrent.futures`` would wait for more work.
    """
    pools = sys.modules.get("concurrent.futures.thread")
    workers = getattr(pools, "_threads_queues", ())
    while left := [one for one in threading.enumerate() if one not in others and not one.daemon and one not in workers]:
        for thread in left:
            thread.join()


def _flush() -> None:
    """Writes out what the program has printed, to whatever it has put in the place of the standard streams."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def report(profile: Profile, sort: str | None, top: int) -> list[str]:
    """Returns the hottest lines as lines of text, and the first NaN.

    Args:
        profile: the profile of a program.
        sort: a field of the lines, or ``bytes``; None for the best that there is.
        top: how many lines.
    """
    lines = profile.lines
    if not len(lines):
        return [f"{profile.program[0]}: no kernel was launched in this process, so there is nothing to show"]
    measure, values = profile.measure(sort)
    order = np.argsort(values) if measure == "line" else np.lexsort((-profile.measure("bytes")[1], -values))
    chosen = order[:top]
    total = int(values.sum())
    share = None
    if measure not in ("line", "time") and total:  # the time of a loop includes that of other lines
        share = measure, [f"{value / total:.1%}" if value else "" for value in values[chosen]]
    sums = [f"{name} {int(lines[name].sum())} bytes" for name in _lines.BYTES if lines[name].any()]
    kernels = len(set(lines["kernel"]))
    text = [f"{profile.program[0]}: {kernels} kernel{'s' * (kernels > 1)}" + "".join(f", {one}" for one in sums)]
    text += _lines.text(lines[chosen], share)
    if len(lines) > top:
        text.append(f"and {len(lines) - top} more lines (--top)")
    text += _losses(profile.session)
    if len(profile.nans):
        first = profile.nans[0]
        program = ", ".join(str(first[axis]) for axis in "xyz")
        of = f", of the argument '{first['tensor']}'," if first["tensor"] else ""
        text.append(
            f"the first {first['name']}{of} is at {first['file']}:{first['line']}, in the program ({program})"
            + (f", lane {first['lane']}" if first["lane"] >= 0 else "")
        )
    return text


def _losses(session: Session) -> list[str]:
    """Returns a line for each kind of numbers that are too small because the buffer was full."""
    seen = session._see()
    losses = []
    if seen.unknown:
        losses.append("counters are lost: there were more kernels than the buffer has room for")
    regions = sum(seen.sum(site, LOST) for site in seen.lines if site.kind == "region")
    if regions:
        losses.append(f"{regions} regions are lost: their time is missing, because the buffer was full")
    return losses


def write_json(profile: Profile, path: Path) -> None:
    """Writes all lines and the recorded NaNs as JSON.

    Raises:
        TritonExtError: the file cannot be written.
    """
    data = {
        "program": list(profile.program),
        "status": profile.status,
        "seconds": profile.seconds,
        "lines": _records(profile.lines),
        "nans": [{**one, "value": repr(one["value"])} for one in _records(profile.nans)],
    }
    _write(path, json.dumps(data, indent=1) + "\n")


def write_page(profile: Profile, path: Path) -> None:
    """Writes the source of the kernels with their numbers as one page.

    Raises:
        TritonExtError: the file cannot be written.
    """
    from . import _page

    _write(path, _page.page(profile))


def write_timeline(profile: Profile, path: Path) -> None:
    """Writes the times of regions as a trace that Perfetto opens.

    Raises:
        TritonExtError: the file cannot be written.
    """
    with _writing(path):
        profile.session.timeline(path)


def _records(rows: Any) -> list[dict[str, Any]]:
    return [dict(zip(rows.dtype.names, row.tolist(), strict=True)) for row in rows]


def _write(path: Path, text: str) -> None:
    with _writing(path):
        write_whole(path, text.encode())


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Makes the directory of `path`, and the error that a file cannot be written one of ours."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise TritonExtError(f"{path}: {error.strerror}") from error
