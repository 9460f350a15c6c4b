# SPDX-License-Identifier: Apache-2.0
"""`tx.linalg` by way of `tts`: the argument `via` and the pass make the same of a kernel."""

from __future__ import annotations

from typing import Any

import pytest
import triton
import triton.language as tl

import triton_ext as tx

linalg: Any = pytest.importorskip("triton_ext.linalg")


@triton.jit
def rows(x, indices, out, n, M: tl.constexpr, N: tl.constexpr):  # noqa: PLR0917
    i, j = tl.arange(0, M), tl.arange(0, N)
    tile = tl.load(x + tl.load(indices + i)[:, None] * N + j[None, :], mask=j[None, :] < n, other=0)
    tl.store(out + (i % 5)[:, None] * N + j[None, :], tile)


SIGNATURE = "*fp32, *i32, *fp32, i32, 8, 16"


@pytest.mark.slow
def test_via_is_the_pass() -> None:
    ttir: list[str] = []
    p = tx.Pipeline().at_end("ttir", lambda module: ttir.append(str(module)))
    p.edits[0].entries[0].function.cache_key = "ttir"  # the list that it appends to has no cache key
    compiled = linalg.compile(rows, SIGNATURE, via="structured", pipeline=p)
    assert compiled.strip() == linalg.convert(ttir[0], via="structured").strip()
    # Each row is a view, as in the first way, of which the text differs.
    first = linalg.convert(ttir[0])
    for text in (compiled, first):
        assert "linalg_ext.gather" not in text
        assert "memref<1x?xf32" in text
    assert first.strip() != compiled.strip()
    assert "linalg_ext" not in linalg.compile(rows, SIGNATURE, via="structured", lowered=True)
    assert "linalg_ext" not in linalg.convert(ttir[0], via="structured", lowered=True)


@triton.jit
def tile(x, n, i):
    block = tl.make_tensor_descriptor(x, [n, n], [n, 1], [8, 16])
    block.store([i, i], block.load([i, i]) * 2)


def test_descriptors() -> None:
    """Descriptors become operations of `tts`, or, if asked for, pointers; the stage and the pass agree."""
    for descriptors, structured in (("direct", 1), ("pointers", 0)):
        seen: list[str] = []
        ttir: list[str] = []
        look = tx.Pipeline().after("linalgir.triton_to_structured", lambda module, seen=seen: seen.append(str(module)))
        look = look.at_end("ttir", lambda module, ttir=ttir: ttir.append(str(module)))
        for edit in look.edits:
            edit.entries[0].function.cache_key = descriptors
        text = linalg.compile(tile, "*fp32, i32, i32", via="structured", descriptors=descriptors, pipeline=look)
        assert seen[0].count("tts.load") == structured
        assert text.strip() == linalg.convert(ttir[0], via="structured", descriptors=descriptors).strip()
        assert "linalg_ext.gather" not in text
        staged = linalg.convert(ttir[0], via="structured", descriptors=descriptors, pipeline=tx.Pipeline())
        assert text.strip() == staged.strip()


def test_descriptors_otherwise() -> None:
    with pytest.raises(tx.TritonExtError, match=r"descriptors: expected one of direct, pointers, got 'blocks'"):
        linalg.convert("", via="structured", descriptors="blocks")
    with pytest.raises(tx.TritonExtError, match=r"always become pointers.*via=\"structured\""):
        linalg.compile(tile, "*fp32, i32, i32", descriptors="pointers")
    with pytest.raises(tx.TritonExtError, match=r"set the argument 'descriptors'"):
        linalg.compile(tile, "*fp32, i32, i32", options={"direct_descriptors": False})


def test_another_way() -> None:
    message = r"via: expected one of structured, or None, got 'straight'"
    with pytest.raises(tx.TritonExtError, match=message):
        linalg.compile(rows, SIGNATURE, via="straight")
    with pytest.raises(tx.TritonExtError, match=message):
        linalg.convert("", via="straight")
