# SPDX-License-Identifier: Apache-2.0
"""Looks into a running kernel: ``tx.probe``.

A kernel calls `count`, `record` and `check`; a `session` collects what they see. Outside of a session, or with
``TRITON_EXT_PROBE=0``, they compile to nothing. ``dialects/probe/README.md`` shows how, RATIONALE.md says why so.
"""

from __future__ import annotations

import contextvars
import json
import os
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import triton.language as tl

import triton_ext as tx
from triton_ext import backends
from triton_ext.errors import PipelineError, TritonExtError
from triton_ext.language import attr
from triton_ext.patches import compiled_kernels

__all__ = [
    "Histogram",
    "Session",
    "Site",
    "Stats",
    "check",
    "count",
    "histogram",
    "minmax",
    "pipeline",
    "record",
    "session",
    "stats",
]

# The layout of the buffer, in words of 64 bits: lower_probe/Layout.h has the same numbers.
_MAGIC = 0x313045424F525054
_CAPACITY, _CURSOR, _CHUNK_MASK, _CHUNKS, _RECORDS, _DIRECTORY = 1, 2, 3, 4, 5, 16
_SITE_WORDS, _SITES_OF_CHUNK = 8, 16
_COUNT, _LOST = 0, 1
_MAX, _INVERTED_MIN, _SUM, _SQUARES, _NAN, _INF = 2, 3, 2, 3, 4, 5  # of minmax and stats
_BELOW, _ABOVE = 2, 3  # of histogram
_HEAD = 3
_MOST_FAILURES = 16
_STRIDE = 1024
_LOCAL, _CHUNK_KEY = 0xFFFF, 0x8000

