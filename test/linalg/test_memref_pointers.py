# SPDX-License-Identifier: Apache-2.0
"""Kernels whose pointers are memrefs, or those of `tptr`, compute what they do otherwise."""

from __future__ import annotations

import ctypes
import re
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_ext as tx
from support import pointer_shapes
from support.interpreter import pointer_shapes_in_interpreter
from support.linalg import execute
from support.linalg.kernels import CASES, check

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("stock")]

#: Scalar pointers are those of `tptr` before everything else is converted.
TPTR = tx.Pipeline().at_start("linalgir", tx.passes.ttir.triton_to_ptr())
TPTR = TPTR.after("linalgir:wrap_func_body_with_single_block#2", tx.passes.ttir.reconcile_ptr_casts())
TPTR = TPTR.after("linalgir:wrap_func_body_with_single_block#2", tx.passes.ttir.lower_tptr())
#: All pointers are, which `tptr` lowers before everything else is converted.
TENSORS = tx.Pipeline().at_start(
    "linalgir",
    tx.passes.ttir.triton_to_ptr(tensors=True),
    tx.passes.ttir.reconcile_ptr_casts(),
    tx.passes.ttir.lower_tptr(),
)
WAYS: dict[str, dict[str, Any]] = {
    "memref": {"via": "structured", "pointers": "memref"},
    "tptr": {"pipeline": TPTR},
    "tensors": {"pipeline": TENSORS},
}


@triton.jit
def walk(x, table, out, n, flip):
    """Reads scalars through pointers that loops and branches choose, with masks and casts."""
    p, total = x, 0
    for turn in range(n):
        p += tl.load(table + turn)
        if turn % 3 == flip:
            p = x + turn
        total = total * 3 + tl.load(p, mask=turn != 2, other=7) + tl.load(p + 1, mask=turn != 4, other=0)
        tl.store(out + turn, total, mask=turn % 2 == 0)
    bits = tl.load(x.to(tl.pointer_type(tl.int16), bitcast=True) + n)
    far = (x.to(tl.int64) + 4 * n).to(tl.pointer_type(tl.int32))
    q = x if flip > 0 else far
    turn = 0
    while turn < flip:
        q += 2
        turn += 1
    tl.store(out + n, bits + tl.load(q))
    i = tl.arange(0, 8)
    tl.store(out + n + 1 + i, tl.load(q + i) + total)


def walked(x: np.ndarray, table: np.ndarray, n: int, flip: int) -> np.ndarray:
    """Returns what the kernel stores into zeros."""
    out = np.zeros(n + 9, np.int32)
    p = total = np.int64(0)
    for turn in range(n):
        p = turn if turn % 3 == flip else p + table[turn]
        total = np.int32(total * 3 + (x[p] if turn != 2 else 7) + (x[p + 1] if turn != 4 else 0))
        out[turn] = total if turn % 2 == 0 else 0
    q = (0 if flip > 0 else n) + 2 * max(flip, 0)
    out[n] = x.view(np.int16)[n] + x[q]
    out[n + 1 :] = x[q : q + 8] + total
    return out


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(6))
def test_scalars(seed: int, way: str) -> None:
    rng = np.random.default_rng(seed)
    x, table = rng.integers(-99, 99, 64).astype(np.int32), rng.integers(0, 4, 8).astype(np.int32)
    n, flip = int(rng.integers(0, 8)), seed % 4 - 1
    found = torch.zeros(n + 9, dtype=torch.int32)
    with execute.through_linalg(at_end=seed % 2 == 0, **WAYS[way]):
        walk[(1,)](torch.from_numpy(x), torch.from_numpy(table), found, n, flip)
    assert np.array_equal(found.numpy(), walked(x, table, n, flip))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", list(CASES)[::17])
def test_case(name: str, way: str) -> None:
    with execute.through_linalg(at_end=True, **WAYS[way]):
        check(name, 0)


