# SPDX-License-Identifier: Apache-2.0
"""Sessions of several processes on one GPU at the same time, for `probe.py`: each sees what its own kernels do."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import torch
import triton
import triton.language as tl

from triton_ext import probe

PROCESSES, LAUNCHES = 4, 200
#: What `work` compares with NumPy.
SEEN = ("results", "counts", "failures", "records", "regions", "lost")


@triton.jit
def observed(x, n, N: tl.constexpr):  # noqa: N803
    """Adds one, with a probe of each kind that needs memory of its own."""
    i = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.load(x + i, mask=i < n, other=0)
    probe.count("negative", v < 0)
    probe.record("large", v, i, mask=v > 90)
    probe.check(v > -100, "above -100", v)
    with probe.region("store"):
        tl.store(x + i, v + 1, mask=i < n)


def work(seed: int, device: str) -> tuple[int, float, float, tuple[str, ...]]:
    """Launches the kernel with data of its own in a session of its own.

    Returns the number of this process, when its first launch began and its last one ended, and what differs from NumPy.
    """
    rng = np.random.default_rng(seed)
    negative, failed, programs, are_right = 0, 0, 0, True
    large: list[tuple[int, int]] = []
    began = time.time()
    with probe.session() as s:
        for _ in range(LAUNCHES):
            n = int(rng.integers(1, 20_000))
            given = rng.integers(-101, 100, n).astype(np.int32)
            negative += int((given < 0).sum())
            failed += int((given <= -100).sum())
            large += [(int(given[i]), int(i)) for i in np.flatnonzero(given > 90)]
            programs += triton.cdiv(n, 64)
            x = torch.from_numpy(given.copy()).to(device)
            observed[(triton.cdiv(n, 64),)](x, n, N=64)
            are_right &= bool((x.cpu().numpy() == given + 1).all())
    ended = time.time()
    records = s.records("large")
    found = sorted(zip(records["v0"].tolist(), records["v1"].tolist(), strict=True))
    holds = (
        are_right,
        s.counts() == {"negative": negative},
        s.failures() == {"above -100": failed},
        found == sorted(large),
        len(s.regions("store")) == programs,
        not s.lost(),
    )
    return os.getpid(), began, ended, tuple(what for what, good in zip(SEEN, holds, strict=True) if not good)


def several(say: Callable[[str], None], check: Callable[[str, object, object], None], device: str) -> None:
    """Runs `work` in processes at the same time, and checks what each has seen."""
    say(f"{PROCESSES} processes with a session each, {LAUNCHES} launches each, at the same time")
    with ProcessPoolExecutor(PROCESSES, mp_context=multiprocessing.get_context("spawn")) as pool:
        done = list(pool.map(work, range(PROCESSES), [device] * PROCESSES))
    check("processes", len({pid for pid, *_ in done}), PROCESSES)
    check(
        "some ran at the same time", max(began for _, began, _, _ in done) < min(ended for *_, ended, _ in done), True
    )
    for number, (*_, differs) in enumerate(done):
        check(f"process {number} differs in", differs, ())
