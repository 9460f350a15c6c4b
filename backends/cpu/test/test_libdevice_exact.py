# SPDX-License-Identifier: Apache-2.0
"""The functions of libdevice that have one right result: conversions, bits, integers, rounding to the nearest."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from support import modules

pytestmark = pytest.mark.keeps_kernels

I32, U32, I64, U64 = np.int32, np.uint32, np.int64, np.uint64
F32, F64 = np.float32, np.float64
Reference = Callable[..., Any]


def integer(low: int, high: int) -> Callable[[Any], int]:
    """Returns a conversion of a rounded number: the nearest integer of the range, or 0 for NaN."""

    def convert(x: Any) -> int:
        if np.isnan(x):
            return 0
        return (high if x > 0 else low) if np.isinf(x) else min(max(int(x), low), high)

    return convert


def away(x: Any) -> Any:
    """Rounds to the nearest, ties away from zero."""
    return np.copysign(np.floor(np.abs(x)) + (np.abs(x) - np.floor(np.abs(x)) >= 0.5), x)


def single(mode: str) -> Reference:
    """Returns the rounding of a number to f32."""

    def round_to(x: Any) -> Any:
        exact = F64(x)
        near = F32(exact)
        if mode == "rn" or np.isnan(exact) or F64(near) == exact:
            return near
        toward = {"rz": 0.0, "rd": -np.inf, "ru": np.inf}[mode]
        is_wrong = F64(near) > exact if toward < exact else F64(near) < exact
        return np.nextafter(near, F32(toward)) if is_wrong else near

    return round_to


def signed(value: int, bits: int) -> int:
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def permuted(x: int, y: int, selector: int) -> int:
    pool = (x % 2**32).to_bytes(4, "little") + (y % 2**32).to_bytes(4, "little")
    return signed(int.from_bytes(bytes(pool[selector >> 4 * i & 7] for i in range(4)), "little"), 32)


ROUND = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}
RANGES = {"int": (I32, -(2**31), 2**31 - 1), "uint": (U32, 0, 2**32 - 1), "ll": (I64, -(2**63), 2**63 - 1),
          "ull": (U64, 0, 2**64 - 1)}  # fmt: skip


def truncated(kind: str, rounding: Reference) -> Reference:
    """Returns the conversion of a number to an integer, whose bits libdevice returns as a signed one."""
    _, low, high = RANGES[kind]
    return lambda x: signed(integer(low, high)(rounding(x)), 32 if "int" in kind else 64)


#: For each function: the types of its operands, the type of its result, and what it returns.
EXACT: dict[str, tuple[tuple[type, ...], type, Reference]] = {
    "int_as_float": ((I32,), F32, lambda x: x.view(F32)),
    "uint_as_float": ((U32,), F32, lambda x: x.view(F32)),
    "float_as_int": ((F32,), I32, lambda x: x.view(I32)),
    "float_as_uint": ((F32,), I32, lambda x: x.view(I32)),
    "longlong_as_double": ((I64,), F64, lambda x: x.view(F64)),
    "double_as_longlong": ((F64,), I64, lambda x: x.view(I64)),
    "double2loint": ((F64,), I32, lambda x: signed(int(x.view(U64)), 32)),
    "double2hiint": ((F64,), I32, lambda x: signed(int(x.view(U64)) >> 32, 32)),
    "hiloint2double": ((I32, I32), F64, lambda x, y: U64(int(x) % 2**32 << 32 | int(y) % 2**32).view(F64)),
    "mulhi": ((I32, I32), I32, lambda x, y: int(x) * int(y) >> 32),
    "mulhi:u32": ((U32, U32), U32, lambda x, y: int(x) * int(y) >> 32),
    "mulhi:i64": ((I64, I64), I64, lambda x, y: int(x) * int(y) >> 64),
    "mulhi:u64": ((U64, U64), U64, lambda x, y: int(x) * int(y) >> 64),
    "mul24": ((I32, I32), I32, lambda x, y: signed(signed(int(x), 24) * signed(int(y), 24), 32)),
    "mul24:u32": ((U32, U32), U32, lambda x, y: (int(x) % 2**24) * (int(y) % 2**24) % 2**32),
    "sad": ((I32, I32, U32), I32, lambda x, y, z: signed(abs(int(x) - int(y)) + int(z), 32)),
    "sad:u32": ((U32, U32, U32), U32, lambda x, y, z: (abs(int(x) - int(y)) + int(z)) % 2**32),
    "hadd": ((I32, I32), I32, lambda x, y: int(x) + int(y) >> 1),
    "hadd:u32": ((U32, U32), U32, lambda x, y: int(x) + int(y) >> 1),
    "rhadd": ((I32, I32), I32, lambda x, y: int(x) + int(y) + 1 >> 1),
    "rhadd:u32": ((U32, U32), U32, lambda x, y: int(x) + int(y) + 1 >> 1),
    "brev:i32": ((I32,), I32, lambda x: signed(int(f"{int(x) % 2**32:032b}"[::-1], 2), 32)),
    "brev:i64": ((I64,), I64, lambda x: signed(int(f"{int(x) % 2**64:064b}"[::-1], 2), 64)),
    "ffs:i32": ((I32,), I32, lambda x: (int(x) & -int(x)).bit_length()),
    "ffs:i64": ((I64,), I32, lambda x: (int(x) & -int(x)).bit_length()),
    "byte_perm": ((I32, I32, I32), I32, lambda x, y, z: permuted(int(x), int(y), int(z))),
    "saturatef": ((F32,), F32, lambda x: F32(0) if np.isnan(x) else np.clip(x, F32(0), F32(1)) + F32(0)),
    "fast_dividef": ((F32, F32), F32, lambda x, y: x / y),
    **{f"signbit:{kind.__name__}": ((kind,), I32, np.signbit) for kind in (F32, F64)},
    "finitef": ((F32,), I32, np.isfinite),
    "isfinited": ((F64,), I32, np.isfinite),
    **{f"llrint:{kind.__name__}": ((kind,), I64, truncated("ll", np.rint)) for kind in (F32, F64)},
    **{f"llround:{kind.__name__}": ((kind,), I64, truncated("ll", away)) for kind in (F32, F64)},
    **{
        f"{name}2{kind}_{mode}": ((number,), I32 if "int" in kind else I64, truncated(kind, ROUND[mode]))
        for name, number in (("float", F32), ("double", F64)) for kind in RANGES for mode in ROUND
    },
    **{f"{name}2float_{mode}": ((RANGES[name][0],), F32, single(mode)) for name in ("int", "uint") for mode in ROUND},
    **{f"{name}2double_rn": ((RANGES[name][0],), F64, F64) for name in RANGES},
    **{f"{name}2float_rn": ((RANGES[name][0],), F32, F32) for name in ("ll", "ull")},
    **{f"double2float_{mode}": ((F64,), F32, single(mode)) for mode in ROUND},
    **{
        f"{name}_rn:{kind.__name__}": ((kind, kind), kind, function)
        for kind in (F32, F64)
        for name, function in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("div", np.divide))
    },
    **{f"rcp_rn:{kind.__name__}": ((kind,), kind, lambda x: type(x)(1) / x) for kind in (F32, F64)},
    **{f"sqrt_rn:{kind.__name__}": ((kind,), kind, np.sqrt) for kind in (F32, F64)},
}  # fmt: skip

KERNEL = """
@triton.jit
def kernel_{number}(x, y, z, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)
    b = tl.load(y + i, mask=i < n)
    c = tl.load(z + i, mask=i < n)
    tl.store(out + i, libdevice.{name}({operands}), mask=i < n)