SEEDS = range(200, 204)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[list[torch.Tensor]]:
    """Returns what the interpreter makes of each random access."""
    return pointer_shapes_in_interpreter(SEEDS, tmp_path_factory.mktemp("interpreted"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", SEEDS)
def test_shape(seed: int, way: str, expected: list[list[torch.Tensor]]) -> None:
    case = pointer_shapes.draw(seed)
    with execute.through_linalg(at_end=True, **WAYS[way]):
        found = pointer_shapes.run(case, pointer_shapes.shapes[(1,)])
    assert all(map(torch.equal, expected[seed - SEEDS.start], found)), case


@triton.jit
def tables(table, x, y, out, n):
    """Reads through pointers that lie in memory, and through a choice between tensors of them that a loop carries."""
    i = tl.arange(0, 8)
    p = tl.load(table + i).to(tl.pointer_type(tl.int32))
    q = tl.where(i % 3 == 0, p, y + i)
    total = tl.zeros((8,), tl.int32)
    for turn in range(n):
        total = total * 3 + tl.load(q, mask=i != turn, other=5)
        q += turn
    both = tl.cat(x + i, q)
    halves = tl.trans(tl.broadcast_to(both[:, None], (16, 2)))
    tl.store(out + tl.arange(0, 2)[:, None] * 16 + tl.arange(0, 16)[None, :], tl.load(halves))
    tl.store(out + 32 + i, total, mask=i < 7)
    bytes_ = tl.where(i % 3 == 0, q.to(tl.int64) - p.to(tl.int64), 0)
    tl.store((out + 40 + i).to(tl.pointer_type(tl.int16), bitcast=True), bytes_.to(tl.int16))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(4))
def test_tables(seed: int, way: str) -> None:
    rng = np.random.default_rng(seed)
    x, y = (rng.integers(-99, 99, 64).astype(np.int32) for _ in "xy")
    at, n, i = rng.integers(0, 32, 8), seed, np.arange(8)
    out = torch.zeros(64, dtype=torch.int32)
    table = torch.from_numpy(x.ctypes.data + 4 * at.astype(np.int64))
    with execute.through_linalg(at_end=seed % 2 == 0, **WAYS[way]):
        tables[(1,)](table, torch.from_numpy(x), torch.from_numpy(y), out, n)
    moved, total = sum(range(n)), np.zeros(8, np.int32)
    for turn in range(n):
        step = sum(range(turn))
        values = np.where(i % 3 == 0, x[at + step], y[i + step])
        total = total * 3 + np.where(i != turn, values, 5)
    last = np.where(i % 3 == 0, x[at + moved], y[i + moved])
    expected = np.zeros(64, np.int32)
    expected[:32] = np.tile(np.concatenate([x[:8], last]), 2)
    expected[32:39] = total[:7]
    expected.view(np.int16)[80:96:2] = np.where(i % 3 == 0, 4 * moved, 0)
    assert out.tolist() == expected.tolist()


@triton.jit(noinline=True)
def later(p, i):
    """Returns a pointer, and stores through it."""
    tl.store(p + i, i + 5)
    return p + i


@triton.jit
def calls(out, n):
    p = later(later(out, n), 2)
    tl.store(p + 1, 9)


def test_calls_pass_memrefs() -> None:
    ttir: list[str] = []
    edits = tx.Pipeline().at_end("ttir", lambda module: ttir.append(str(module)))
    edits.edits[0].entries[0].function.cache_key = "ttir"
    tx.linalg.compile(calls, "*i32, i32", pipeline=edits)
    lowered = tx.opt(
        tx.opt(ttir[0], "triton-ptr-to-memref,reconcile-ptr-casts,convert-triton-to-linalg"),
        "reconcile-ptr-casts,lower-tptr,lower-linalg-ext",
    )
    assert len(re.findall(r"func\.call|call @", lowered)) == 2
    assert re.search(r"func private @.*later.*\(%arg0: memref<\*xi32>.*-> memref<\*xi32>", lowered)


def test_only_the_first_lines_differ() -> None:
    """With memrefs, a kernel is what it is with addresses, behind the way from a memref to its address."""
    texts = [
        tx.linalg.compile(walk, "*i32, *i32, *i32, i32, i32", via="structured", pointers=p) for p in ("i64", "memref")
    ]
    assert "func.func @walk(%arg0: i64" in texts[0]
    assert "func.func @walk(%arg0: memref<*xi32>" in texts[1]
    counts = [{name: text.count(name) for name in ("aux.view", "memref.load", "scf.", "linalg.")} for text in texts]
    assert counts[0] == counts[1]
    for name in ("unrealized", "tptr.", "!ptr"):
        assert name not in texts[1]


def test_the_argument_and_the_pass() -> None:
    ttir: list[str] = []
    p = tx.Pipeline().at_end("ttir", lambda module: ttir.append(str(module)))
    p.edits[0].entries[0].function.cache_key = "ttir"
    compiled = tx.linalg.compile(walk, "*i32, *i32, *i32, i32, i32", via="structured", pointers="memref", pipeline=p)
    assert compiled.strip() == tx.linalg.convert(ttir[0], via="structured", pointers="memref").strip()
    assert "aux." not in tx.linalg.convert(ttir[0], via="structured", pointers="memref", lowered=True)


def test_wrong_arguments() -> None:
    with pytest.raises(tx.TritonExtError, match="pointers: expected one of i64, memref, got 'ptr'"):
        tx.linalg.convert("", via="structured", pointers="ptr")
    with pytest.raises(tx.TritonExtError, match=r"only by way of tts.*via=\"structured\""):
        tx.linalg.convert("", pointers="memref")


def test_a_memref_may_begin_later() -> None:
    """Only the address of the first element counts, not where the allocation begins."""
    x, out = torch.arange(64, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    lowered = tx.linalg.compile(walk, "*i32, *i32, *i32, i32, i32", via="structured", pointers="memref", lowered=True)
    function: Any = execute.build(execute.to_llvm(lowered), "walk").walk
    table = torch.zeros(8, dtype=torch.int32)
    memory = [(t.data_ptr(), t.data_ptr() + 4 * skip) for t, skip in ((x, 3), (table, 0), (out, 2))]
    memrefs = [(ctypes.c_int64 * 5)(begin, first, 0, 8, 1) for begin, first in memory]
    function(*(a for m in memrefs for a in (ctypes.c_int64(1), m)), 0, 0, *map(ctypes.c_int32, (1, 1, 1, 0, 0, 0)))
    assert out[2] == x.view(torch.int16)[6] + x[3]
    assert out[3:11].equal(x[3:11])
