# SPDX-License-Identifier: Apache-2.0
"""The functions of libdevice that the C library lacks, against multiple precision: bounds and special values."""

from __future__ import annotations

from math import inf, nan
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from mpmath import mp

from support.cpu import libdevice_references as reference
from support.cpu.libdevice_references import Function

pytestmark = pytest.mark.keeps_kernels


def norm(*operands: Any) -> Any:
    return mp.sqrt(sum(x * x for x in operands))


def of_norm(arity: int, *, reciprocal: bool) -> list[tuple[Any, float]]:
    """Returns arguments and results of norms. An infinite operand makes them infinite, even if another one is NaN."""
    at = [((inf, nan), inf), ((nan, -inf), inf), ((nan, 1.0), nan), ((0.0, -0.0), 0.0), ((-0.0, -4.0), 4.0)]
    with np.errstate(all="ignore"):
        return [
            ((*key, *[0.0] * (arity - 2)), float(1 / np.float64(value)) if reciprocal else value) for key, value in at
        ]


FUNCTIONS = {
    "rhypot": Function((0.51, 0.51), lambda *x: 1 / norm(*x), of_norm(2, reciprocal=True), arity=2),
    "norm3d": Function((0.51, 0.51), norm, of_norm(3, reciprocal=False), arity=3),
    "rnorm3d": Function((0.51, 0.51), lambda *x: 1 / norm(*x), of_norm(3, reciprocal=True), arity=3),
    "norm4d": Function((0.51, 0.51), norm, of_norm(4, reciprocal=False), arity=4),
    "rnorm4d": Function((0.51, 0.51), lambda *x: 1 / norm(*x), of_norm(4, reciprocal=True), arity=4),
    "rcbrt": Function(
        (0.51, 0.51),
        lambda x: mp.sign(x) / mp.cbrt(abs(x)),
        [(0.0, inf), (-0.0, -inf), (inf, 0.0), (-inf, -0.0), (nan, nan), (8.0, 0.5), (-27.0, -1 / 3)],
    ),
    "sinpi": Function(
        (0.51, 0.51),
        mp.sinpi,
        [
            (0.0, 0.0),
            (-0.0, -0.0),
            (inf, nan),
            (-inf, nan),
            (nan, nan),
            (0.5, 1.0),
            (-1.5, 1.0),
            (3.0, 0.0),
            (-4.0, -0.0),
            (2.0**30, 0.0),
        ],
    ),
    "cospi": Function(
        (0.51, 0.51),
        mp.cospi,
        [
            (0.0, 1.0),
            (-0.0, 1.0),
            (inf, nan),
            (-inf, nan),
            (nan, nan),
            (0.5, 0.0),
            (-1.5, 0.0),
            (3.0, -1.0),
            (-4.0, 1.0),
            (2.0**30, 1.0),
        ],
    ),
    "normcdf": Function(
        (0.51, 1.5),
        mp.ncdf,
        [(0.0, 0.5), (-0.0, 0.5), (inf, 1.0), (-inf, 0.0), (nan, nan), (-40.0, 0.0), (40.0, 1.0)],
        (-39, 10),
    ),
    "normcdfinv": Function(
        (0.51, 1),
        lambda p: -mp.sqrt(2) * reference.inverse_of_complement(2 * p),
        [
            (0.0, -inf),
            (-0.0, -inf),
            (1.0, inf),
            (0.5, 0.0),
            (1.5, nan),
            (-0.5, nan),
            (nan, nan),
            (inf, nan),
            (-inf, nan),
        ],
        (0, 1),
    ),
    "erfinv": Function(
        (0.51, 1),
        reference.inverse_of_erf,
        [(0.0, 0.0), (-0.0, -0.0), (1.0, inf), (-1.0, -inf), (1.5, nan), (-2.0, nan), (nan, nan), (inf, nan)],
        (-1, 1),
    ),
    "erfcinv": Function(
        (0.51, 1),
        reference.inverse_of_complement,
        [
            (0.0, inf),
            (-0.0, inf),
            (2.0, -inf),
            (1.0, 0.0),
            (-0.5, nan),
            (2.5, nan),
            (nan, nan),
            (inf, nan),
            (-inf, nan),
        ],
        (0, 2),
    ),
    "erfcx": Function(
        (0.51, 1),
        lambda x: mp.exp(x * x) * mp.erfc(x),
        [(0.0, 1.0), (-0.0, 1.0), (inf, 0.0), (-inf, inf), (nan, nan), (-30.0, inf)],
        (-26.6, 1e5),
    ),
    "cyl_bessel_i0": Function(
        (0.51, 1),
        lambda x: mp.besseli(0, x),
        [(0.0, 1.0), (-0.0, 1.0), (inf, inf), (-inf, inf), (nan, nan), (1e4, inf)],
        (-715, 715),
    ),
    "cyl_bessel_i1": Function(
        (0.51, 1),
        lambda x: mp.besseli(1, x),
        [(0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -inf), (nan, nan), (1e4, inf), (-1e5, -inf)],
        (-715, 715),
    ),
}
#: The bounds of `jn` and `yn`, relative to the larger one of the result and 1.
BESSEL = (1.3e-7, 2e-14)
KINDS = (np.float32, np.float64)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    path = tmp_path_factory.mktemp("libdevice") / "libdevice_special_kernels.py"
    functions = [(name, function.arity) for name, function in FUNCTIONS.items()]
    others = [("ldexp", 2), ("scalbn", 2), ("ilogb", 1), ("pow", 2), ("jn", 2), ("yn", 2), ("rcp64h", 1)]
    return reference.kernels(path, functions + others)


