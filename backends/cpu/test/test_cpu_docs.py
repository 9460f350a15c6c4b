# SPDX-License-Identifier: Apache-2.0
"""docs/cpu.md lists for every Triton operation whether it is supported, and the list is correct."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl
from triton.language import core

from triton_ext.loading.host import find_triton

DOCS = Path(__file__).parents[3] / "docs" / "cpu.md"


def table() -> dict[str, str]:
    """Returns the column ``supported`` of the table, by operation."""
    rows = re.findall(r"^\| (`tt\.[^|]*) \| (\w+) \|", DOCS.read_text(), re.MULTILINE)
    return {name: supported for names, supported in rows for name in re.findall(r"`tt\.([\w.]+)`", names)}


def test_every_operation_is_listed() -> None:
    ops = find_triton().include_dir / "triton" / "Dialect" / "Triton" / "IR" / "TritonOps.td"
    declared = set(re.findall(r'TT_Op<\s*"([\w.]+)"', ops.read_text()))
    assert set(table()) == declared


@triton.jit
def assembly(x):
    i = tl.arange(0, 32)
    v = tl.load(x + i)
    tl.store(x + i, tl.inline_asm_elementwise("mov $0, $1;", "=r,r", [v], dtype=tl.int32, is_pure=True, pack=1))


@core.extern
def of_another_library(x, _semantic=None):
    table = {(core.dtype("int32"),): ("twice", core.dtype("int32"))}
    return core.extern_elementwise("", "", [x], table, is_pure=True, _semantic=_semantic)


@triton.jit
def external(x):
    i = tl.arange(0, 32)
    tl.store(x + i, of_another_library(tl.load(x + i)))


@pytest.mark.parametrize(("name", "kernel"), [("elementwise_inline_asm", assembly), ("extern_elementwise", external)])
def test_what_is_not_supported_says_so(name: str, kernel: Callable[..., None]) -> None:
    assert table()[name] in ("no", "partly")
    with pytest.raises(RuntimeError, match=rf"test_cpu_docs\.py:\d+:\d+: 'tt\.{name}': "):
        kernel[(1,)](torch.zeros(32, dtype=torch.int32))  # type: ignore[index]


def test_nothing_else_is_missing() -> None:
    assert {name for name, supported in table().items() if supported != "yes"} == {
        "elementwise_inline_asm",
        "extern_elementwise",
    }
