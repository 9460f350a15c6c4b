# SPDX-License-Identifier: Apache-2.0
"""Tests every libdevice function that docs/cpu.md lists: accuracy against double precision, and special values."""

from __future__ import annotations

import ctypes
import math
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import triton
import triton.language as tl

from support import modules

pytestmark = pytest.mark.keeps_kernels

DOCS = Path(__file__).parents[3] / "docs" / "cpu.md"
_libm = ctypes.CDLL("libm.so.6")

#: The bounds of f32 in units in the last place, by number of operands. For libm's functions, they include its errors.
ULP: dict[int, dict[str, float]] = {
    1: {
        "exp": 1.5, "exp2": 1.5, "log": 1.5, "log2": 2, "log10": 2, "sin": 2, "cos": 2, "tanh": 4, "erf": 3,
        "sqrt": 0.5, "rsqrt": 2, "floor": 0, "ceil": 0, "trunc": 0, "rint": 0, "nearbyint": 0, "round": 0, "abs": 0,
        "tan": 1, "asin": 1, "acos": 1, "atan": 1, "sinh": 3, "cosh": 2, "asinh": 2, "acosh": 2, "atanh": 2,
        "expm1": 1, "log1p": 1, "exp10": 1, "erfc": 4, "cbrt": 1, "lgamma": 8, "tgamma": 8, "logb": 0,
    },
    2: {
        "pow": 1, "atan2": 1.5, "hypot": 1, "fmod": 0, "remainder": 0, "fdim": 0.5, "nextafter": 0, "copysign": 0,
    },
    3: {"fma": 0.5},
}  # fmt: skip
BESSEL = ("j0", "j1", "y0", "y1")
#: Other names of functions above. On a GPU they are less accurate; on the CPU they are the same functions.
FAST = {"fast_sinf": "sin", "fast_cosf": "cos", "fast_tanf": "tan", "fast_expf": "exp", "fast_exp10f": "exp10",
        "fast_logf": "log", "fast_log2f": "log2", "fast_log10f": "log10", "fast_powf": "pow"}  # fmt: skip
INTEGER = ("clz", "popc", "abs")
TESTS = ("isnan", "isinf")

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 2.5, math.inf, -math.inf, math.nan, 1e-40, -3e-39, 1e-45, 1.1754944e-38,
           3.4028235e38, -3.4028235e38, 8388609.0, 16777216.0, 2147483648.0, -104.0, 88.8, 127.5]  # fmt: skip
SPECIAL64 = [5e-324, -1e-310, 2.2250738585072014e-308, 1.7976931348623157e308, 709.78, 709.79, -708.5, -745.1, -745.2,
             1023.5, -1074.5, -1075.5, 1048576.0, 1048577.0]  # fmt: skip
#: The functions that also have vector code for f64; the other functions call libm.
VECTORS64 = {"exp": 1.5, "exp2": 1.5, "log": 1.5, "log2": 2, "log10": 2, "sin": 2, "cos": 2}

KERNEL = """
@triton.jit
def kernel_{name}(x, y, z, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n, other=1)
    b = tl.load(y + i, mask=i < n, other=1)
    c = tl.load(z + i, mask=i < n, other=1)
    tl.store(out + i, libdevice.{name}({operands}), mask=i < n)

"""


def arities() -> dict[str, int]:
    every = {name: arity for arity, names in ULP.items() for name in names}
    every |= dict.fromkeys((*BESSEL, *INTEGER, *TESTS), 1)
    return every | {name: every[base] for name, base in FAST.items()}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return kernels_in(tmp_path_factory.mktemp("libdevice"))


def kernels_in(directory: Path) -> ModuleType:
    """Returns a module with a kernel for each function. It is a file, because Triton reads the source of kernels."""
    path = directory / "libdevice_kernels.py"
    text = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n"
    for name, arity in arities().items():
        text += KERNEL.format(name=name, operands=", ".join("abc"[:arity]))
    path.write_text(text)
    return modules.imported(path)