"""
FUSED = """
@triton.jit
def fused(x, out, BLOCK: tl.constexpr):
    a = tl.load(x + tl.arange(0, BLOCK))
    tl.store(out + tl.arange(0, BLOCK), libdevice.add_rn(libdevice.mul_rn(a, a), -1.0 + a * 0))
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """A module with a kernel for each function. It is a file, because Triton reads the source of kernels."""
    path = tmp_path_factory.mktemp("libdevice") / "libdevice_exact_kernels.py"
    text = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n" + FUSED
    for number, (name, (operands, _, _)) in enumerate(EXACT.items()):
        text += KERNEL.format(number=number, name=name.partition(":")[0], operands=", ".join("abc"[: len(operands)]))
    path.write_text(text)
    return modules.imported(path)


def samples(kind: type, rng: np.random.Generator) -> np.ndarray:
    """Returns 100 values: the ends of all ranges of integers, half numbers, special values, and random ones."""
    if np.issubdtype(kind, np.integer):
        info = np.iinfo(kind)
        edges = [info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 255, 2**24, 2**24 + 1, 2**24 - 1, 2**30 + 65]
        mixed = rng.integers(info.min, info.max, 88, dtype=kind, endpoint=True)
        mixed[:40] >>= rng.integers(0, 8 * mixed.itemsize - 1, 40, dtype=kind)
        return np.concatenate([np.array(edges, kind), mixed])
    ends = [s * 2.0**e * (1 + d) for s in (1, -1) for e in (31, 32, 63, 64) for d in (0, 2.0**-20, -(2.0**-20))]
    special = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        0.49999997,
        np.nan,
        np.inf,
        -np.inf,
        1e-40,
        -1e-45,
        3.4e38,
        -3.4e38,
    ]
    wide = [1e300, -1e300, 1e-300, -1e-300, 3.4028236e38, -3.4028236e38, 1e-46, -1e-46, 1 + 2**-30, -1 - 2**-30]
    rest = rng.normal(size=100 - len(ends) - len(special) - len(wide)) * 10.0 ** rng.integers(-3, 12, 51)
    with np.errstate(all="ignore"):
        return np.concatenate([ends, special, wide if kind is F64 else wide[:0] + [3.0] * len(wide), rest]).astype(kind)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXACT)
def test_exact(kernels: ModuleType, name: str) -> None:
    operands, result, reference = EXACT[name]
    rng = np.random.default_rng(0)
    values = [rng.permutation(samples(kind, rng)) if i else samples(kind, rng) for i, kind in enumerate(operands)]
    out = np.zeros(100, result)
    getattr(kernels, f"kernel_{list(EXACT).index(name)}")[(1,)](*[*values, *values, *values][:3], out, 100, BLOCK=128)
    with np.errstate(all="ignore"):
        expected = np.array([reference(*lanes) for lanes in zip(*values, strict=True)], result)
    is_nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(out), is_nan)
    wanted = expected[~is_nan]
    assert out[~is_nan].tobytes() == wanted.tobytes(), [v[~is_nan][out[~is_nan] != wanted] for v in values]


def test_rn_is_not_fused(kernels: ModuleType) -> None:
    """A product and a sum with the suffix _rn are rounded twice, where the target has FMA, too."""
    x = np.full(16, 1 + 2.0**-12, F32)
    out = np.zeros(16, F32)
    kernels.fused[(1,)](x, out, BLOCK=16)
    assert (out == F32(2.0**-11)).all()