_SITES = re.compile(r'probe\.sites = "((?:[^"\\]|\\.)*)"')
_DTYPES: dict[str, Any] = {
    **{f"i{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
    **{f"f{bits}": np.dtype(f"f{bits // 8}") for bits in (16, 32, 64)},
    "i1": np.dtype(bool),
    "bf16": np.dtype(np.float32),
}


@dataclass(frozen=True)
class Site:
    """One probe in one kernel.

    Attributes:
        kind: ``count``, ``record``, ``check``, ``minmax``, ``stats`` or ``histogram``.
        name: the name, or the message of a check.
        kernel: the kernel's name.
        file: the source file; empty if it is unknown.
        line: the line of the probe.
        types: the element type of each value, as MLIR calls it.
        shape: of the tensors; () if the probe has only scalars.
        bins: the number of bins of a histogram, and its first and last edge; (0, 0, 0) of others.
        lines: where its numbers and its bins begin in the chunks of its kernel.
    """

    kind: str
    name: str
    kernel: str
    file: str
    line: int
    types: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    bins: tuple[int, float, float] = (0, 0.0, 0.0)
    lines: tuple[int, int] = (0, 0)

    @property
    def has_records(self) -> bool:
        """Whether it appends records to the buffer."""
        return self.kind in ("record", "check")

    @property
    def words(self) -> int:
        """How many words a record takes."""
        return _HEAD + len(self.types)


@dataclass(frozen=True)
class Stats:
    """What `stats` has seen under one name.

    Attributes:
        count: how many finite numbers.
        mean: of them, NaN if there are none.
        variance: of them: the mean square minus the square of the mean, in f64. If the mean is 10^k times as large as
            the deviation, 2 k of the 15 digits are lost.
        nan: how many NaNs.
        inf: how many infinities.
    """

    count: int
    mean: float
    variance: float
    nan: int
    inf: int


@dataclass(frozen=True)
class Histogram:
    """What `histogram` has seen under one name.

    Attributes:
        counts: for each bin, as ``numpy.histogram`` counts numbers of float64.
        edges: of the bins.
        below: how many numbers are below the first edge.
        above: how many numbers are above the last edge.
        nan: how many NaNs.
    """

    counts: Any
    edges: Any
    below: int
    above: int
    nan: int


@dataclass
class _Records:
    """Records of one site: the ids of the programs, the lanes (-1 for a scalar) and the values."""

    site: Site
    programs: Any
    lanes: Any
    values: list[Any]


@dataclass
class _Seen:
    """What a session has seen.

    Attributes:
        lines: the line of each site, once for each buffer: its count, or for a check its failures, its lost records,
            what `minmax` and `stats` keep; behind the line of a histogram are its bins.
        records: in the order of the buffer.
        unknown: how many counters are lost, because the buffer has no room for the counters of so many kernels.
    """

    lines: dict[Site, list[Any]] = field(default_factory=dict)
    records: list[_Records] = field(default_factory=list)
    unknown: int = 0

    def sum(self, site: Site, word: int) -> int:
        """Returns the sum of a word over the lines of `site`."""
        return sum(int(line[word]) for line in self.lines.get(site, ()))

    def sites(self) -> list[Site]:
        """Returns the sites that have run."""
        return list(dict.fromkeys([*self.lines, *(records.site for records in self.records)]))


#: The sites of each kernel that this process has compiled or loaded with probes, by the key in the buffer.
_tables: dict[int, tuple[Site, ...]] = {}
_sessions: contextvars.ContextVar[tuple[Session, ...]] = contextvars.ContextVar("triton_ext_probe", default=())
_of_process: list[Session] = []
_lock = threading.Lock()


def _read_sites(kernel: Any) -> None:
    """Keeps the sites of a ``CompiledKernel``, new or from Triton's cache."""
    if getattr(kernel.metadata, "profile_scratch_align", 1) < _STRIDE:
        return
    table = _table_in(str(kernel.asm.get("ttir", "")))
    if table is not None:
        _learn(table)


def _table_in(module: str) -> bytes | None:
    """Returns the table of sites in the text of a module, or None if it has no probes."""
    text = _SITES.search(module)
    return re.sub(r"\\([0-9A-F]{2}|.)", _unescape, text[1]).encode("latin-1") if text else None


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if len(match[1]) == 2 else match[1]


def _learn(content: bytes) -> None:
    key = 0xCBF29CE484222325
    for byte in content:
        key = (key ^ byte) * 0x100000001B3 % 2**64
    key = key & ~_LOCAL or _LOCAL + 1
    kernel, sites = _sites_in(content)
    if _tables.setdefault(key, sites) != sites:
        raise TritonExtError(
            f"the probes of {kernel} and of {_tables[key][0].kernel} have the same key in the buffer",
            fix="another name for one of the kernels",
        )


def _sites_in(content: bytes) -> tuple[str, tuple[Site, ...]]:
    """Returns the kernel's name and the sites of a table."""
    table = json.loads(content.decode(errors="replace"))
    sites = tuple(
        Site(
            one["kind"], one["name"], table["kernel"], one.get("file", ""), one.get("line", 0), tuple(one["types"]),
            tuple(one["shape"]), (one.get("bins", 0), float(one.get("lo", 0)), float(one.get("hi", 0))),
            (one["line_of_chunks"], one.get("bins_line", 0)),
        )
        for one in table["sites"]
    )  # fmt: skip
    return table["kernel"], sites


class _Sink:
    """Memory without the first word of a buffer: for kernels with probes that are launched outside of a session."""

    def __init__(self, memory: Any) -> None:
        self._memory = memory

    def data_ptr(self) -> int:
        """Returns the address."""
        return _address(self._memory)


def _address(memory: Any) -> int:
    return int(memory.ctypes.data if isinstance(memory, np.ndarray) else memory.data_ptr())


def _device() -> str:
    """Returns the device that a launch of this thread goes to: ``cpu`` or, for torch, ``cuda:0``."""
    from triton.runtime import driver

    declared = backends.declared().get(driver.active.get_current_target().backend)
    if declared is not None and declared.target.endswith(":native"):  # this machine's processor
        return "cpu"
    return f"cuda:{driver.active.get_current_device()}"  # which torch calls AMD's devices, too


def _memory(words: int, device: str, first: dict[int, int]) -> Any:
    """Returns `words` words of zeros on `device`, but for those in `first`, which every stream sees."""
    header = np.zeros(_DIRECTORY, np.int64)
    for place, value in first.items():
        header[place] = value
    if device == "cpu":
        content = np.zeros(words, np.int64)
        content[:_DIRECTORY] = header
        return content
    import torch

    content = torch.zeros(words, dtype=torch.int64, device=device)
    content[:_DIRECTORY].copy_(torch.from_numpy(header))
    torch.cuda.synchronize(device)
    return content


_sinks: dict[str, _Sink] = {}
#: Buffers whose address a CUDA graph holds. The graph can be replayed whenever, so they live as long as the process.
_captured: list[Any] = []
_before: Any = None  # the allocator that was set before ours


def _allocate(size: int, alignment: int, stream: int | None) -> Any:
    """Triton's profile allocator: the buffer of the session for kernels with probes, what others said for others."""
    if alignment != _STRIDE:
        if _before is not None:
            return _before(size, alignment, stream)
        from triton.runtime import driver

        return driver.active.allocate_default_profile_scratch(size, alignment, stream)
    current = _current()
    device = _device()
    if current is None:
        if device not in _sinks:
            _sinks[device] = _Sink(_memory(_DIRECTORY, device, {}))
        return _sinks[device]
    return current._buffer(device)


def _install() -> None:
    """Makes `_allocate` Triton's profile allocator."""
    global _before  # noqa: PLW0603 - of the process, as Triton's slot
    from triton.runtime import _allocation

    with _lock:
        now = _allocation._profile_allocator.get()
        if now is not _allocate:
            _before = now if _allocation.has_profile_allocator() else None
            _allocation.set_profile_allocator(_allocate)


def _current() -> Session | None:
    """Returns the innermost session of this thread, else that of the process."""
    inner = _sessions.get()
    return inner[-1] if inner else _of_process[-1] if _of_process else None


class Session:
    """Collects what the probes of kernels see; made by `session`."""

    def __init__(self, capacity: int, kernels: int, process: bool) -> None:
        if capacity < 8 * _HEAD or kernels < 1:
            raise TritonExtError(f"session: capacity={capacity}, kernels={kernels}: expected room for a record")
        self._capacity = capacity // 8
        self._chunks = 1 << (kernels - 1).bit_length()
        self._process = process
        self._buffers: dict[str, Any] = {}
        self._interpreted = _Seen()
        self._room = self._capacity
        self._pipeline: Any = None
        self._token: contextvars.Token[tuple[Session, ...]] | None = None
        self._installed = False

    def __enter__(self) -> Session:
        if self._token is not None or self._installed:
            raise TritonExtError("a session that has begun cannot begin again")
        if os.environ.get("TRITON_EXT_PROBE") == "0":
            return self
        from triton import knobs

        if not knobs.runtime.interpret:
            compiled_kernels.follow_kernels(_read_sites)
            _install()
            self._buffer(_device())  # now, because memory that is allocated in a CUDA graph is the graph's
            if not _sessions.get():  # a session around this one has placed the passes
                self._pipeline = pipeline()
                self._pipeline.install() if self._process else self._pipeline.__enter__()
        if self._process:
            _of_process.append(self)
            self._installed = True
        else:
            self._token = _sessions.set((*_sessions.get(), self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._installed:
            _of_process.remove(self)
        elif self._token is not None:
            _sessions.reset(self._token)
        if self._pipeline is not None:
            self._pipeline.uninstall() if self._process else self._pipeline.__exit__(kind, error, traceback)
            self._pipeline = None
        if self._buffers:
            from triton.runtime import _allocation

            if _allocation._profile_allocator.get() is not _allocate:
                warnings.warn(
                    "another profiler has replaced Triton's profile allocator during the session: what probes have "
                    "seen since is lost",
                    RuntimeWarning,
                    stacklevel=2,
                )

    def _buffer(self, device: str) -> Any:
        with _lock:
            if device not in self._buffers:
                chunks = _DIRECTORY + self._chunks
                records = chunks + (self._chunks + 1) * _SITE_WORDS * _SITES_OF_CHUNK
                self._buffers[device] = _Sink(
                    _memory(
                        records + self._capacity,
                        device,
                        {
                            0: _MAGIC, _CAPACITY: self._capacity, _CHUNK_MASK: self._chunks - 1, _CHUNKS: chunks,
                            _RECORDS: records,
                        },
                    )
                )  # fmt: skip
        found = self._buffers[device]
        if device != "cpu" and found not in _captured:
            import torch

            if torch.cuda.is_current_stream_capturing():
                _captured.append(found)
        return found

    def _see(self) -> _Seen:
        """Waits for the devices and returns what the session has seen until now."""
        seen = _Seen(
            {site: [line.copy() for line in lines] for site, lines in self._interpreted.lines.items()},
            list(self._interpreted.records),
        )
        for device, sink in self._buffers.items():
            memory = sink._memory
            if device != "cpu":
                import torch

                torch.cuda.synchronize(device)
                memory = memory.cpu().numpy()
            _decode(np.array(memory, copy=True), seen)
        return seen

    def sites(self) -> list[Site]:
        """Returns the probes that have run."""
        return self._see().sites()

    def counts(self) -> dict[str, int]:
        """Returns the counters of `count` by name, summed over kernels and lines."""
        return _sums(self._see(), "count", _COUNT)

    def failures(self) -> dict[str, int]:
        """Returns how often each `check` has failed, by message."""
        return _sums(self._see(), "check", _COUNT)

    def lost(self) -> dict[str, int]:
        """Returns how many records of each name did not fit into the buffer; names that lost none are left out."""
        seen = self._see()
        both = _sums(seen, "record", _LOST), _sums(seen, "check", _LOST)
        return {name: n for sums in both for name, n in sums.items() if n}

    def minmax(self) -> dict[str, tuple[float, float, int]]:
        """Returns the least and the greatest number that `minmax` has seen, and the number of NaNs, by name.

        The first two are NaN if it has seen no number.
        """
        seen = self._see()
        found: dict[str, tuple[float, float, int]] = {}
        for site, lines in seen.lines.items():
            if site.kind != "minmax":
                continue
            least, most, nan = found.get(site.name, (np.nan, np.nan, 0))
            for line in lines:
                nan += int(line[_NAN])
                if line[_COUNT]:
                    words = line.view(np.uint64)
                    least = np.fmin(least, _number_of(~words[_INVERTED_MIN], site.types[0]))
                    most = np.fmax(most, _number_of(words[_MAX], site.types[0]))
            found[site.name] = least, most, nan
        return found

    def stats(self) -> dict[str, Stats]:
        """Returns what `stats` has seen, by name."""
        seen = self._see()
        totals: dict[str, Any] = {}
        for site, lines in seen.lines.items():
            if site.kind == "stats":
                total = totals.setdefault(site.name, np.zeros(5))
                for line in lines:
                    sums = line.view(np.float64)
                    total += (line[_COUNT], sums[_SUM], sums[_SQUARES], line[_NAN], line[_INF])
        return {name: _stats_of(*total) for name, total in totals.items()}

    def histograms(self) -> dict[str, Histogram]:
        """Returns what `histogram` has seen, by name.

        Raises:
            TritonExtError: two probes of one name have different bins.
        """
        seen = self._see()
        bins: dict[str, tuple[int, float, float]] = {}
        totals: dict[str, Any] = {}
        for site, lines in seen.lines.items():
            if site.kind != "histogram":
                continue
            if bins.setdefault(site.name, site.bins) != site.bins:
                raise TritonExtError(f"histograms of the name '{site.name}' have different bins")
            totals[site.name] = totals.get(site.name, 0) + np.sum(lines, axis=0)
        return {
            name: Histogram(
                total[_SITE_WORDS : _SITE_WORDS + bins[name][0]],
                np.linspace(*bins[name][1:], bins[name][0] + 1),
                int(total[_BELOW]),
                int(total[_ABOVE]),
                int(total[_NAN]),
            )
            for name, total in totals.items()
        }

    def records(self, name: str | None = None) -> Any:
        """Returns the records as a structured array, in the order of the buffer.

        Args:
            name: of a `record`, or the message of a `check`; None for all.

        Returns:
            an array with the fields ``site`` (an index into `sites`), ``x``, ``y`` and ``z`` (the program), ``lane``
            (row-major in the tensor, -1 for a scalar) and ``v0``, ``v1``, … for the values. If sites differ in
            their values' types, a field has the type that NumPy promotes them to, and is 0 where a site has no value.
        """
        seen = self._see()
        sites = {site: i for i, site in enumerate(seen.sites())}
        chosen = [one for one in seen.records if name is None or one.site.name == name]
        named = [site for site in sites if site.has_records and (name is None or site.name == name)]
        if name is not None and not named and sites:
            raise TritonExtError(f"no probe '{name}' has run, there are: {', '.join(s.name for s in sites)}")
        width = max((len(site.types) for site in named), default=0)
        types = [
            np.result_type(*(_dtype(site.types[i]) for site in named if len(site.types) > i)) for i in range(width)
        ]
        head = [("site", np.int32), ("x", np.uint32), ("y", np.uint32), ("z", np.uint32), ("lane", np.int32)]
        dtype = np.dtype([*head, *((f"v{i}", one) for i, one in enumerate(types))])
        out = np.zeros(sum(len(one.lanes) for one in chosen), dtype)
        start = 0
        for one in chosen:
            part = out[start : start + len(one.lanes)]
            start += len(one.lanes)
            part["site"] = sites[one.site]
            part["x"], part["y"], part["z"] = one.programs
            part["lane"] = one.lanes
            for i, value in enumerate(one.values):
                part[f"v{i}"] = value
        return out

    def summary(self) -> str:
        """Returns a table: a row for each probe with its line, and what was lost."""
        seen = self._see()
        kept: dict[Site, int] = {}
        for one in seen.records:
            kept[one.site] = kept.get(one.site, 0) + len(one.lanes)
        rows = [("probe", "name", "count", "records", "lost", "kernel", "line")]
        for site in seen.sites():
            count, lost = seen.sum(site, _COUNT), seen.sum(site, _LOST)
            records = kept.get(site, 0)
            counted = {"record": "", "check": f"{count} failed"}.get(site.kind, str(count))
            place = f"{Path(site.file).name}:{site.line}"
            has_records = site.has_records
            rows.append((
                site.kind, site.name, counted, str(records) if has_records else "", str(lost) if has_records else "",
                site.kernel, place,
            ))  # fmt: skip
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        if seen.unknown:
            lines.append(f"lost: {seen.unknown} counters of kernels beyond the first {self._chunks} (fix: kernels=…)")
        return "\n".join(lines)


def pipeline() -> tx.Pipeline:
    """Returns the pipeline of a session, with which kernels are compiled with their probes.

    A session applies it. By itself it serves to look at what probes compile to, for any target: the kernels run, and
    their probes see nothing.
    """
    lower = tx.passes.ttir.lower_probe
    lowering = tx.Pipeline().at_start("ttir", lower(keep=True)).after("ttir:common.inliner", lower(emit=True))
    return lowering.stage("ttir", _refuse_clusters)


def _refuse_clusters(source: Any, metadata: dict[str, Any], inner: Callable[[Any, dict[str, Any]], Any]) -> Any:
    """Runs the stage, and refuses probes in a kernel with ``num_ctas > 1``.

    Triton adds the number of the CTA to the address, too, so programs would look for the buffer elsewhere.
    """
    module = inner(source, metadata)
    num_ctas = metadata.get("num_ctas", 1)
    table = _table_in(str(module)) if num_ctas > 1 else None
    if table is None:
        return module
    kernel, (site, *_) = _sites_in(table)
    raise PipelineError(
        f"{site.file}:{site.line}: the probe {site.kind} '{site.name}' is in the kernel '{kernel}', which is compiled "
        f"with num_ctas={num_ctas}; expected num_ctas=1",
        fix="num_ctas=1, or TRITON_EXT_PROBE=0 for a session without probes",
    )


def session(*, capacity: int = 2**24, kernels: int = 1024, process: bool = False) -> Session:
    """Returns a session, in whose ``with`` block kernels are compiled with their probes.

    Args:
        capacity: bytes for records on each device; a record takes 24 bytes and 8 for each value.
        kernels: how many kernels, in groups of 16 probes, have room for their counters.
        process: whether the kernels of every thread take part, not only those that this thread launches.
    """
    return Session(capacity, kernels, process)


def _dtype(name: str) -> Any:
    return _DTYPES.get(name, np.dtype(np.uint64 if name.startswith("!") else np.uint8))


def _sums(seen: _Seen, kind: str, which: int) -> dict[str, int]:
    sums: dict[str, int] = {}
    for site in seen.lines:
        if site.kind == kind:
            sums[site.name] = sums.get(site.name, 0) + seen.sum(site, which)
    return sums


def _stats_of(count: float, total: float, squares: float, nan: float, inf: float) -> Stats:
    mean = total / count if count else np.nan
    variance = max(squares / count - mean * mean, 0.0) if count else np.nan
    return Stats(int(count), float(mean), float(variance), int(nan), int(inf))


def _number_of(key: Any, name: str) -> float:
    """Returns the number that `minmax` keeps as `key`: one of type `name` that it has extended to 64 bits."""
    sign = np.uint64(1 << 63)
    if name[0] == "i":
        return int((key ^ sign).view(np.int64))
    return float((key ^ sign if key & sign else ~key).view(np.float64))


def _key_of(numbers: Any) -> Any:
    """The opposite of `_number_of`: 64-bit keys whose unsigned order is that of the numbers."""
    sign = np.uint64(1 << 63)
    if numbers.dtype.kind != "f":
        return numbers.astype(np.int64).view(np.uint64) ^ sign
    bits = numbers.astype(np.float64).view(np.uint64)
    return np.where(bits & sign, ~bits, bits ^ sign)


def _sites_of(key: int) -> tuple[Site, ...]:
    sites = _tables.get(key & ~_LOCAL & (2**64 - 1))
    if sites is None:
        raise TritonExtError("the buffer has records of a kernel that this process has not compiled or loaded")
    return sites


def _decode(words: Any, seen: _Seen) -> None:
    """Adds what is in a buffer to `seen`."""
    chunks = int(words[_CHUNK_MASK]) + 1
    area = words[words[_CHUNKS] :].view(np.int64)
    size = _SITE_WORDS * _SITES_OF_CHUNK
    kernels: dict[int, dict[int, Any]] = {}  # the chunks of each kernel by their number
    for index in map(int, np.flatnonzero(words[_DIRECTORY : _DIRECTORY + chunks])):
        key = int(words[_DIRECTORY + index])
        kernels.setdefault(key & ~_LOCAL, {})[key & (_CHUNK_KEY - 1)] = area[index * size : (index + 1) * size]
    for key, found in kernels.items():
        for site in _sites_of(key):
            if (line := _words_of(site, found)) is not None:
                seen.lines.setdefault(site, []).append(line)
    seen.unknown += int(np.count_nonzero(area[chunks * size : (chunks + 1) * size]))
    start = int(words[_RECORDS])
    used = min(int(words[_CURSOR]), int(words[_CAPACITY]))
    seen.records += _decode_records(words[start : start + used])


def _words_of(site: Site, chunks: dict[int, Any]) -> Any:
    """Returns the line of a site and its bins; None if the buffer had no room for the chunks that they are in."""
    size = _SITE_WORDS * _SITES_OF_CHUNK
    bins = -(-site.bins[0] // _SITE_WORDS) * _SITE_WORDS
    places = [(site.lines[0] * _SITE_WORDS, _SITE_WORDS), (site.lines[1] * _SITE_WORDS, bins)]
    parts = []
    for start, length in places:
        for at in range(start, start + length, _SITE_WORDS):
            if at // size not in chunks:
                return None
            parts.append(chunks[at // size][at % size : at % size + _SITE_WORDS])
    return np.concatenate(parts)


def _decode_records(words: Any) -> Iterator[_Records]:
    """Yields the records, in runs of one site; a record that did not fit has left zeros at the end."""
    at = 0
    while at < len(words) and words[at]:
        key = int(words[at])
        site = _sites_of(key)[(key & _LOCAL) - 1]
        width = site.words
        run = 1
        most = 64
        while run < most:  # how many of this site follow each other
            tags = words[at : at + most * width : width]
            differs = np.flatnonzero(tags != key)
            run = int(differs[0]) if len(differs) else len(tags)
            if run < most or at + most * width >= len(words):
                break
            most *= 8
        rows = words[at : at + run * width].reshape(-1, width).view(np.uint64)
        low, high = rows & np.uint64(0xFFFFFFFF), rows >> np.uint64(32)
        programs = (low[:, 1], high[:, 1], low[:, 2])
        values = [_typed(rows[:, _HEAD + i], name) for i, name in enumerate(site.types)]
        yield _Records(site, programs, high[:, 2].astype(np.uint32).view(np.int32), values)
        at += run * width


def _typed(words: Any, name: str) -> Any:
    """Returns the values of type `name` whose bits are in `words`."""
    if name == "bf16":
        return (words.astype(np.uint32) << 16).view(np.float32)
    dtype = _dtype(name)
    if dtype.kind == "b":
        return words != 0
    return words.astype(f"u{dtype.itemsize}").view(dtype)


# --- In the interpreter -----------------------------------------------------------------------------------------------


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
    return {"b": "i1", "f": f"f{8 * dtype.itemsize}"}.get(dtype.kind, f"i{8 * dtype.itemsize}")


def _interpreted(
    kind: str,
    name: str,
    values: tuple[Any, ...],
    mask: Any,
    *,
    negated: Any = None,
    bins: tuple[int, float, float] = (0, 0.0, 0.0),
) -> None:
    """Does for the session what the compiled operation does."""
    current = _current()
    if current is None:
        return
    from triton.runtime.interpreter import interpreter_builder

    arrays = [np.asarray(value) for value in values]
    every = [*arrays, *(np.asarray(one) for one in (mask, negated) if one is not None)]
    shape = next((array.shape for array in every if array.shape), ())
    if any(array.shape not in ((), shape) for array in every):
        raise TritonExtError(f"{kind} '{name}': expected tensors of one shape")
    active = np.ones(shape, bool)
    if mask is not None:
        active &= np.asarray(mask, bool)
    if negated is not None:
        active &= ~np.asarray(negated, bool)
    lanes = np.flatnonzero(active.reshape(-1))
    function, file, source_line = _place()
    types = tuple(_name_of(array.dtype) for array in arrays)
    site = Site(kind, name, function, file, source_line, types, tuple(shape), bins)
    seen = current._interpreted
    width = _SITE_WORDS - (-bins[0] // _SITE_WORDS) * _SITE_WORDS
    (line,) = seen.lines.setdefault(site, [np.zeros(width, np.int64)])
    columns = [np.broadcast_to(array, shape).reshape(-1)[lanes] for array in arrays]
    if kind == "histogram":
        _fill(columns[0], bins, line)
        return
    if kind in ("minmax", "stats"):
        _summarize(kind, columns[0], line)
        return
    if kind == "check":
        lanes, failed = lanes[: max(_MOST_FAILURES - int(line[_COUNT]), 0)], len(lanes)
        line[_COUNT] += failed
    if kind == "count":
        line[_COUNT] += len(lanes)
        return
    fit = min(current._room // site.words, len(lanes))
    current._room = max(current._room - len(lanes) * site.words, 0)
    line[_LOST] += len(lanes) - fit
    if fit:
        lanes = lanes[:fit]
        x, y, z = interpreter_builder.grid_idx
        columns = [column[:fit] for column in columns]
        seen.records.append(
            _Records(site, (x, y, z), lanes.astype(np.int32) if shape else np.array([-1], np.int32), columns)
        )


def _summarize(kind: str, numbers: Any, line: Any) -> None:
    """Adds `numbers` to the line of a site of `minmax` or `stats`."""
    wide = numbers.astype(np.float64)
    is_nan, is_inf = np.isnan(wide), np.isinf(wide)
    line[_NAN] += is_nan.sum()
    if kind == "stats":
        finite = wide[~(is_nan | is_inf)]
        line[_INF] += is_inf.sum()
        line[_COUNT] += len(finite)
        line.view(np.float64)[_SUM] += finite.sum()
        line.view(np.float64)[_SQUARES] += (finite * finite).sum()
    elif len(keys := _key_of(numbers[~is_nan])):
        line[_COUNT] += len(keys)
        words = line.view(np.uint64)
        words[_MAX] = max(words[_MAX], keys.max())
        words[_INVERTED_MIN] = max(words[_INVERTED_MIN], (~keys).max())


def _fill(numbers: Any, bins: tuple[int, float, float], line: Any) -> None:
    """Adds `numbers` to the line and the bins of a site of `histogram`."""
    wide = numbers.astype(np.float64)
    count, lo, hi = bins
    line[_NAN] += np.isnan(wide).sum()
    line[_BELOW] += (wide < lo).sum()
    line[_ABOVE] += (wide > hi).sum()
    line[_COUNT] += ((wide >= lo) & (wide <= hi)).sum()
    line[_SITE_WORDS : _SITE_WORDS + count] += np.histogram(wide[~np.isnan(wide)], count, (lo, hi))[0]


def _histogram(  # noqa: PLR0917 - as `histogram`
    name: str, value: Any, bins: int, lo: float, hi: float, mask: Any = None
) -> None:
    if not (0 < bins <= 1024 and np.isfinite(hi - lo) and lo < hi):
        raise TritonExtError(f"histogram '{name}': expected 1 to 1024 bins and lo < hi, got {bins}, {lo} and {hi}")
    _interpreted("histogram", name, (value,), mask, bins=(bins, float(lo), float(hi)))


def _minmax(name: str, value: Any, mask: Any = None) -> None:
    _interpreted("minmax", name, (value,), mask)


def _stats(name: str, value: Any, mask: Any = None) -> None:
    _interpreted("stats", name, (value,), mask)


def _count(name: str, mask: Any = None) -> None:
    _interpreted("count", name, (), mask)


def _record(name: str, *values: Any, mask: Any = None) -> None:
    _interpreted("record", name, values, mask)


def _check(condition: Any, message: str, *values: Any, mask: Any = None) -> None:
    _interpreted("check", message, values, mask, negated=condition)


# --- In kernels -------------------------------------------------------------------------------------------------------


@tx.language.op("probe.count", interpret=_count)
def count(name: attr.string, mask: tl.tensor | None = None) -> None:  # type: ignore[valid-type]
    """Adds the number of lanes in `mask` to the counter `name`; without a mask, or with a scalar, 1 for the program."""


@tx.language.op("probe.record", interpret=_record)
def record(name: attr.string, *values: tl.tensor, mask: tl.tensor | None = None) -> None:  # type: ignore[valid-type]
    """Appends a record with the values: one for the program, or one for each lane in `mask` if there are tensors.

    Tensors have one shape; scalars are repeated.
    """


@tx.language.op("probe.check", interpret=_check)
def check(condition: tl.tensor, message: attr.string, *values: tl.tensor, mask: tl.tensor | None = None) -> None:  # type: ignore[valid-type]
    """Counts the lanes where `condition` is false, and records the values of the first 16. The kernel goes on."""


@tx.language.op("probe.minmax", interpret=_minmax)
def minmax(name: attr.string, value: tl.tensor, mask: tl.tensor | None = None) -> None:  # type: ignore[valid-type]
    """Keeps the least and the greatest number of the lanes in `mask`, and counts NaNs apart. Integers are signed."""


@tx.language.op("probe.stats", interpret=_stats)
def stats(name: attr.string, value: tl.tensor, mask: tl.tensor | None = None) -> None:  # type: ignore[valid-type]
    """Sums up the numbers of the lanes in `mask` and their squares, in f64, and counts NaNs and infinities apart."""


@tx.language.op("probe.histogram", interpret=_histogram)
def histogram(  # noqa: PLR0917 - as NumPy's
    name: attr.string,  # type: ignore[valid-type]
    value: tl.tensor,
    bins: attr.i32,  # type: ignore[valid-type]
    lo: attr.f64,  # type: ignore[valid-type]
    hi: attr.f64,  # type: ignore[valid-type]
    mask: tl.tensor | None = None,
) -> None:
    """Counts the numbers of the lanes in `mask` in `bins` bins from `lo` to `hi`, as ``numpy.histogram`` does in f64.

    Numbers below and above, and NaNs, are counted apart.
    """
