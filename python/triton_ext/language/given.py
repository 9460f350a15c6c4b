# SPDX-License-Identifier: Apache-2.0
"""The values that a call of a DSL function, compiled or interpreted, gives to the parameters; refuses wrong kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import triton.language as tl

from .errors import LanguageError
from .parameters import Kind, Parameter
from .values import constant, holds_value, plain, shown_value


def values_of(where: object, parameter: Parameter, value: Any) -> list[Any]:
    """Returns the values of a parameter that is an operand: one, several or none.

    Args:
        where: what errors begin with.
        parameter: the parameter.
        value: what the call gives for it.

    Raises:
        LanguageError: the parameter is variadic, and `value` is not a tuple.
    """
    value = plain(value)
    if parameter.kind is Kind.VARIADIC:
        if not isinstance(value, tuple | list | tl.tuple):
            raise LanguageError(f"{where}: '{parameter.name}': expected a tuple of tensors, got {shown_value(value)}")
        return list(value)
    return [] if value is None and parameter.kind is Kind.OPTIONAL else [value]


def operand(where: object, parameter: Parameter, value: Any, semantic: Any) -> Any:
    """Returns one of `values_of` as a value of the kernel.

    Args:
        where: what errors begin with.
        parameter: the parameter.
        value: the value, or a constant.
        semantic: makes values of constants; None leaves them as they are.

    Raises:
        LanguageError: it is of another class.
    """
    value = plain(value)
    if parameter.cls is tl.tensor and isinstance(value, bool | int | float):
        return value if semantic is None else semantic.to_tensor(value)
    if not isinstance(value, parameter.cls):
        wanted = "a tensor" if parameter.cls is tl.tensor else f"a {parameter.cls.__name__}"
        raise LanguageError(f"{where}: '{parameter.name}': expected {wanted}, got {shown_value(value)}")
    return value


def attribute(where: object, parameter: Parameter, value: Any) -> str | None:
    """Returns the text of an attribute; None if it is absent.

    Args:
        where: what errors begin with.
        parameter: the parameter.
        value: as `constant` returns it.

    Raises:
        LanguageError: the value is not a constant, or not one of the attribute's kind.
    """
    if holds_value(value):
        raise LanguageError(
            f"{where}: '{parameter.name}' is an attribute: expected a constant that is known when the kernel is "
            f"compiled (tl.constexpr), got {shown_value(value)}"
        )
    try:
        return parameter.attr.text(value)
    except ValueError as error:
        raise LanguageError(f"{where}: '{parameter.name}': {error}") from None


def check(where: object, parameters: Sequence[Parameter], arguments: Mapping[str, Any]) -> None:
    """Refuses the arguments of an interpreted call that a compilation would refuse.

    Raises:
        LanguageError: for the reasons of the other functions.
    """
    for parameter in parameters:
        value = arguments[parameter.name]
        if parameter.kind is Kind.ATTRIBUTE:
            attribute(where, parameter, constant(value))
        else:
            for one in values_of(where, parameter, value):
                operand(where, parameter, one, None)
