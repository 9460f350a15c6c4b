# SPDX-License-Identifier: Apache-2.0
"""The types that arguments of a launch have in the kernel, as Triton's launcher chooses them."""

from __future__ import annotations

from typing import Any

from triton_ext.errors import TritonExtError

from ._memory import is_tensor, memory_of


def type_of_argument(function: Any, name: str, value: Any) -> object:
    """Returns the type of an argument, or the value of a constant, as the launcher has it."""
    parameter = next(one for one in function.params if one.name == name)
    if parameter.is_constexpr or value is None:
        return value
    if parameter.annotation_type and not _is_pointer(value):
        return str(parameter.annotation_type)
    if isinstance(value, int) and not isinstance(value, bool) and value == 1 and not parameter.do_not_specialize:
        return 1
    return _type_of(name, value)


def _type_of(name: str, value: Any) -> object:
    """Returns the type of a value; of a tuple a tuple.

    Raises:
        TritonExtError: it is a tuple with a constant.
    """
    if _is_pointer(value):
        return f"*{memory_of(value).dtype}"
    if isinstance(value, bool):
        return "u1"
    if isinstance(value, int):
        return "i32" if -(1 << 31) <= value < 1 << 31 else "i64" if -(1 << 63) <= value < 1 << 63 else "u64"
    if isinstance(value, float):
        return "fp32"
    if isinstance(value, tuple):
        if not value or any(one is None or isinstance(one, str) or hasattr(one, "value") for one in value):
            fix = "launch it, or pass a tuple of tensors and numbers"
            raise TritonExtError(f"'{name}' is a tuple with a constant, of which a description has no type", fix=fix)
        types = [_type_of(f"{name}[{i}]", one) for i, one in enumerate(value)]
        return type(value)(*types) if hasattr(value, "_fields") else tuple(types)
    from triton.runtime.jit import mangle_type

    return mangle_type(value)


def _is_pointer(value: object) -> bool:
    return is_tensor(value) and is_plain(value)


def is_plain(value: object) -> bool:
    """Whether a tensor reaches the kernel as a pointer, not as a descriptor."""
    return not hasattr(value, "block_shape")
