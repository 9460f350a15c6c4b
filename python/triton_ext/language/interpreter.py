# SPDX-License-Identifier: Apache-2.0
"""Calls under ``TRITON_INTERPRET=1``: the NumPy implementation that a declaration brings."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import triton.language as tl

from ..support.shown import shown
from .errors import LanguageError


def is_interpreted(args: Any) -> bool:
    """Returns whether Triton's interpreter makes a call with `args`.

    A tensor among the arguments shows it. Without one, the answer is whether the interpreter is switched on.
    """
    from triton import knobs

    values = [value for value in args if isinstance(value, tl.tensor)]
    if values:
        return hasattr(values[0].handle, "data")
    return bool(knobs.runtime.interpret)


def run(
    function: Callable[..., Any],
    signature: inspect.Signature,
    arguments: Mapping[str, Any],
    types: tuple[list[Any], bool] | None,
) -> Any:
    """Calls `function` with arrays in the place of tensors, and returns what it returns as tensors.

    A scalar is an array without dimensions, bfloat16 comes as float32, float8 as its bits, and a pointer as its
    address (``uint64``).

    Args:
        function: the implementation; it has the parameters of the declaration.
        signature: the signature of the declaration.
        arguments: the arguments of the call, by parameter.
        types: the result types, and whether the result is a tuple; None if the arrays have the types.
    """
    args: list[Any] = []
    keywords: dict[str, Any] = {}
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            args += map(_array, arguments[name])
        elif parameter.kind is parameter.KEYWORD_ONLY:
            keywords[name] = _array(arguments[name])
        else:
            args.append(_array(arguments[name]))
    returned = function(*args, **keywords)
    if returned is None or hasattr(returned, "__enter__"):
        return returned if returned is not None else contextlib.nullcontext()
    values = returned if isinstance(returned, tuple) else (returned,)
    known = types[0] if types is not None else [None] * len(values)
    if len(known) != len(values):
        raise LanguageError(f"{shown(function)} returned {len(values)} values, the declaration has {len(known)}")
    flat = [item for value in arguments.values() for item in (value if isinstance(value, tuple) else (value,))]
    tensors = [item for item in flat if isinstance(item, tl.tensor)]
    wrapped = tuple(_tensor(value, type_, tensors) for value, type_ in zip(values, known, strict=True))
    return wrapped if isinstance(returned, tuple) else wrapped[0]


def _array(value: Any) -> Any:
    import numpy as np  # which Triton needs for its interpreter only

    if isinstance(value, tl.constexpr):
        value = value.value
    if isinstance(value, tuple | list | tl.tuple):
        return tuple(map(_array, value))
    if not isinstance(value, tl.tensor):
        return value
    data = value.handle.data
    if value.dtype.scalar == tl.bfloat16:
        data = (data.astype(np.uint32) << 16).view(np.float32)
    return data if value.type.is_block() else data.reshape(())


def _tensor(value: Any, type_: Any, tensors: list[Any]) -> Any:
    """`value` as a tensor of `type_`; if that is None, the array and the `tensors` of the call determine the type."""
    import numpy as np
    from triton.runtime.interpreter import TensorHandle, _get_np_dtype

    if isinstance(value, tl.core.base_value):
        return value
    array = np.asarray(value)
    scalar = type_.scalar if type_ is not None else None
    if scalar is None:
        alike = [t.dtype.scalar for t in tensors if _array(t).dtype == array.dtype]
        scalar = alike[0] if alike else _of_array(array)
    if scalar == tl.bfloat16:
        bits = array.astype(np.float32).view(np.uint32)
        rounded = bits + 0x7FFF + ((bits >> 16) & 1)  # to nearest, ties to even
        nan = np.isnan(array.astype(np.float32))
        array = np.where(nan, 0x7FC0, rounded >> 16).astype(np.uint16)
    array = array.astype(_get_np_dtype(scalar))
    shape = list(array.shape)
    return tl.tensor(
        TensorHandle(array.reshape(shape or [1]), scalar), tl.block_type(scalar, shape) if shape else scalar
    )


def _of_array(array: Any) -> Any:
    names = {"bool": "int1", "float16": "fp16", "float32": "fp32", "float64": "fp64"}
    name = names.get(array.dtype.name, array.dtype.name)
    try:
        return tl.dtype(name)
    except AssertionError:
        raise LanguageError(f"tensors have no elements of NumPy's type {array.dtype}") from None
