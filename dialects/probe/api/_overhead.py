# SPDX-License-Identifier: Apache-2.0
"""Measures on the device, with empty regions, how many cycles a region costs the program that it is in."""

from __future__ import annotations

import contextvars
import functools
import warnings
from typing import Any

import numpy as np
import triton
import triton.language as tl

from triton_ext import probe

from ._buffer import current_device
from ._sites import Site
from ._timing import Overhead

#: Turns of a measured loop, how often it is begun if it is inside of another one, and how often the kernel runs; the
#: first run, which is cold, does not count. An argument of 1 would be a constant of the kernel, without the outer loop.
_TURNS, _ROUNDS, _RUNS = 256, 2, 7


@triton.jit
def _turns(x, turns, INNER: tl.constexpr, PER_WARP: tl.constexpr):  # noqa: N803
    """Runs a loop with a region that contains nothing in each turn, or with none. Compilers keep the arithmetic."""
    for turn in range(turns):
        if INNER:
            with probe.region("inner", per_warp=PER_WARP):
                pass
        x = (x ^ turn) * 3
    return x


@triton.jit
def _measured(out, turns, rounds, INNER: tl.constexpr, PER_WARP: tl.constexpr, IN_ROOM: tl.constexpr):  # noqa: N803, PLR0917
    """Measures `_turns`; in a loop inside of another one, regions have blocks instead of a room."""
    x = rounds
    with probe.region("outer"):
        if IN_ROOM:
            x = _turns(x, turns, INNER, PER_WARP)
        else:
            for _ in range(rounds):
                x = _turns(x, turns, INNER, PER_WARP)
    tl.store(out, x)


def overhead_of(device: str, site: Site) -> Overhead:
    """Returns the cost of the region `site` on `device`, on which it has run.

    The first call for a device and a kind of region runs a kernel there, and waits for it.
    """
    if device == "interpreter":
        return Overhead()
    return _overhead(device, site.loop is not None, site.warps if site.per_warp else 0)


@functools.cache
def _overhead(device: str, in_room: bool, warps: int) -> Overhead:
    """Measures what a region costs.

    Args:
        device: as `current_device` returns it.
        in_room: whether its loop has room for its records.
        warps: how many warps record it; 0 if the program does.
    """
    if current_device().partition(":")[0] != device.partition(":")[0]:
        warnings.warn(
            f"what regions cost on {device} cannot be measured while kernels run on {current_device()}: nothing is "
            "subtracted from their times",
            RuntimeWarning,
            stacklevel=2,
        )
        return Overhead()
    # Without the sessions and pipelines of this thread.
    return contextvars.Context().run(_measure, device, in_room, warps)


def _measure(device: str, in_room: bool, warps: int) -> Overhead:
    if device == "cpu":
        return _on_this_device(np.zeros(1, np.int32), in_room, warps)
    import torch

    with torch.cuda.device(device):
        return _on_this_device(torch.zeros(1, dtype=torch.int32, device=device), in_room, warps)


def _on_this_device(out: Any, in_room: bool, warps: int) -> Overhead:
    """Returns the median over the runs."""
    cycles: dict[bool, list[float]] = {False: [], True: []}
    turns = _TURNS // (1 if in_room else _ROUNDS)
    empty: list[float] = []
    for run in range(_RUNS):
        for has_inner in (False, True):
            with probe.session(capacity=2**16 + 32 * _TURNS * max(warps, 1)) as s:
                _measured[(1,)](out, turns, _ROUNDS, has_inner, bool(warps), in_room, num_warps=warps or 4)
            outer, inner = (s.regions(name, compensate=False)["cycles"] for name in ("outer", "inner"))
            if not run or not len(outer):  # none with TRITON_EXT_PROBE=0
                continue
            cycles[has_inner].append(float(outer[0]) / _TURNS)
            if has_inner:
                empty.append(float(np.median(inner)))
    if not empty:
        return Overhead()
    inside = float(np.median(empty))
    whole = float(np.median(cycles[True]) - np.median(cycles[False]))
    return Overhead(inside, max(whole - inside, 0.0))
