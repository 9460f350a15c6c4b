# SPDX-License-Identifier: Apache-2.0
"""Models of PTX's video instructions, after the pseudo-code of the PTX ISA, in integers without a width."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable

OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "vadd": operator.add,
    "vsub": operator.sub,
    "vabsdiff": lambda a, b: abs(a - b),
    "vmin": min,
    "vmax": max,
    "vavrg": lambda a, b: (a + b + 1) >> 1 if a + b >= 0 else (a + b) >> 1,
}
SECOND: dict[str, Callable[[int, int], int]] = {"add": operator.add, "min": min, "max": max}
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def part(word: int, selector: str, is_signed: bool) -> int:
    """Returns the byte, half or word that `selector` names."""
    width = {"": 32, "b": 8, "h": 16}[selector[:1]]
    index = int(selector[1:] or "0")
    data = word.to_bytes(4, "little")[width // 8 * index :][: width // 8]
    return int.from_bytes(data, "little", signed=is_signed)


def clamped(value: int, width: int, is_signed: bool) -> int:
    """Returns the nearest number of the range."""
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if is_signed else (0, (1 << width) - 1)
    return sorted((low, value, high))[1]


def operation(opcode: str, modifiers: Iterable[str]) -> Callable[[int, int], int]:
    """Returns the function of two numbers that an instruction computes."""
    found = [name for name in modifiers if name in COMPARISONS]
    if found:
        compare = getattr(operator, found[0])
        return lambda a, b: int(compare(a, b))
    if opcode in ("vshl", "vshr"):
        limit = (lambda n: n & 31) if "wrap" in modifiers else (lambda n: min(n, 32))
        return (lambda a, n: a << limit(n)) if opcode == "vshl" else (lambda a, n: a >> limit(n))
    return OPERATIONS[opcode.rstrip("24")]


def split(name: str) -> tuple[str, list[str], list[str]]:
    """Returns opcode, types and modifiers of an instruction; a set has no type of the result, which is u32."""
    opcode, *rest = name.split(".")
    types = [each for each in rest if each in ("u32", "s32")]
    return opcode, ["u32", *types][-3:], [each for each in rest if each not in ("u32", "s32")]


def of_parts(name: str, d: str = "", a: str = "", b: str = "") -> Callable[..., int]:
    """Returns the model of ``name d.d, x.a, y.b[, c]``."""
    opcode, types, modifiers = split(name)
    to_signed, x_signed, y_signed = (each == "s32" for each in types)
    function = operation(opcode, modifiers)
    width = {"": 32, "b": 8, "h": 16}[d[:1]]

    def model(x: int, y: int, c: int = 0) -> int:
        found = function(part(x, a, x_signed), part(y, b, y_signed))
        if "sat" in modifiers:
            found = clamped(found, width, to_signed)
        for second, combine in SECOND.items():
            if second in modifiers:
                found = combine(found, part(c, "", to_signed))
        if not d:
            return found % (1 << 32)
        data = bytearray(c.to_bytes(4, "little"))
        at = width // 8 * int(d[1:])
        data[at : at + width // 8] = (found % (1 << width)).to_bytes(width // 8, "little")
        return int.from_bytes(data, "little")

    return model


def multiply_add(name: str, a: str = "", b: str = "", minus: str = "") -> Callable[..., int]:
    """Returns the model of vmad; `minus` has the operands of a, b and c that are negated."""
    _, (_, x_type, y_type), modifiers = split(name)
    is_negative = ("a" in minus) != ("b" in minus)
    is_signed = "s32" in (x_type, y_type) or is_negative or "c" in minus

    def model(x: int, y: int, c: int) -> int:
        product = part(x, a, x_type == "s32") * part(y, b, y_type == "s32")
        addend = part(c, "", is_signed)
        found = (-product if is_negative else product) + (-addend if "c" in minus else addend) + ("po" in modifiers)
        found >>= 7 * ("shr7" in modifiers) + 15 * ("shr15" in modifiers)
        return (clamped(found, 32, is_signed) if "sat" in modifiers else found) % (1 << 32)

    return model


def of_lanes(name: str, mask: str = "", a: str = "", b: str = "") -> Callable[..., int]:
    """Returns the model of ``name d.mask, x.a, y.b, c`` for two halves or four bytes."""
    opcode, types, modifiers = split(name)
    count = int(opcode[-1])
    size = 4 // count
    to_signed, x_signed, y_signed = (each == "s32" for each in types)
    function = operation(opcode, modifiers)

    def chosen(x: int, y: int, selector: str, default: range, is_signed: bool) -> list[int]:
        data = x.to_bytes(4, "little") + y.to_bytes(4, "little")
        order = [int(digit) for digit in reversed(selector[1:])] or list(default)
        return [int.from_bytes(data[i * size : (i + 1) * size], "little", signed=is_signed) for i in order]

    def model(x: int, y: int, c: int) -> int:
        left = chosen(x, y, a, range(count), x_signed)
        right = chosen(x, y, b, range(count, 2 * count), y_signed)
        results = [function(*pair) for pair in zip(left, right, strict=True)]
        if "sat" in modifiers:
            results = [clamped(each, 8 * size, to_signed) for each in results]
        written = [not mask or str(lane) in mask[1:] for lane in range(count)]
        if "add" in modifiers:
            return (c + sum(each for each, takes in zip(results, written, strict=True) if takes)) % (1 << 32)
        data = bytearray(c.to_bytes(4, "little"))
        for lane, takes in enumerate(written):
            if takes:
                data[lane * size : (lane + 1) * size] = (results[lane] % (1 << 8 * size)).to_bytes(size, "little")
        return int.from_bytes(data, "little")

    return model
