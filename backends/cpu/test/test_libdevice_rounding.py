# SPDX-License-Identifier: Apache-2.0
"""The functions of libdevice that round in a direction, against exact arithmetic with fractions."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from support.cpu import libdevice_references as reference

pytestmark = pytest.mark.keeps_kernels

MODES = ("rz", "rd", "ru")
#: For each function: the number of its operands, rounded to the nearest, and exactly.
ARITHMETIC: dict[str, tuple[int, Callable[..., Any], Callable[..., Any]]] = {
    "add": (2, np.add, operator.add),
    "sub": (2, np.subtract, operator.sub),
    "mul": (2, np.multiply, operator.mul),
    "div": (2, np.divide, operator.truediv),
    "rcp": (1, lambda x: 1 / x, lambda x: 1 / x),
    "sqrt": (1, np.sqrt, None),
    "fma": (3, lambda x, y, z: x * y + z, lambda x, y, z: x * y + z),
}  # fmt: skip
INTEGERS = {"ll": np.int64, "ull": np.uint64}
FLOATS = {"float": np.float32, "double": np.float64}
CONVERSIONS = [f"{kind}2{to}_{mode}" for kind in INTEGERS for to in FLOATS for mode in MODES]


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    path = tmp_path_factory.mktemp("libdevice") / "libdevice_rounding_kernels.py"
    functions = [(f"{name}_{mode}", arity) for name, (arity, _, _) in ARITHMETIC.items() for mode in MODES]
    functions += [(name, 1) for name in CONVERSIONS] + [("rsqrt_rn", 1)]
    return reference.kernels(path, functions)


def samples(kind: Any, arity: int) -> list[np.ndarray]:
    """Returns all combinations of special values, and random numbers whose sums and products are close to others."""
    info, rng = np.finfo(kind), np.random.default_rng(arity)
    special = [0.0, -0.0, 1.0, -1.0, 3.0, -7.0, np.inf, np.nan, info.eps, -info.eps / 4, info.max, -info.max,
               info.tiny, -info.tiny, info.smallest_subnormal, -info.smallest_subnormal]  # fmt: skip
    many = 400
    combined = list(itertools.islice(itertools.product(special, repeat=arity), 0, None, 1 if arity < 3 else 5))
    columns = []
    for column in range(arity):
        scale = rng.integers(-30, 30, many) if column else np.zeros(many, int)
        wide = rng.integers(info.minexp - 10, info.maxexp - 1, many)
        random = np.concatenate([np.ldexp(rng.normal(size=many), scale), np.ldexp(rng.uniform(-1, 1, many), wide)])
        columns.append(np.concatenate([[lane[column] for lane in combined], random]).astype(kind))
    return columns


def zero_of_sum(x: Any, y: Any, mode: str) -> float:
    """Returns the sum 0 of `x` and `y`, with its sign."""
    if x == 0 and np.signbit(x) == np.signbit(y):
        return float(x)
    return -0.0 if mode == "rd" else 0.0


def expected(name: str, mode: str, lane: tuple[Any, ...]) -> Any:
    _, nearest, exact = ARITHMETIC[name]
    near, kind = nearest(*lane), type(lane[0])
    if not np.isfinite(lane).all() or (name in ("div", "rcp") and lane[-1] == 0):
        return near
    numbers = [Fraction(float(x)) for x in lane]
    if name == "sqrt":
        if lane[0] <= 0:
            return near
        return reference.bracketed(near, lambda f: numbers[0] - f * abs(f), mode)
    result = exact(*numbers)
    if result:
        if np.isnan(near):  # a product overflows, and the sum does not
            near = kind(0)
        return reference.bracketed(near, lambda f: result - f, mode)
    if name in ("add", "sub"):
        return kind(zero_of_sum(lane[0], lane[1] if name == "add" else -lane[1], mode))
    if name == "fma":
        product = np.copysign(float(abs(numbers[0] * numbers[1]) > 0), lane[0]) * np.copysign(1, lane[1])
        return kind(zero_of_sum(product, lane[2], mode))
    return near


@pytest.mark.slow
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_rounds_in_a_direction(kernels: ModuleType, name: str, mode: str, kind: Any) -> None:
    operands = samples(kind, ARITHMETIC[name][0])
    out = reference.run(kernels, f"{name}_{mode}", operands, kind)
    with np.errstate(all="ignore"):
        wanted = np.array([expected(name, mode, lane) for lane in zip(*operands, strict=True)], kind)
    same = (out == wanted) & (np.signbit(out) == np.signbit(wanted)) | np.isnan(out) & np.isnan(wanted)
    worst = same.argmin()
    assert same.all(), ([x[worst] for x in operands], out[worst], wanted[worst], (~same).sum())


@pytest.mark.slow
@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversions_of_long_integers(kernels: ModuleType, name: str) -> None:
    source, _, target = name.partition("2")
    target, _, mode = target.partition("_")
    kind, number = INTEGERS[source], FLOATS[target]
    info, rng = np.iinfo(kind), np.random.default_rng(0)
    powers = [2**p + d for p in range(info.bits - 1) for d in (-1, 0, 1)]
    edges = [info.min, info.min + 1, info.max, info.max - 1, *powers, *([-p for p in powers] if info.min else [])]
    random = rng.integers(info.min, info.max, 400, kind, endpoint=True) >> rng.integers(0, 40, 400).astype(kind)
    values = np.concatenate([np.array(edges, kind), random])
    out = reference.run(kernels, name, [values], number)
    for value, result in zip(values.tolist(), out, strict=True):
        exact = Fraction(value)
        wanted = reference.bracketed(number(value), lambda f, exact=exact: exact - f, mode) if value else number(0)
        assert result == wanted, value


@pytest.mark.slow
def test_rsqrt_rn_is_rounded_once(kernels: ModuleType) -> None:
    """All significands with both parities of the exponent; the reference has x87's 64 bits."""
    x = (np.arange(2**23, 2**25, dtype=np.int64) * 2.0**-23).astype(np.float32)
    out = reference.run(kernels, "rsqrt_rn", [x], np.float32)
    assert np.array_equal(out, (1 / np.sqrt(x.astype(np.longdouble))).astype(np.float32))
    special = np.array([0, -0.0, np.inf, -1, np.nan, 1e-45, 3.4e38], np.float32)
    out = reference.run(kernels, "rsqrt_rn", [special], np.float32)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(out, (1 / np.sqrt(special.astype(np.float64))).astype(np.float32))
