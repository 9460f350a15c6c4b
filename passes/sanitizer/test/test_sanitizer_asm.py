# SPDX-License-Identifier: Apache-2.0
"""What ``kernel.asm`` has of a kernel that was compiled in a block."""

from __future__ import annotations

import numpy as np
import pytest
import triton
import triton.language as tl

import triton_ext as tx
from support.probe.native import native_backend


@triton.jit
def double(x, y, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.load(x + i, mask=i < n, other=0) * 2, mask=i < n)


@pytest.mark.slow
def test_assembly_has_the_checks_of_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_DEFAULT_BACKEND", native_backend())
    monkeypatch.setattr(triton.runtime.driver, "_active", None)
    x, y = np.ones(64, np.float32), np.ones(64, np.float32)
    plain = double[(1,)](x, y, 60, N=64)
    texts = {}
    for checks in ("bounds", "arith"):
        with tx.sanitize(checks):
            kernel = double[(1,)](x, y, 60, N=64)
            assert [*kernel.asm] == [*plain.asm]
            assert dict.__getitem__(kernel.asm, "asm") is None  # made on demand
            texts[checks] = kernel.asm["asm"]
        assert kernel.asm["asm"] is texts[checks]
    assert texts["bounds"] == plain.asm["asm"]  # the host compares the corners
    assert len(texts["arith"].splitlines()) > len(plain.asm["asm"].splitlines())
