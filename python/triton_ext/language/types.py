# SPDX-License-Identifier: Apache-2.0
"""Types of Triton's language and their text in MLIR, in both directions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import triton.language as tl

from .errors import LanguageError

_TENSOR = re.compile(r"tensor<((?:\d+x)+)([^,]*?|!tt\.ptr<.*>)>")
_POINTER = re.compile(r"!tt\.ptr<(.*?)(?:, (\d+))?>")
#: MLIR's name of each scalar type. Integers of MLIR have no sign, so the signed ones come last and win.
_SCALARS = {
    "uint8": "i8", "uint16": "i16", "uint32": "i32", "uint64": "i64",
    "int1": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "fp16": "f16", "bf16": "bf16", "fp32": "f32", "fp64": "f64",
    "fp8e5": "f8E5M2", "fp8e4nv": "f8E4M3FN", "fp8e4b8": "f8E4M3FNUZ", "fp8e5b16": "f8E5M2FNUZ",
    "fp8e4b15": "f8E4M3B11FNUZ",
}  # fmt: skip
_OF_TEXT = {text: tl.dtype(name) for name, text in _SCALARS.items()}


def text_of_scalar(value: object) -> str | None:
    """Returns MLIR's text of a ``tl.dtype``; None if `value` is not one."""
    if isinstance(value, tl.pointer_type):
        element = text_of_scalar(value.element_ty)
        return None if element is None else f"!tt.ptr<{element}>"
    return _SCALARS.get(value.name) if isinstance(value, tl.dtype) else None


class OpaqueType(tl.core.base_type):  # type: ignore[misc]
    """The type of values that only a dialect understands; made by `opaque`.

    Attributes:
        text: the type in MLIR's syntax.
    """

    def __init__(self, text: str, ir_type: Any = None) -> None:
        self.text = text
        self._ir_type = ir_type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpaqueType) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return self.text

    def mangle(self) -> str:
        """The type in the name of a function that takes it."""
        return "O" + re.sub(r"\W", "_", self.text)

    def _flatten_ir_types(self, _builder: Any, out: list[Any]) -> None:
        assert self._ir_type is not None, "no operation has made a value of this type yet"
        out.append(self._ir_type)

    def _unflatten_ir(self, handles: list[Any], cursor: int) -> tuple[Opaque, int]:
        return Opaque(handles[cursor], OpaqueType(self.text, handles[cursor].get_type())), cursor + 1


class Opaque(tl.core.base_value):  # type: ignore[misc]
    """A value that only a dialect understands."""

    def __init__(self, handle: Any, type_: OpaqueType) -> None:
        self.handle = handle
        self.type = type_

    def _flatten_ir(self, handles: list[Any]) -> None:
        handles.append(self.handle)

    def _set_name(self, builder: Any, name: str) -> None:
        self.handle.set_loc(builder.create_name_loc(name, self.handle.get_loc()))


def opaque(text: str) -> OpaqueType:
    """The type `text`, in MLIR's syntax, as a result of a DSL function; its values can be given to others.

    Args:
        text: e.g. ``"!quant.scale<8>"``.
    """
    return OpaqueType(text)


def texts_of(types: Iterable[Any], builder: Any) -> tuple[list[str], list[int]]:
    """Flattens `types` to types of MLIR. Returns the text of each of these, and how many each of `types` has become."""
    texts: list[str] = []
    sizes = []
    for one in types:
        flat: list[Any] = []
        if isinstance(one, OpaqueType):
            flat.append(one.text)
        else:
            one._flatten_ir_types(builder, flat)
        texts += map(str, flat)
        sizes.append(len(flat))
    return texts, sizes


def wrapped(handles: Sequence[Any], types: Sequence[Any]) -> list[Any]:
    """Returns the values of `types` that `handles`, results of an operation, stand for."""
    values, cursor = [], 0
    for one in types:
        value, cursor = one._unflatten_ir(list(handles), cursor)
        values.append(value)
    return values


def inferred(handle: Any, operands: Sequence[Any]) -> Any:
    """Returns the type of a result, whose type in MLIR is known.

    Integers of MLIR have no sign: the result has that of the first operand with the same element type, and is signed if
    there is none.

    Args:
        handle: the result.
        operands: the values that the operation was built from.

    Raises:
        LanguageError: Python has no type for it.
    """
    text = str(handle.get_type())
    tensors = [value for value in operands if isinstance(value, tl.tensor)]
    for value in tensors:
        if str(value.handle.get_type()) == text:
            return value.type
    shape: list[int] = []
    element = text
    if match := _TENSOR.fullmatch(text):
        shape, element = [int(size) for size in match[1].split("x")[:-1]], match[2]
    scalar = _scalar(element, tensors)
    if scalar is None:
        return OpaqueType(text, handle.get_type())
    return tl.block_type(scalar, shape) if shape else scalar


def _scalar(text: str, tensors: Sequence[Any]) -> Any:
    for value in tensors:
        if text_of_scalar(value.type.scalar) == text:
            return value.type.scalar
    if match := _POINTER.fullmatch(text):
        element = _scalar(match[1], tensors)
        return None if element is None else tl.pointer_type(element, int(match[2] or 1))
    return _OF_TEXT.get(text)


def as_types(value: Any, where: str) -> tuple[list[Any], bool]:
    """Returns the types that a declaration or its ``result`` function names, and whether it names several.

    Raises:
        LanguageError: one of them is not a type.
    """
    several = isinstance(value, list | tuple)
    types = [] if value is None else list(value) if several else [value]
    for one in types:
        if not isinstance(one, tl.core.base_type):
            raise LanguageError(f"{where}: expected a type such as tl.float32 or x.type, got {one!r}")
    return types, several
