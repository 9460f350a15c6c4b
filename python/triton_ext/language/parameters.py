# SPDX-License-Identifier: Apache-2.0
"""Reads a declaration's signature: which parameters are operands, which are attributes, and what is returned."""

from __future__ import annotations

import enum
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import triton.language as tl

from ..support.shown import shown
from .attr import Attr, auto
from .errors import LanguageError


class Kind(enum.Enum):
    """The kind of a parameter: operand, attribute, and so on."""

    OPERAND = "operand"
    OPTIONAL = "optional operand"
    VARIADIC = "variadic operand"
    ATTRIBUTE = "attribute"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a declaration.

    Attributes:
        name: in Python; an attribute is called the same in MLIR, without an underscore at the end.
        kind: what it becomes.
        attr: how an attribute is written.
        cls: the class of an operand's value.
    """

    name: str
    kind: Kind
    attr: Attr = auto
    cls: type = tl.tensor


#: What is returned is inferred by the operation: one value, several (and how many), or as many as it has.
@dataclass(frozen=True)
class Inferred:
    """The operation infers its result types.

    Attributes:
        count: how many results the declaration announces; None if it does not say.
        several: whether they are returned as a tuple.
    """

    count: int | None = None
    several: bool = False


def resolved(function: Callable[..., Any], where: str, names: Mapping[str, object]) -> inspect.Signature:
    """Returns the signature of `function` with its annotations as objects.

    Args:
        function: the declaration.
        where: what to call it in errors.
        names: the local variables around it, which annotations may name.

    Raises:
        LanguageError: an annotation cannot be evaluated.
    """
    try:
        return inspect.signature(function, eval_str=True, locals=names)
    except (NameError, AttributeError, SyntaxError, TypeError) as error:
        raise LanguageError(f"{where}: an annotation cannot be evaluated: {error}") from None


def parameters_of(signature: inspect.Signature, where: str) -> list[Parameter]:
    """Returns the parameters of a declaration in order.

    Raises:
        LanguageError: one has an annotation that says neither operand nor attribute.
    """
    found = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            raise LanguageError(f"{where}: **{parameter.name} is not supported: name every parameter")
        one = _parameter(parameter.name, parameter.annotation, where)
        if parameter.kind is parameter.VAR_POSITIONAL:
            if one.kind is not Kind.OPERAND:
                raise LanguageError(f"{where}: *{parameter.name} has to be annotated with tl.tensor")
            one = Parameter(one.name, Kind.VARIADIC, cls=one.cls)
        found.append(one)
    return found


def _parameter(name: str, annotation: Any, where: str) -> Parameter:
    if isinstance(annotation, Attr):
        return Parameter(name, Kind.ATTRIBUTE, annotation)
    if annotation is tl.constexpr:
        return Parameter(name, Kind.ATTRIBUTE)
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        from .attr import choice

        return Parameter(name, Kind.ATTRIBUTE, choice(annotation))
    if isinstance(annotation, type) and issubclass(annotation, tl.core.base_value):
        return Parameter(name, Kind.OPERAND, cls=annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        attrs = [one for one in arguments[1:] if isinstance(one, Attr)]
        return _parameter(name, attrs[0] if attrs else arguments[0], where)
    if origin in (typing.Union, types.UnionType):
        (inner, *others) = [one for one in arguments if one is not type(None)]
        one = _parameter(name, inner, where)
        if not others and len(arguments) == 2:
            return Parameter(name, Kind.OPTIONAL, cls=one.cls) if one.kind is Kind.OPERAND else one
    if origin in (list, tuple) and arguments:
        one = _parameter(name, arguments[0], where)
        if one.kind is Kind.OPERAND and arguments[1:] in ((), (...,)):
            return Parameter(name, Kind.VARIADIC, cls=one.cls)
    wanted = "tl.tensor (or `| None`), tl.constexpr or one of tx.language.attr"
    if annotation is inspect.Parameter.empty:
        raise LanguageError(f"{where}: parameter '{name}' has no annotation, expected {wanted}")
    raise LanguageError(f"{where}: parameter '{name}' is annotated with {shown(annotation)}, expected {wanted}")


def returned(annotation: Any, where: str) -> Any:
    """Returns what a declaration's return annotation says: `Inferred`, or one or several types; () for nothing.

    Raises:
        LanguageError: it says none of them.
    """
    if annotation is inspect.Signature.empty:
        return Inferred()
    if annotation is None or annotation is type(None):
        return ()
    if annotation is tl.tensor:
        return Inferred(1)
    if isinstance(annotation, tl.core.base_type):
        return annotation
    if typing.get_origin(annotation) is tuple:
        items = typing.get_args(annotation)
        if all(item is tl.tensor for item in items):
            return Inferred(len(items), several=True)
        if all(isinstance(item, tl.core.base_type) for item in items):
            return items
    if isinstance(annotation, type) and issubclass(annotation, tl.core.base_value):
        raise LanguageError(f"{where}: returns {annotation.__name__}, whose type result= has to say")
    raise LanguageError(
        f"{where}: returns {shown(annotation)}, expected None, tl.tensor, a type such as tl.float32, or a tuple of "
        "these"
    )
