# SPDX-License-Identifier: Apache-2.0
"""How compile-time constants of Python become attributes of MLIR.

A parameter of a declaration is annotated with one of these: ``bins: attr.i32``, or, where a type checker is to
understand it, ``bins: Annotated[tl.constexpr, attr.i32]``. With ``tl.constexpr`` alone, the value decides, see `auto`.
"""

from __future__ import annotations

import enum
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..support.shown import shown

_Enumeration = type[enum.Enum]
_Derive = Callable[[Mapping[str, Sequence[Any]]], Any]


class Attr:
    """Turns a constant into the text of an attribute.

    Args:
        name: what a value has to be, for messages.
        text: returns the attribute in MLIR's syntax, None for no attribute; raises ValueError for a wrong value.
        key: a text that changes whenever `text` may behave differently; for a function of the user, that function.
        derive: the function of `of_operands`, which returns the value of a parameter that is None.
    """

    def __init__(
        self, name: str, text: Callable[[Any], str | None], key: object = None, derive: _Derive | None = None
    ) -> None:
        self.name = name
        self.derive = derive
        self.key = key if key is not None else name
        self._text = text

    def text(self, value: object) -> str | None:
        """Returns the text of the attribute for `value`; None if the attribute is absent.

        Raises:
            ValueError: it is not a value of this kind.
        """
        return None if value is None else self._text(value)

    def __repr__(self) -> str:
        return f"attr.{self.name}"


def _wrong(value: object, wanted: str) -> ValueError:
    return ValueError(f"expected {wanted}, got {shown(value)}")


def _integer(type_: str, bits: int) -> Attr:
    def text(value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, int):
            raise _wrong(value, "an integer")
        if not -(2 ** (bits - 1)) <= value < 2**bits:
            raise _wrong(value, f"an integer of {bits} bits")
        # MLIR reads the digits as signed.
        return f"{value - 2**bits if value >= 2 ** (bits - 1) else value} : {type_}"

    return Attr(type_, text)


