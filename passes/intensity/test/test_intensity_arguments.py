# SPDX-License-Identifier: Apache-2.0
"""`tx.intensity`: the arguments of a launch: numbers, descriptors, tuples, and those that heuristics compute."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import triton
import triton.language as tl

import triton_ext as tx
from support.intensity import kernels
from support.intensity.found import found
from triton_ext.errors import TritonExtError


@triton.jit
def flagged(x, f):
    tl.store(x, 1.0, mask=f)


def test_integers_of_numpy_and_unsigned_ones() -> None:
    add = found(kernels.add, BLOCK=64)
    for grid in (np.int64(2), (np.int32(2),), np.array([2])):
        assert add.loads(n=np.int64(100), grid=grid) == 800
    with pytest.raises(TritonExtError, match=r"'n' is 3\.5, which is not an integer"):
        add.loads(n=3.5, grid=1)
    with pytest.raises(TritonExtError, match="one to three integers"):
        add.loads(n=3, grid=(0.5,))
    assert (
        tx.intensity(flagged, signature={"x": "*fp32", "f": "i1"}, target="cuda:90").stores(f=np.bool_(True), grid=1)
        == 4
    )
    unsigned = found(kernels.add, types={"n": "u32"}, BLOCK=64)
    assert unsigned.loads(n=100, grid=2) == 800
    assert unsigned.loads(n=3 * 10**9, grid=2).mark == "unknown"
    for n in (-1, 2**32):
        with pytest.raises(TritonExtError, match=f"'n' is {n}, which its type u32 cannot hold"):
            unsigned.loads(n=n, grid=1)


def test_arguments_of_a_launch() -> None:
    torch = pytest.importorskip("torch")
    x = torch.empty(100)
    sampled = tx.intensity(kernels.add, x, x, x, 100, BLOCK=64, target="cuda:90")
    assert sampled.bytes(grid=2) == 1200
    assert sampled.bytes(grid=2, n=50) == 600


def test_descriptors_of_the_host() -> None:
    @triton.jit
    def copy(source, target):
        at = triton.language.program_id(0) * 32
        target.store([at, 0], source.load([at, 0]))

    kind = "tensordesc<fp16[32, 64]>"
    shapes = {"source": SimpleNamespace(shape=(40, 50)), "target": SimpleNamespace(shape=(30, 20))}
    for target in ("cuda:90", "cuda:80"):  # with TMA, and as pointers
        copied = tx.intensity(copy, signature={"source": kind, "target": kind}, target=target)
        assert "source.shape.1" in str(copied.expression("loads"))
        assert copied.loads(**shapes, grid=2) == 2 * 40 * 50
        assert copied.stores(**shapes, grid=2) == 2 * 30 * 20
    with pytest.raises(TritonExtError, match=r"depends on source.shape.0, source.shape.1 \(fix: source=…"):
        copied.loads(grid=2)


@triton.heuristics({"B": lambda args: triton.next_power_of_2(args["n"]), "HALF": lambda args: args["B"] // 2})
@triton.jit
def heuristic(x, n, B: tl.constexpr, HALF: tl.constexpr):
    i = tl.arange(0, HALF)
    tl.store(x + i, 1.0, mask=i < n)


def test_heuristics_give_constexprs() -> None:
    torch = pytest.importorskip("torch")
    x = torch.empty(100)
    for sampled in (
        tx.intensity(heuristic, x, 100, target="cuda:90"),
        tx.intensity(heuristic, x, n=100, target="cuda:90"),
    ):
        assert sampled.stores(grid=1) == 4 * 64
    model = tx.intensity.perf_model(heuristic, "H200", target="cuda:90")
    assert 0 < model(grid=(1,), x=x, n=100) < 1


@triton.jit
def tupled(pair, sizes, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(pair[1] + i, tl.load(pair[0] + i, mask=i < sizes[0], other=0), mask=i < sizes[1])


def test_tuples_as_arguments() -> None:
    torch = pytest.importorskip("torch")
    x = torch.empty(100)
    sampled = tx.intensity(tupled, (x, x), (50, 40), B=64, target="cuda:90")
    assert sampled.loads(grid=1) == 4 * 50
    assert sampled.stores(grid=1) == 4 * 40