def run(kernels: ModuleType, name: str, *operands: np.ndarray, out: type | None = None) -> np.ndarray:
    x = operands[0]
    result = np.zeros(len(x), out or x.dtype)
    padded = [*operands, x, x][:3]
    getattr(kernels, f"kernel_{name}")[(triton.cdiv(len(x), 1024),)](*padded, result, len(x), BLOCK=1024)
    return result


def exact(name: str, *operands: np.ndarray) -> np.ndarray:
    """Returns the result of libm in double precision."""
    symbol = {"abs": "fabs"}.get(name, name)
    if name == "rsqrt":
        return np.asarray(1 / np.sqrt(operands[0].astype(np.float64)))
    if name == "nextafter":  # its step depends on the type
        return np.asarray(np.nextafter(*operands)).astype(np.float64)
    function = getattr(_libm, symbol)
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * len(operands)
    return np.array([function(*map(float, values)) for values in zip(*operands, strict=True)])


def samples(dtype: type, arity: int) -> list[np.ndarray]:
    """Returns all combinations of special values, and random numbers: around 1, of all magnitudes, and denormals."""
    rng = np.random.default_rng(arity)
    many = 20_000 // arity
    special, (low, tiny, high) = (SPECIAL, (-44, -38, 38))
    if dtype is np.float64:
        special, (low, tiny, high) = ([*SPECIAL, *SPECIAL64], (-323, -308, 308))
    parts = [[
        np.array(special).repeat(len(special)) if k == 0 else np.tile(special, len(special)),
        rng.normal(size=many),
        rng.normal(size=many) * 20,
        1 + rng.normal(size=many) * 1e-3,
        10 ** rng.uniform(low, high, many) * rng.choice([-1, 1], many),
        10 ** rng.uniform(low, tiny, many // 10) * rng.choice([-1, 1], many // 10),
    ] for k in range(arity)]  # fmt: skip
    return [np.concatenate(part).astype(dtype) for part in parts]


def samples_of_vectors64() -> np.ndarray:
    """Returns samples, and arguments around the zeros of sine and cosine, and at the ends of exponentials."""
    rng = np.random.default_rng(7)
    zeros = np.arange(1, 600_000, 37) * (np.pi / 2)
    ends = rng.uniform(-746, 710, 20_000), rng.uniform(-1076, 1024, 20_000)
    return np.concatenate([samples(np.float64, 1)[0], zeros, -zeros, *ends])


def errors(out: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Returns the errors in units in the last place; infinite if only one of the two is infinite or NaN."""
    dtype = out.dtype.type
    nearest = reference.astype(dtype)
    same = (out == nearest) | (np.isnan(out) & np.isnan(nearest))
    finite = np.isfinite(out) & np.isfinite(nearest)
    largest = np.finfo(dtype).max
    # At the end of the range, one result may be the largest number and the other one infinity.
    at_the_end = np.isinf(out) & (np.abs(nearest) >= largest * (1 - 2e-6)) & (np.sign(out) == np.sign(nearest))
    at_the_end |= np.isinf(nearest) & (np.abs(out) >= largest * (1 - 2e-6)) & (np.sign(out) == np.sign(nearest))
    result = np.full(len(out), np.inf)
    off = np.abs(out[finite].astype(reference.dtype) - reference[finite])
    result[finite] = off / np.spacing(np.abs(nearest[finite]))
    result[at_the_end] = 1
    result[same & ~finite] = 0
    return result


def assert_signs_of_zeros(out: np.ndarray, reference: np.ndarray) -> None:
    zero = (out == 0) & (reference == 0)
    assert np.array_equal(np.signbit(out[zero]), np.signbit(reference[zero]))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arity"), [(name, arity) for arity, names in ULP.items() for name in names])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_f32(kernels: ModuleType, name: str, arity: int) -> None:
    operands = samples(np.float32, arity)
    out = run(kernels, name, *operands)
    off = errors(out, exact(name, *operands))
    worst = off.argmax()
    assert off[worst] <= ULP[arity][name] or off[worst] < 0.5000001, (
        [x[worst] for x in operands],
        out[worst],
        off[worst],
    )
    assert_signs_of_zeros(out, exact(name, *operands))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arity"), [(name, arity) for arity, names in ULP.items() for name in names])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_f64(kernels: ModuleType, name: str, arity: int) -> None:
    operands = samples(np.float64, arity)
    if name not in VECTORS64:
        off = errors(run(kernels, name, *operands), exact(name, *operands))
        assert off.max() <= (2 if name == "rsqrt" else 0)
        return
    x = samples_of_vectors64()
    # The reference has x87's 64 bits of mantissa.
    reference = getattr(np, name)(x.astype(np.longdouble))
    off = errors(run(kernels, name, x), reference)
    assert off.max() <= VECTORS64[name], (x[off.argmax()], off.max())
    assert_signs_of_zeros(run(kernels, name, x), reference)


@pytest.mark.slow
@pytest.mark.parametrize("name", BESSEL)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_bessel(kernels: ModuleType, name: str) -> None:
    """The bound is absolute, because near their zeros these functions have large relative errors."""
    x = samples(np.float32, 1)[0]
    x = x[~(np.abs(x) > 1e4)]
    out, reference = run(kernels, name, x), exact(name, x)
    special = ~np.isfinite(reference.astype(np.float32))
    assert np.array_equal(out[special], reference[special].astype(np.float32), equal_nan=True)
    off = np.abs(out[~special] - reference[~special]) / np.maximum(np.abs(reference[~special]), 1)
    assert off.max() <= 4e-7, x[~special][off.argmax()]
    wide = x.astype(np.float64)
    assert np.array_equal(run(kernels, name, wide), exact(name, wide), equal_nan=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAST)
def test_fast_ones_are_the_exact_ones(kernels: ModuleType, name: str) -> None:
    operands = samples(np.float32, arities()[name])
    assert np.array_equal(run(kernels, name, *operands), run(kernels, FAST[name], *operands), equal_nan=True)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_integers(kernels: ModuleType, dtype: type) -> None:
    info = np.iinfo(dtype)
    x = np.random.default_rng(0).integers(info.min, info.max, 3000, dtype) >> (
        np.arange(3000) % (info.bits - 1)
    ).astype(dtype)
    x[:5] = [0, 1, -1, info.min, info.max]
    unsigned = x.astype(np.uint32 if dtype is np.int32 else np.uint64).tolist()
    assert run(kernels, "popc", x, out=np.int32).tolist() == [value.bit_count() for value in unsigned]
    assert run(kernels, "clz", x, out=np.int32).tolist() == [info.bits - value.bit_length() for value in unsigned]
    with np.errstate(over="ignore"):
        assert np.array_equal(run(kernels, "abs", x), np.abs(x))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", TESTS)
def test_questions(kernels: ModuleType, name: str, dtype: type) -> None:
    x = samples(dtype, 1)[0]
    expected = getattr(np, name)(x)
    assert np.array_equal(run(kernels, name, x, out=np.int32) != 0, expected)


def test_the_docs_say_these_bounds() -> None:
    text = DOCS.read_text()
    table = text[text.index("| f32 function |") :]
    rows = re.findall(r"^\| (`.*?) \| ([\d.]+)[^|]* \|[^|]*\|$", table[: table.index("\n\n")], re.MULTILINE)
    said = {name: float(bound) for names, bound in rows for name in re.findall(r"`(\w+)`", names)}
    assert set(said) == {name for names in ULP.values() for name in names} | set(BESSEL)
    for names in ULP.values():
        assert names == {name: said[name] for name in names}
    of_doubles = re.search(r"For f64, (.*?) are vector code within the same bounds", " ".join(text.split()))
    assert of_doubles
    doubles = re.findall(r"`(\w+)`", of_doubles[1])
    assert {name: said[name] for name in doubles} == VECTORS64


@triton.jit
def erf(x):
    i = tl.arange(0, 16)
    tl.store(x + i, tl.erf(tl.load(x + i)))


def test_a_kernel_with_the_name_of_a_function_of_libm() -> None:
    x = np.linspace(-2, 2, 16).astype(np.float32)
    reference = exact("erf", x)
    erf[(1,)](x)  # the vector code calls no function
    np.testing.assert_allclose(x, reference, rtol=1e-6)
    with pytest.raises(RuntimeError, match=r"the name of the C library's 'erf', which it calls \(rename it\)"):
        erf[(1,)](x.astype(np.float64))
