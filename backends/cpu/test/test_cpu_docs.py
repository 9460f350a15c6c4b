# SPDX-License-Identifier: Apache-2.0
"""docs/cpu.md says of every operation of Triton whether it is supported, and what it says is so."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl

from triton_ext.host import find_triton

DOCS = Path(__file__).parents[3] / "docs" / "cpu.md"


def table() -> dict[str, str]:
    """``supported`` by operation."""
    rows = re.findall(r"^\| (`tt\.[^|]*) \| (\w+) \|", DOCS.read_text(), re.MULTILINE)
    return {name: supported for names, supported in rows for name in re.findall(r"`tt\.([\w.]+)`", names)}


def test_every_operation_is_listed() -> None:
    ops = find_triton().include_dir / "triton" / "Dialect" / "Triton" / "IR" / "TritonOps.td"
    declared = set(re.findall(r'TT_Op<\s*"([\w.]+)"', ops.read_text()))
    assert set(table()) == declared


@triton.jit
def returns_early(x):
    if x > 0:
        return x * 2
    else:
        return x


@triton.jit
def mapped(x, out):
    i = tl.arange(0, 32)
    tl.store(out + i, tl.map_elementwise(returns_early, tl.load(x + i)))


@triton.jit
def polls(x):
    tl.atomic_poll(x, 1)


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("map_elementwise", lambda: mapped[(1,)](torch.zeros(32), torch.zeros(32))),
        ("atomic_poll", lambda: polls[(1,)](torch.ones(1, dtype=torch.int32))),
    ],
)
def test_what_is_not_supported_says_so(name: str, run: Callable[[], None]) -> None:
    assert table()[name] in ("no", "partly")
    with pytest.raises(RuntimeError, match=rf"test_cpu_docs\.py:\d+:\d+: 'tt\.{name}': "):
        run()
