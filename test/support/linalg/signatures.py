# SPDX-License-Identifier: Apache-2.0
"""The types of a kernel's arguments, and the arguments as C takes them."""

from __future__ import annotations

import ctypes
from functools import partial

import torch
import triton

_TYPES = {
    torch.int8: "*i8", torch.uint8: "*u8", torch.int16: "*i16", torch.int32: "*i32", torch.int64: "*i64",
    torch.float16: "*fp16", torch.bfloat16: "*bf16", torch.float32: "*fp32", torch.float64: "*fp64",
    torch.bool: "*i1", torch.float8_e4m3fn: "*fp8e4nv", torch.float8_e5m2: "*fp8e5",
}  # fmt: skip


def _kind(value: object) -> str:
    if isinstance(value, torch.Tensor):
        return _TYPES[value.dtype]
    if isinstance(value, float):
        return "fp32"
    assert isinstance(value, int)
    return "i32" if -(2**31) <= value < 2**31 else "i64"


def _half(dtype: torch.dtype, value: float) -> ctypes.c_float:
    """Returns a float whose low 16 bits are `value`: a vector register passes both."""
    return ctypes.c_float.from_buffer(ctypes.c_uint32(torch.tensor(value, dtype=dtype).view(torch.uint16).item()))


#: What makes C's argument of a number.
SCALARS = {
    "fp16": partial(_half, torch.float16), "bf16": partial(_half, torch.bfloat16),
    "fp32": ctypes.c_float, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
}  # fmt: skip


def signature_of(kernel: triton.JITFunction, arguments: dict[str, object]) -> dict[str, object]:
    """Returns the types of arguments, and the values of those that are constants."""
    constants = {kernel.arg_names[i] for i in kernel.constexprs}
    annotated = {parameter.name: parameter.annotation_type for parameter in kernel.params}
    return {n: v if n in constants or v is None else annotated[n] or _kind(v) for n, v in arguments.items()}
