# SPDX-License-Identifier: Apache-2.0
"""Triton kernels compute the same on the CPU with `loop_split` on and off, bit by bit: a ragged matrix product, a
causal branch, a sliding window."""

from __future__ import annotations

import pytest
import triton
import triton.language as tl

import triton_ext as tx
from support.ragged_matmul import matmul

torch = pytest.importorskip("torch")
pytest.importorskip("triton_ext.backends.cpu.driver")

pytestmark = pytest.mark.usefixtures("on_cpu")


@triton.jit
def window(x, y, n, width, BLOCK: tl.constexpr, CAUSAL: tl.constexpr):  # noqa: PLR0917
    first = tl.program_id(0) * BLOCK
    i = tl.arange(0, BLOCK)
    q = first + i
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        k = start + i
        v = tl.load(x + k, mask=k < n, other=0.0)
        tile = v[None, :] + 0.25 * q[:, None]
        if CAUSAL:
            if start >= first:
                tile = tl.where(k[None, :] <= q[:, None], tile, 0.0)
        else:
            tile = tl.where((k[None, :] > q[:, None] - width) & (k[None, :] <= q[:, None]), tile, 0.0)
        acc += tl.sum(tile, axis=1)
    tl.store(y + q, acc)


def on_and_off(launch) -> None:
    with tx.Pipeline():
        kernel, off = launch()
    assert kernel.asm["ttir"].count("scf.for") == 1
    for no_wrap in (False, True):
        with tx.Pipeline().at_end("ttir", tx.passes.ttir.loop_split(no_wrap=no_wrap)):
            kernel, on = launch()
        assert kernel.asm["ttir"].count("scf.for") > 1
        assert torch.equal(on, off)


@pytest.mark.slow
@pytest.mark.parametrize("k", [0, 16, 17, 71])
def test_ragged_matmul(k: int) -> None:
    a, b = torch.randn(16, k), torch.randn(k, 16)

    def launch():
        c = torch.empty(16, 16)
        return matmul[(1,)](a, b, c, k, 16), c

    on_and_off(launch)


@pytest.mark.slow
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("n", "width"), [(64, 16), (80, 33), (48, 100)])
def test_window(n: int, width: int, causal: bool) -> None:
    x = torch.randn(n)

    def launch():
        y = torch.empty(n)
        return window[(n // 16,)](x, y, n, width, 16, causal), y

    on_and_off(launch)
