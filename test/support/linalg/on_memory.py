# SPDX-License-Identifier: Apache-2.0
"""Runs single operations of linalg and linalg_ext on tensors of torch."""

from __future__ import annotations

import ctypes
from typing import Any

import torch

import triton_ext as tx
from support.linalg import execute

PTR = "!llvm.ptr"
_ELEMENTS = {
    torch.float32: "f32",
    torch.float64: "f64",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int16: "i16",
    torch.int8: "i8",
}


def run(text: str, pipeline: str, *arguments: torch.Tensor | int) -> None:
    """Runs the function `f` of a module, on tensors and i32."""
    lowered = tx.opt(text, pipeline)
    function: Any = execute.build(execute.to_llvm(lowered), "f").f
    function.restype = None
    function(*(ctypes.c_void_p(a.data_ptr()) if isinstance(a, torch.Tensor) else ctypes.c_int32(a) for a in arguments))


def on_memory(operation: str, *tensors: torch.Tensor, before: str = "") -> None:
    """Runs an operation on memrefs %m0, %m1, ... of the types {0}, {1}, ..., which are these tensors.

    The passes `before` run before the lowering.
    """
    types = [f"memref<{'x'.join([*map(str, t.shape), _ELEMENTS[t.dtype]])}>" for t in tensors]
    views = [
        f"%m{i} = aux.view %p{i} to offset: [0], sizes: {list(t.shape)}, strides: {list(t.stride())} : {PTR} to {ty}"
        for i, (t, ty) in enumerate(zip(tensors, types, strict=True))
    ]
    arguments = ", ".join(f"%p{i}: {PTR}" for i in range(len(tensors)))
    body = "\n  ".join([*views, operation.format(*types), "return"])
    run(
        f"func.func @f({arguments}) {{\n  {body}\n}}\n",
        f"{before}lower-linalg-ext{{program-arguments=false}}",
        *tensors,
    )


def numbers(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    if dtype.is_floating_point:
        return torch.randn(shape, generator=generator, dtype=dtype)
    return torch.randint(-5, 5, shape, generator=generator, dtype=dtype)