def samples(function: Function, kind: Any) -> list[np.ndarray]:
    """Returns random arguments: in the domain, of all magnitudes on both sides of 0, around 0, 1 and small integers."""
    rng, info, columns = np.random.default_rng(function.arity), np.finfo(kind), []
    low, high = max(function.domain[0], -60), min(function.domain[1], 60)
    for _ in range(function.arity):
        parts = [
            rng.uniform(low, high, 80),
            rng.uniform(*np.clip(function.domain, -1000, 1000), 40),
            np.ldexp(rng.uniform(-1, 1, 80), rng.integers(info.minexp - 20, info.maxexp + 1, 80)),
            rng.normal(size=60),
            np.round(rng.normal(size=40) * 4) / 2 + rng.normal(size=40) * 1e-4,
            rng.choice(np.array(function.domain), 40) + rng.choice([-1, 1], 40) * 2.0 ** rng.uniform(-40, 0, 40),
        ]
        x = np.concatenate(parts).astype(kind)
        columns.append(np.where(np.isfinite(x), x, kind(0.75)))
    inside = np.logical_and.reduce([(x > function.domain[0]) & (x < function.domain[1]) & (x != 0) for x in columns])
    return [x[inside] for x in columns]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_error_is_within_its_bound(kernels: ModuleType, name: str, kind: Any) -> None:
    function = FUNCTIONS[name]
    operands = samples(function, kind)
    out = reference.run(kernels, name, operands, kind)
    exact = [function.exact(*(mp.mpf(float(x)) for x in lane)) for lane in zip(*operands, strict=True)]
    errors = np.array([reference.error_in_ulp(value, ref) for value, ref in zip(out, exact, strict=True)])
    worst = errors.argmax()
    assert len(errors) > 100
    assert errors[worst] <= function.bounds[KINDS.index(kind)], ([x[worst] for x in operands], out[worst], exact[worst])


@pytest.mark.sampled
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values(kernels: ModuleType, name: str, kind: Any) -> None:
    special = [(key if isinstance(key, tuple) else (key,), value) for key, value in FUNCTIONS[name].special]
    operands = [np.array(column, kind) for column in zip(*(key for key, _ in special), strict=True)]
    out = reference.run(kernels, name, operands, kind)
    wanted = np.array([value for _, value in special], kind)
    np.testing.assert_array_equal(out, wanted)
    known = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(out[known]), np.signbit(wanted[known]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["ldexp", "scalbn"])
def test_products_with_powers_of_two_are_rounded_once(kernels: ModuleType, name: str, kind: Any) -> None:
    info, rng = np.finfo(kind), np.random.default_rng(0)
    special = [0.0, -0.0, inf, -inf, nan, 1.0, -1.5, info.max, info.tiny, info.smallest_subnormal, 1 + info.eps]
    powers = np.array([0, 1, -1, 127, -149, -150, 1023, -1074, -1075, 2200, -2200, 2**31 - 1, -(2**31)], np.int32)
    x = np.concatenate([np.repeat(special, len(powers)), rng.normal(size=2000)]).astype(kind)
    n = np.concatenate([np.tile(powers, len(special)), rng.integers(info.minexp - 60, info.maxexp + 2, 2000)])
    out = reference.run(kernels, name, [x, n.astype(np.int32)], kind)
    with np.errstate(all="ignore"):  # x87's numbers have room for the exponents
        wanted = np.ldexp(x.astype(np.longdouble), np.clip(n, -4000, 4000).astype(np.int32)).astype(kind)
    np.testing.assert_array_equal(out, wanted)
    known = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(out[known]), np.signbit(wanted[known]))


