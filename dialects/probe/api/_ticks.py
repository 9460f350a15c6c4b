# SPDX-License-Identifier: Apache-2.0
"""The time-stamp counter of this machine's processor, read by a kernel."""

from __future__ import annotations

import numpy as np
import triton
import triton.language as tl

from triton_ext import probe


@triton.jit
def _read(result):
    tl.store(result, probe.clock())


def ticks() -> int:
    """Returns the counter."""
    result = np.zeros(1, np.int64)
    with probe.pipeline():
        _read[(1,)](result)
    return int(result[0])
