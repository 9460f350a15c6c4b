# SPDX-License-Identifier: Apache-2.0
"""Launches that are declared for `triton-ext lint`: ``# lint: x=fp16[n], n=2**32, BLOCK=1024, grid=cdiv(n, BLOCK)``.

Such a comment stands above a kernel and its decorators. A value is an integer, a floating-point number, a text,
``True``, ``False``, ``None``, a tensor (an element type with a shape: ``fp16[M, K]``, with strides:
``fp16[(M, K), (1, M)]``) or an expression of these with ``+ - * // % **`` and ``cdiv``. Names in it are those of other
values of the example.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from triton_ext.errors import TritonExtError

from ._memory import Tensor, type_of

_PREFIX = re.compile(r"#\s*lint:\s*(.*)")
#: The most bits of an integer in an example.
_MOST_BITS = 128


class _Missing(Exception):  # noqa: N818
    """Is raised if a name has no value yet."""


def _power(a: int, b: int) -> int:
    if b < 0 or abs(a).bit_length() * b > 8 * _MOST_BITS:
        raise TritonExtError(f"{a}**{b} is too large for an example")
    return int(a**b)


def _cdiv(a: int, b: int) -> int:
    return -(-a // b)


_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}


def declared_above(lines: list[str], line: int) -> list[str]:
    """Returns the examples in the comments directly above a line, from top to bottom.

    Args:
        lines: the lines of the file.
        line: the first line of the kernel, or of its decorators, from 1.
    """
    found: list[str] = []
    at = line - 2
    while at >= 0 and lines[at].lstrip().startswith("#"):
        if match := _PREFIX.match(lines[at].strip()):
            found.insert(0, match[1])
        at -= 1
    return found


def parsed(text: str, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Returns the values of an example by name.

    Args:
        text: the example.
        known: values that take the place of those in the example; it may use their names.

    Raises:
        TritonExtError: it is not an example.
    """
    try:
        call = ast.parse(f"f({text})", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise TritonExtError(f"'{text}' is not an example: {error}", fix="NAME=VALUE, NAME=VALUE") from None
    if not isinstance(call, ast.Call) or call.args or any(one.arg is None for one in call.keywords):
        raise TritonExtError(f"'{text}' is not an example", fix="NAME=VALUE, NAME=VALUE")
    names = dict(known or {})
    left = {str(one.arg): one.value for one in call.keywords if one.arg not in names}
    found: dict[str, Any] = {str(one.arg): names[one.arg] for one in call.keywords if one.arg in names}
    while left:
        before = len(left)
        for name, value in list(left.items()):
            try:
                found[name] = names[name] = _value(value, names)
            except _Missing as missing:
                problem = str(missing)
            except (TypeError, ZeroDivisionError, ValueError) as error:
                raise TritonExtError(f"'{name}={ast.unparse(value)}' has no value: {error}") from None
            else:
                del left[name]
        if len(left) == before:
            raise TritonExtError(f"'{text}' needs a value for '{problem}'")
    return found


def grid_of(text: str, known: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], Any] | None:
    """Returns the grid of an example as a function of the arguments; None if the example has no grid.

    Args:
        text: the example.
        known: its values, for names that are not arguments.
    """
    call = ast.parse(f"f({text})", mode="eval").body
    assert isinstance(call, ast.Call)
    node = next((one.value for one in call.keywords if one.arg == "grid"), None)
    return None if node is None else lambda meta: _value(node, {**known, **meta})


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str | bool | None):
        return node.value
    if isinstance(node, ast.Name):
        if node.id not in names:
            raise _Missing(node.id)
        return names[node.id]
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(_value(one, names) for one in node.elts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, names)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        result = _OPERATORS[type(node.op)](_value(node.left, names), _value(node.right, names))
        if isinstance(result, int) and result.bit_length() > _MOST_BITS:
            raise TritonExtError(f"an integer of more than {_MOST_BITS} bits in an example")
        return result
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "cdiv" and not node.keywords:
        return _cdiv(*(_value(one, names) for one in node.args))
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        shape = _value(node.slice, names)
        shape = shape if isinstance(shape, tuple) else (shape,)
        strides = None
        if shape and all(isinstance(part, tuple) for part in shape):
            shape, strides = (*shape, None)[:2]
        return Tensor(shape, strides, type_of(node.value.id))
    raise TypeError(f"'{ast.unparse(node)}' is not allowed in an example")