@pytest.mark.parametrize("kind", KINDS)
def test_ilogb(kernels: ModuleType, kind: Any) -> None:
    info, rng = np.finfo(kind), np.random.default_rng(0)
    special = [0.0, -0.0, inf, -inf, nan, 1.0, -2.0, info.max, info.tiny, info.smallest_subnormal, 1 - info.epsneg]
    random = np.ldexp(rng.uniform(-1, 1, 300), rng.integers(info.minexp - 20, info.maxexp, 300))
    x = np.concatenate([special, random]).astype(kind)
    out = reference.run(kernels, "ilogb", [x], np.int32)
    wanted = np.frexp(np.where(np.isfinite(x), x, 1))[1] - 1
    wanted = np.select([np.isnan(x) | (x == 0), np.isinf(x)], [-(2**31), 2**31 - 1], wanted)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_powers_with_integers(kernels: ModuleType, kind: Any) -> None:
    rng, info = np.random.default_rng(0), np.finfo(kind)
    n = np.concatenate([rng.integers(-40, 40, 200), rng.integers(-(2**31), 2**31, 100), [2, 3, -1, -2] * 25])
    x = np.concatenate([rng.normal(size=200), 1 + rng.normal(size=100) * 2.0**-28 * 20, rng.normal(size=100) * 100])
    x = x.astype(kind)
    out = reference.run(kernels, "pow", [x, n.astype(np.int32)], kind)
    exact = [mp.mpf(float(a)) ** int(b) for a, b in zip(x, n, strict=True)]
    inside = [float(info.tiny) < abs(value) < float(info.max) for value in exact]
    errors = [reference.error_in_ulp(a, b) if fits else 0.0 for a, b, fits in zip(out, exact, inside, strict=True)]
    assert max(errors) <= (0.51 if kind is np.float32 else 1), (x[np.argmax(errors)], n[np.argmax(errors)])
    assert sum(inside) > 300
    cases = [(nan, 0, 1.0), (nan, 2, nan), (0.0, -1, inf), (-0.0, -1, -inf), (-0.0, 3, -0.0), (-0.0, 2, 0.0),
             (inf, -2, 0.0), (-inf, 3, -inf), (-inf, -3, -0.0), (-1.0, 2**31 - 1, -1.0), (1.0, -5, 1.0)]  # fmt: skip
    base, power, wanted = (np.array(column) for column in zip(*cases, strict=True))
    out = reference.run(kernels, "pow", [base.astype(kind), power.astype(np.int32)], kind)
    np.testing.assert_array_equal(out, wanted.astype(kind))
    np.testing.assert_array_equal(np.signbit(out), np.signbit(wanted))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["jn", "yn"])
def test_bessel_functions_of_any_order(kernels: ModuleType, name: str, kind: Any) -> None:
    """The bound is absolute, because near their zeros these functions have large relative errors."""
    rng = np.random.default_rng(0)
    n, x = rng.integers(0, 30, 300).astype(np.int32), rng.uniform(0.1, 60, 300).astype(kind)
    out = reference.run(kernels, name, [n, x], kind)
    function = mp.besselj if name == "jn" else mp.bessely
    exact = [function(int(order), mp.mpf(float(value))) for order, value in zip(n, x, strict=True)]
    off = [abs(mp.mpf(float(a)) - b) / max(abs(b), 1) if np.isfinite(a) else 0 for a, b in zip(out, exact, strict=True)]
    assert max(off) <= BESSEL[KINDS.index(kind)], (n[np.argmax(off)], x[np.argmax(off)])
    assert np.isfinite(out).sum() > 250
    assert all(np.isfinite(a) or abs(b) > float(np.finfo(kind).max) for a, b in zip(out, exact, strict=True))
    order = np.array([-1, -3, 2, 2, 2, 0], np.int32)
    at = np.array([1.0, inf, nan, inf, 0.0, 0.0], kind)
    wanted = [nan, nan, nan, 0.0, *([0.0, 1.0] if name == "jn" else [-inf, -inf])]
    np.testing.assert_array_equal(reference.run(kernels, name, [order, at], kind), np.array(wanted, kind))


def test_rcp64h(kernels: ModuleType) -> None:
    """PTX's rcp.approx.ftz.f64: of the upper half of the argument, to the upper half of the result."""
    rng = np.random.default_rng(0)
    x = np.ldexp(rng.uniform(1, 2, 400) * rng.choice([-1, 1], 400), rng.integers(-1020, 1020, 400))
    out = reference.run(kernels, "rcp64h", [x], np.float64)
    assert not (out.view(np.int64) & 0xFFFFFFFF).any()
    upper = (x.view(np.int64) & -(2**32)).view(np.float64)
    assert (np.abs(out * upper - 1) < 2.0**-19.9).all()
    special = np.array([0.0, -0.0, inf, -inf, nan, 1e-310, -1e-310, 1.7e308, 4.0, 1 + 2.0**-40])
    wanted = [inf, -inf, 0.0, -0.0, nan, inf, -inf, 0.0, 0.25, 1.0]
    out = reference.run(kernels, "rcp64h", [special], np.float64)
    np.testing.assert_array_equal(out, wanted)
    known = ~np.isnan(out)
    np.testing.assert_array_equal(np.signbit(out[known]), np.signbit(np.array(wanted)[known]))