def _float(type_: str, exponent: int, mantissa: int) -> Attr:
    def text(value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _wrong(value, "a number")
        value = float(value)
        if not math.isfinite(value):  # MLIR writes these as bits
            bits = (2**exponent - 1) << mantissa
            bits |= 2 ** (mantissa - 1) if math.isnan(value) else 0
            bits |= (math.copysign(1, value) < 0) << (exponent + mantissa)
            return f"0x{bits:0{(1 + exponent + mantissa) // 4}X} : {type_}"
        text = repr(value)
        if "." not in text:  # MLIR wants a point
            text = text.replace("e", ".0e") if "e" in text else f"{text}.0"
        return f"{text} : {type_}"

    return Attr(type_, text)


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong(value, "a text")
    return quoted(value)


def quoted(text: str) -> str:
    """Returns `text` as a string of MLIR, with unprintable bytes in hexadecimal."""
    parts = (
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b'"\\' else f"\\{byte:02X}"
        for byte in text.encode(errors="surrogateescape")
    )
    return f'"{"".join(parts)}"'


def _boolean(value: Any) -> str:
    if not isinstance(value, bool):
        raise _wrong(value, "True or False")
    return "true" if value else "false"


def _unit(value: Any) -> str | None:
    if not isinstance(value, bool):
        raise _wrong(value, "True or False")
    return "unit" if value else None


def _symbol(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise _wrong(value, "the name of a symbol")
    return "::".join(f"@{quoted(part)}" for part in value.split("::"))


def _type(value: Any) -> str:
    from .types import text_of_scalar

    if isinstance(value, str) and value:
        return value
    text = text_of_scalar(value)
    if text is None:
        raise _wrong(value, "a type such as tl.float32, or MLIR's text for one")
    return text


def _verbatim(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise _wrong(value, "an attribute in MLIR's syntax")
    return value


i1, i8, i16, i32, i64 = (_integer(f"i{bits}", bits) for bits in (1, 8, 16, 32, 64))
index = _integer("index", 64)
f16, bf16 = _float("f16", 5, 10), _float("bf16", 8, 7)
f32, f64 = _float("f32", 8, 23), _float("f64", 11, 52)
#: ``true`` or ``false``.
boolean = Attr("boolean", _boolean)
#: There if the value is True, absent if it is False.
unit = Attr("unit", _unit)
string = Attr("string", _string)
#: ``@name``; ``a::b`` is ``@a::@b``.
symbol = Attr("symbol", _symbol)
#: A type attribute, from a ``tl.dtype`` or from MLIR's text for a type.
type = Attr("type", _type)  # noqa: A001 - it is called attr.type
#: The attribute itself, in MLIR's syntax.
text = Attr("text", _verbatim)


def array(of: Attr) -> Attr:
    """An array attribute, ``[...]``: `of` makes an attribute of each item of a list or tuple."""

    def to_text(value: Any) -> str:
        return f"[{', '.join(_items(of, value))}]"

    return Attr(f"array({of.name})", to_text, ("array", of.key))


def dense(of: Attr) -> Attr:
    """A dense array attribute, ``array<i32: 1, 2>`` (`DenseI32ArrayAttr` and the like), from a list or tuple.

    Args:
        of: an integer, a float or `boolean`.
    """
    element = "i1" if of is boolean else of.name

    def to_text(value: Any) -> str:
        items = ", ".join(item.partition(" : ")[0] for item in _items(of, value))
        return f"array<{element}: {items}>" if items else f"array<{element}>"

    return Attr(f"dense({of.name})", to_text, ("dense", of.key))


def _items(of: Attr, value: Any) -> list[str]:
    if not isinstance(value, list | tuple):
        raise _wrong(value, "a list or a tuple")
    items = [of.text(item) for item in value]
    if None in items:
        raise _wrong(value, "a list or a tuple without None")
    return [item for item in items if item is not None]


def choice(enumeration: _Enumeration, form: str = "{value} : i32") -> Attr:
    """An enum attribute. A kernel gives a member, its name in any case, or its value.

    Args:
        enumeration: the members; their values are integers or texts.
        form: the attribute in MLIR's syntax, where ``{name}`` is the member's name in lower case and ``{value}`` its
            value: the default for an ``I32EnumAttr``, ``"#quant.mode<{name}>"`` or ``"#quant<mode {name}>"`` for an
            ``EnumAttr`` of a dialect.
    """
    members: dict[object, enum.Enum] = {}
    for member in enumeration:
        members |= {member.value: member, member.name.lower(): member}

    def to_text(value: Any) -> str:
        member = value
        if not isinstance(value, enumeration):
            member = members.get(value.lower() if isinstance(value, str) else value)
        if member is None:
            raise _wrong(value, f"one of {', '.join(repr(m.name.lower()) for m in enumeration)}")
        return form.format(name=member.name.lower(), value=member.value)

    values = tuple((m.name, repr(m.value)) for m in enumeration)
    return Attr(f"choice({enumeration.__name__})", to_text, ("choice", values, form))


def custom(function: Callable[[Any], str | None]) -> Attr:
    """An attribute whose text `function` returns for a value; it raises ValueError for an invalid value."""
    return Attr(f"custom({function.__name__})", function, function)


def of_operands(of: Attr, function: _Derive) -> Attr:
    """An attribute whose value `function` computes from the operands if the parameter has its default, None.

    Args:
        of: how the value becomes an attribute.
        function: gets the values of each operand, as tensors, by its parameter: one, several of a variadic operand, or
            none. Returns the value, or None for no attribute.
    """
    return Attr(of.name, of.text, ("of_operands", of.key, function), function)


def _auto(value: Any) -> str | None:
    from .types import text_of_scalar

    if isinstance(value, bool):
        return boolean.text(value)
    if isinstance(value, enum.Enum):
        return _auto(value.value) if not isinstance(value.value, int) else i32.text(value.value)
    for kind, attribute in ((int, i64), (float, f64), (str, string)):
        if isinstance(value, kind):
            return attribute.text(value)
    if isinstance(value, list | tuple):
        return array(auto).text(value)
    if isinstance(value, dict):
        items = ((key, auto.text(item)) for key, item in value.items())
        return f"{{{', '.join(f'{json.dumps(str(key))} = {item}' for key, item in items if item is not None)}}}"
    text = text_of_scalar(value)
    if text is None:
        raise _wrong(value, "a number, a text, a type, a list or a dict")
    return text


#: The value decides: bool, int (``i64``), float (``f64``), str, ``tl.dtype``, list and tuple (an array), dict, and of
#: an enum its value (an int as ``i32``).
auto = Attr("auto", _auto)
