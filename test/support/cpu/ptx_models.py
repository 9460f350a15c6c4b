# SPDX-License-Identifier: Apache-2.0
"""Models of PTX instructions on the bits of registers, after the PTX ISA, in exact arithmetic where they round."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.uint64]

#: Bits of the significand, smallest and largest exponent.
FORMATS = {"f16": (11, -14, 15), "bf16": (8, -126, 127), "f32": (24, -126, 127), "f64": (53, -1022, 1023)}
WIDTHS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}


def decode(bits: int, kind: str) -> float | Fraction:
    """Returns the number of the bits: a Fraction if it is finite."""
    precision, lowest, highest = FORMATS[kind]
    fraction_bits, width = precision - 1, WIDTHS[kind]
    sign = -1 if bits >> (width - 1) else 1
    exponent = bits >> fraction_bits & ((1 << (width - precision)) - 1)
    fraction = bits & ((1 << fraction_bits) - 1)
    if exponent == highest - lowest + 2:
        return float("nan") if fraction else sign * float("inf")
    if exponent:
        return sign * Fraction(fraction + (1 << fraction_bits)) * Fraction(2) ** (lowest + exponent - 1 - fraction_bits)
    return sign * Fraction(fraction) * Fraction(2) ** (lowest - fraction_bits)


def is_nan(value: float | Fraction) -> bool:
    """Returns whether `value` is not a number."""
    return isinstance(value, float) and math.isnan(value)


def encode(value: float | Fraction, kind: str, mode: str = "rn", negative_zero: bool = False) -> int:
    """Returns the bits of `value`, rounded to the format; NaN is the canonical one."""
    precision, lowest, highest = FORMATS[kind]
    width = WIDTHS[kind]
    sign_bit, infinity = 1 << (width - 1), (highest - lowest + 2) << (precision - 1)
    if is_nan(value):
        return sign_bit - 1
    negative = value < 0 or (value == 0 and negative_zero)
    sign = sign_bit if negative else 0
    if value in (float("inf"), float("-inf")):
        return sign | infinity
    size = abs(Fraction(value))
    if not size:
        return sign
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent = max(exponent - (Fraction(2) ** exponent > size), lowest)
    unit = Fraction(2) ** (exponent - precision + 1)
    count = size // unit
    rest = size / unit - count
    away = {"rz": False, "rm": negative, "rp": not negative}.get(mode)
    if mode == "rn":
        away = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and count % 2 == 1)
    count += bool(rest and away)
    # A significand that is one too long is the next power of two, in these bits, too.
    code = int(count) if exponent == lowest else int(count) + ((exponent - lowest) << (precision - 1))
    if code >= infinity:
        code = infinity - (not (mode == "rn" or away))
    return sign | code


def flushed(bits: int, kind: str) -> int:
    """Returns zero with the sign for a number below the smallest normal one."""
    value = decode(bits, kind)
    if not is_nan(value) and abs(value) < Fraction(2) ** FORMATS[kind][1]:
        return bits & 1 << (WIDTHS[kind] - 1)
    return bits


def arithmetic(name: str, kind: str, mode: str = "rn", ftz: bool = False) -> Callable[..., int]:
    """Returns the model of add, sub, mul or fma: from bits to bits."""

    def model(*operands: int) -> int:
        bits = [flushed(each, kind) for each in operands] if ftz else operands
        values = [decode(each, kind) for each in bits]
        if not all(isinstance(value, Fraction) for value in values):
            floats = [np.float64(value) if isinstance(value, float) else np.float64(np.sign(value)) for value in values]
            with np.errstate(invalid="ignore"):
                x, y = floats[0], floats[1]
                found = {"add": x + y, "sub": x - y, "mul": x * y, "fma": x * y + floats[-1]}[name]
            return encode(float(found), kind)
        signs = [bool(each >> (WIDTHS[kind] - 1)) for each in bits]
        if name in ("mul", "fma"):
            product, sign = values[0] * values[1], signs[0] != signs[1]
            if name == "mul":
                return finish(encode(product, kind, mode, sign))
            terms, zero_signs = (product, values[2]), (sign, signs[2])
        else:
            other = -values[1] if name == "sub" else values[1]
            terms, zero_signs = (values[0], other), (signs[0], signs[1] != (name == "sub"))
        total = terms[0] + terms[1]
        both = all(term == 0 for term in terms) and zero_signs[0] == zero_signs[1]
        return finish(encode(total, kind, mode, zero_signs[0] if both else mode == "rm"))

    def finish(bits: int) -> int:
        return flushed(bits, kind) if ftz else bits

    return model


def extremum(is_max: bool, kind: str, keeps_nan: bool = False) -> Callable[..., int]:
    """Returns the model of min or max."""

    def model(x: int, y: int) -> int:
        a, b = decode(x, kind), decode(y, kind)
        if is_nan(a) or is_nan(b):
            return encode(float("nan"), kind) if keeps_nan or (is_nan(a) and is_nan(b)) else y if is_nan(a) else x
        sign = WIDTHS[kind] - 1
        return sorted((x, y), key=lambda bits: (decode(bits, kind), -(bits >> sign)))[is_max]

    return model


def signed(x: int, width: int = 32) -> int:
    """Returns the integer of the bits in two's complement."""
    return x - (1 << width) if x >> (width - 1) else x


