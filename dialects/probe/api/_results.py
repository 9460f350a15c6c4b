# SPDX-License-Identifier: Apache-2.0
"""The results of a session's probes, as a session returns them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from . import _lines, _plot, _records, _regions, _statistics, _summary
from ._decode import Seen
from ._layout import COUNT
from ._sites import Site
from ._statistics import Histogram, Stats
from ._tables import table_of


class Results(ABC):
    """The part of a `Session` that reads."""

    _chunks: int

    @abstractmethod
    def _see(self, *, compensate: bool | None = False) -> Seen:
        """Waits for the devices and returns what the session has seen until now; with `compensate` as of `regions`."""

    def sites(self) -> list[Site]:
        """Returns the probes that have run."""
        return [site for site in self._see().sites() if not site.note]

    def counts(self) -> dict[str, int]:
        """Returns the counters of `count` by name, summed over kernels and lines."""
        return _statistics.sums(self._see().part(by_rule=False), "count", COUNT)

    def failures(self) -> dict[str, int]:
        """Returns how often each `check` has failed, by message."""
        return _statistics.sums(self._see().part(by_rule=False), "check", COUNT)

    def lost(self) -> dict[str, int]:
        """Returns by name how many records and regions did not fit into the buffer, without names that lost none.

        The name ``counters of kernels beyond the first …``, with the number 1, says that the buffer had no room for
        them.
        """
        return _statistics.lost(self._see().part(by_rule=False), self._chunks)

    def minmax(self) -> dict[str, tuple[float, float, int]]:
        """Returns the least and the greatest number that `minmax` has seen, and the number of NaNs, by name.

        The first two are NaN if it has seen no number.
        """
        return _statistics.minmax(self._see().part(by_rule=False))

    def stats(self) -> dict[str, Stats]:
        """Returns the statistics of `stats`, by name."""
        return _statistics.stats(self._see().part(by_rule=False))

    def histograms(self) -> dict[str, Histogram]:
        """Returns the histograms of `histogram`, by name.

        Raises:
            TritonExtError: two probes of one name have different bins.
        """
        return _statistics.histograms(self._see().part(by_rule=False))

    def records(self, name: str | None = None, *, coordinates: bool = False, as_: str = "numpy") -> Any:
        """Returns the records as a structured array, or as a table.

        Those of a program are in the order in which it has written them, but for failures of checks, which come last.
        From a `capacity` of 1 MiB on, the 64 shards come first: a program's is its linear id modulo 64, or for a kernel
        with regions on a CPU, this id divided by 8. In each shard, and in all that is behind the shards, programs are
        in the order in which they asked for room.

        Args:
            name: the name of a `record`, or the message of a `check`; None for all.
            coordinates: whether there are fields for the indices of the lane.
            as_: ``numpy``; or ``pandas`` or ``arrow`` for a ``pandas.DataFrame`` or a ``pyarrow.Table``.

        Returns:
            an array with the fields ``site`` (an index into `sites`), ``x``, ``y`` and ``z`` (the program), ``lane``
            (row-major in the tensor, -1 for a scalar) and ``v0``, ``v1``, … for the values. If sites differ in
            their values' types, a field has the type that NumPy promotes them to, and is 0 where a site has no value.
            With `coordinates`, ``i0``, ``i1``, … are the indices of the lane along the axes of the tensor, -1 for an
            axis that it does not have.

        Raises:
            TritonExtError: no probe of this name has run; or what `as_` names is not installed.
        """
        return table_of(_records.array_of(self._see(), name, coordinates=coordinates), as_)

    def regions(self, name: str | None = None, *, compensate: bool | None = None, as_: str = "numpy") -> Any:
        """Returns the regions as a structured array, or as a table, in the order of their starts.

        Args:
            name: the name of the regions; None for all.
            compensate: whether the measured cost of regions is subtracted: of a region, its own cost and that of the
                regions inside of it. What is before it in the program, or on its track, lets it start earlier. None:
                on CPUs alone, because on a GPU other warps hide most of this cost.
            as_: as for `records`.

        Returns:
            an array with the fields ``site`` (an index into `sites`), ``x``, ``y`` and ``z`` (the program), ``warp``
            (0 without `per_warp`), ``sm`` (of NVIDIA; the number of the compute unit of AMD, of the thread of a CPU),
            ``start`` and ``end`` in nanoseconds since the first program of the device that had regions, ``cycles``,
            the duration in ticks of the counter that `clock` returns, and ``subtracted``, the ticks that `compensate`
            has subtracted from the duration.
        """
        return table_of(_regions.array_of(self._see(compensate=compensate), name), as_)

    def timeline(self, path: str | Path, *, compensate: bool | None = None) -> None:
        """Writes the regions as a trace that https://ui.perfetto.dev opens, in Chrome's trace event format.

        A process is a multiprocessor, a compute unit or a thread of the CPU. It has as many tracks as it has run
        programs (or warps) at once; a program is a slice, and its regions are slices inside of it.

        Args:
            path: the path of the file, usually ``.json``.
            compensate: as for `regions`. The trace's metadata say what was subtracted.
        """
        _regions.write_trace(self._see(compensate=compensate), path)

    def lines(self, *, as_: str = "numpy") -> Any:
        """Returns the counts of the pass `instrument`, as a structured array with a row for each source line.

        ``dialects/probe/api/_lines.py`` describes the fields. `as_` is as of `records`.
        """
        return table_of(_lines.table(self._see(compensate=None).part(by_rule=True)), as_)

    def nans(self, *, as_: str = "numpy") -> Any:
        """Returns the NaNs that the pass `instrument` has recorded, as a structured array, the first one first.

        Each operation records its first 16, in the order in which programs have found them. `as_` is as of `records`.

        Returns:
            an array with the fields ``file``, ``line``, ``name`` (the operation: ``NaN from tt.load``), ``tensor`` (the
            argument from whose memory a load has it; empty for operations that make one), ``kernel``, ``x``, ``y`` and
            ``z`` (the program), ``lane`` (row-major in the tensor, -1 for a scalar) and ``value``.
        """
        return table_of(_lines.nans(self._see().part(by_rule=True)), as_)

    def plot(self, path: str | Path) -> None:
        """Draws the regions by their time, and each histogram.

        Args:
            path: the path of the picture; its suffix, ``.svg`` or ``.png``, says the format.

        Raises:
            TritonExtError: Matplotlib is not installed, or the session has seen neither a region nor a histogram.
        """
        _plot.draw(self._see(compensate=None), path)

    def summary(self, *, compensate: bool | None = None) -> str:
        """Returns tables: a row for each probe and what was lost; one of what regions have cost; one of `lines`.

        The share of a region is that of the time in which the programs run that have it.

        Args:
            compensate: as for `regions`. The last lines say what was subtracted.
        """
        return _summary.text(self._see(compensate=compensate), self._chunks)
