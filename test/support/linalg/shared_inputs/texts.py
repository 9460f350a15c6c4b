# SPDX-License-Identifier: Apache-2.0
"""Inputs that are IR: of the dialect `tts`, or with what kernels or the interpreter cannot have.

Each is a function `f` on pointers, of which the last is to what it writes. torch computes the same.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch

import triton_ext as tx
from support.linalg import execute

#: The first way, by way of tts, and by way of tts with memrefs in place of pointers.
Way = Literal["first", "structured", "memref"]


@dataclass(frozen=True)
class Text:
    """A module, its arguments from a seed, and what the last of them is afterwards."""

    names: tuple[str, ...]
    module: str
    arguments: Callable[[torch.Generator], tuple[torch.Tensor, ...]]
    expected: Callable[..., torch.Tensor]
    rtol: float = 0
    #: A file in C with functions that the module calls.
    source: str = ""
    ways: tuple[Way, ...] = ("first", "structured", "memref")
    #: The passes, where the function takes memrefs already.
    pipeline: str = ""


TEXTS: dict[str, Text] = {}


def add(name: str, *stands_for: str, **fields: Any) -> None:
    """Makes a module an input that stands for tests of triton-shared with these names."""
    assert name not in TEXTS
    if "pipeline" in fields:
        fields["ways"] = ("memref",)
    TEXTS[name] = Text(stands_for, **fields)


def integers(generator: torch.Generator, *shape: int, dtype: torch.dtype = torch.int32) -> torch.Tensor:
    return torch.randint(-99, 100, shape, generator=generator).to(dtype)


def range_of(size: int) -> str:
    """Returns the operation whose result %i has the numbers from 0 to `size`."""
    return f"%i = tt.make_range {{end = {size} : i32, start = 0 : i32}} : tensor<{size}xi32>"


def pointers(base: str, to: str, size: int, dtype: str) -> str:
    """Returns the operations whose result, `to` followed by an s, points to `size` elements from `base` on."""
    types = f"tensor<{size}x!tt.ptr<{dtype}>>"
    return f"""%{to} = tt.splat %{base} : !tt.ptr<{dtype}> -> {types}
  %{to}s = tt.addptr %{to}, %i : {types}, tensor<{size}xi32>"""


def run(name: str, seed: int, way: Way, directory: Path) -> tuple[torch.Tensor, torch.Tensor]:
    """Converts an input, runs it beside guard pages, and returns what it writes and what it should write."""
    text = TEXTS[name]
    via: Literal["structured"] | None = None if way == "first" else "structured"
    pointers: Literal["i64", "memref"] = "memref" if way == "memref" else "i64"
    # The first way knows no operation of tts: they become Triton's before.
    module = text.module if via or "tts." not in text.module else tx.opt(text.module, "lower-structured")
    lowered = (
        tx.opt(module, text.pipeline)
        if text.pipeline
        else tx.linalg.convert(module, lowered=True, via=via, pointers=pointers)
    )
    more = []
    if text.source:
        more = [directory / "more.c"]
        more[0].write_text(text.source)
    function = execute.build(execute.to_llvm(lowered), name, *more).f
    arguments = text.arguments(torch.Generator().manual_seed(seed))
    expected = text.expected(*(argument.clone() for argument in arguments))
    memory = [execute.Guarded(argument, at_end=seed % 2 == 0) for argument in arguments]
    grid, program = (1, 1, 1), (0, 0, 0)
    with execute.through_linalg(at_end=seed % 2 == 0, via=via, pointers=pointers):
        addresses = [value for m in memory for value in execute.pointer_to(m.address, m.tensor.numel())]
    function(*addresses, *map(ctypes.c_int32, (*grid, *program)))
    for guarded in memory:
        guarded.copy_back()
    return arguments[-1], expected