def permuted(a: int, b: int, selector: int, mode: str = "") -> int:
    """prmt, by the tables of the PTX ISA."""
    data = (a | b << 32).to_bytes(8, "little")
    tables = {
        "f4e": ("3210", "4321", "5432", "6543"), "b4e": ("5670", "6701", "7012", "0123"),
        "rc8": ("0000", "1111", "2222", "3333"), "ecl": ("3210", "3211", "3222", "3333"),
        "ecr": ("0000", "1110", "2210", "3210"), "rc16": ("1010", "3232", "1010", "3232"),
    }  # fmt: skip
    if mode:
        return int.from_bytes(bytes(data[int(c)] for c in reversed(tables[mode][selector & 3])), "little")
    nibbles = [selector >> 4 * i & 15 for i in range(4)]
    chosen = [(255 if data[n & 7] >> 7 else 0) if n & 8 else data[n & 7] for n in nibbles]
    return int.from_bytes(bytes(chosen), "little")


def field(a: int, position: int, length: int, width: int, is_signed: bool) -> int:
    """bfe, bit by bit as the PTX ISA writes it."""
    position, length, top = position & 255, length & 255, width - 1
    sign = 0 if not is_signed or length == 0 else a >> min(position + length - 1, top) & 1
    bits = [a >> (position + i) & 1 if i < length and position + i <= top else sign for i in range(width)]
    return sum(bit << i for i, bit in enumerate(bits))


def inserted(a: int, b: int, position: int, length: int, width: int) -> int:
    """bfi, bit by bit as the PTX ISA writes it."""
    position, length = position & 255, length & 255
    for i in range(length):
        if position + i < width:
            b = b & ~(1 << (position + i)) | (a >> i & 1) << (position + i)
    return b


def to_integer(kind: str, width: int, is_signed: bool, mode: str) -> Callable[[int], int]:
    """Returns the model of cvt from a float to an integer of `width` bits, as bits of a register of 32 or 64."""

    def model(bits: int) -> int:
        value, register = decode(bits, kind), max(width, 32)
        low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if is_signed else (0, (1 << width) - 1)
        if is_nan(value):
            found = 1 << (width - 1) if kind == "f64" or width == 64 else 0
        elif isinstance(value, float):
            found = high if value > 0 else low
        else:
            integer = {"rni": round, "rzi": int, "rmi": lambda v: v // 1, "rpi": lambda v: -(-v // 1)}[mode](value)
            found = min(max(int(integer), low), high)
        return found % (1 << register)

    return model


def lanes(model: Callable[..., int], width: int = 16) -> Callable[..., int]:
    """Returns the model of an instruction on two lanes."""
    mask = (1 << width) - 1
    return lambda *xs: model(*(x & mask for x in xs)) | model(*(x >> width for x in xs)) << width


def specials(width: int) -> list[int]:
    """Returns bits that are at the edge of something, for integers or floats."""
    edges = [0, 1, 2, 7, 8, 31, 32, 33, 63, 64, 255, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1]
    for kind in ("f16", "bf16") if width < 64 else ("f64",):
        for value in (0.5, 1.0, 1.5, -2.5, 65504, 448, 6, float("inf"), float("nan")):
            edges.append(encode(Fraction(value) if value < 1e9 else value, kind))
    if width == 32:
        edges = [*edges, *(edge | edge << 16 for edge in edges if edge < 1 << 16)]
        edges += [encode(Fraction(v), "f32") for v in (0.5, -1, 1.5, 2.5, 255.5, 65519, 65520, 2**31, -(2**31), 2**32)]
        edges += [0x7F800000, 0xFF800000, 0x7FC00000, 0x00400000, 0x00000001, 0x477FF000, 0x7F7FFFFF, 0x3F801000]
    return [edge % (1 << width) for edge in edges]


def registers(seed: int, count: int, width: int) -> Array:
    """Returns random bits of registers: some of any value, some small, some of numbers near 1, some special."""
    rng = np.random.default_rng(seed)
    any_bits = rng.integers(0, 1 << width, count, dtype=np.uint64, endpoint=False) if width < 64 else rng.integers(
        0, 1 << 63, count, dtype=np.uint64
    ) * np.uint64(2) + rng.integers(0, 2, count, dtype=np.uint64)  # fmt: skip
    near_one = rng.normal(0, 100, count).astype({16: np.float16, 32: np.float32, 64: np.float64}[width])
    choices = (
        any_bits,
        rng.integers(0, 70, count, dtype=np.uint64),
        near_one.view(f"u{width // 8}").astype(np.uint64),
        rng.choice(np.array(specials(width), dtype=np.uint64), count),
    )
    return np.choose(rng.integers(0, 4, count), choices)
