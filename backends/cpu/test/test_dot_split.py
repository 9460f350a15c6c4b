# SPDX-License-Identifier: Apache-2.0
"""`tl.dot` of fp16 on the tiles of bf16: each number becomes two bf16, whose four products are added.

AMX is emulated where the machine lacks it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from support.cpu import emulated_units
from support.cpu.dots import FP16, HERE, compiled_product, down, units_in

pytestmark = pytest.mark.keeps_kernels

XEON = "sapphirerapids"
run_here = emulated_units.run if XEON in HERE else emulated_units.run_emulated
LAYOUTS = [(False, False), (True, True)]


def multiplied(
    at: Path, a: torch.Tensor, b: torch.Tensor, step: int = 0, layout: tuple[bool, bool] = (False, False)
) -> torch.Tensor:
    """Returns a @ b, of f32. If columns are contiguous, it is computed in two batches, which are not reshaped."""
    (m, k), n = a.shape, b.shape[1]
    batches = 1 + any(layout)
    kernel = compiled_product(FP16, (batches, m, n, k), XEON, step, layout)
    assert units_in(kernel) == ["tdpbf16ps"]
    out = torch.zeros(batches, m, n)
    a, b = (x.repeat(batches, 1, 1) for x in (a, b))
    run_here(kernel, at, 1, (down(a) if layout[0] else a, down(b) if layout[1] else b, out))
    assert all(torch.equal(out[0].view(torch.int32), other.view(torch.int32)) for other in out)
    return out[0]


def summed(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Returns a @ b, of f64: all products are added, also zeros, which are NaN if the other factor is infinite."""
    return (a.double()[:, :, None] * b.double()[None]).sum(1)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("is_left", [True, False])
def test_each_number_is_the_sum_of_its_parts(is_left: bool, layout: tuple[bool, bool], tmp_path: Path) -> None:
    """All finite numbers: their products with 1 are exact."""
    x = torch.arange(2**16).to(torch.uint16).view(FP16).reshape(256, 256)
    x = x.where(x.isfinite(), 1.0)
    one = torch.eye(256).half()
    found = multiplied(tmp_path, x, one, 0, layout) if is_left else multiplied(tmp_path, one, x, 0, layout)
    assert torch.equal(found, x.float())


SPECIAL = {
    "infinite": ([float("inf"), -float("inf")], [1.0, -2.0, 3.1415, -65504.0, 6e-8, 1e-3]),
    "infinite and zero": ([float("inf"), -float("inf"), 0.0, -0.0], [1.0, -2.0, 3.1415, 6e-8]),
    "not a number": ([float("nan")], [1.0, 0.0, -65504.0, 6e-8]),
    "denormal": ([6e-8, -6e-8, 3e-6, -0.0], [6e-8, 1.2e-7, -1e-6, 3e-6]),
}


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("name", SPECIAL)
def test_numbers_that_are_not_normal(name: str, layout: tuple[bool, bool], tmp_path: Path) -> None:
    rare, usual = SPECIAL[name]
    pool = torch.tensor(rare + usual * 40).half()
    a, b = (pool[torch.randint(len(pool), (64, 64))] for _ in range(2))
    a[0, :2], b[:, 0] = pool[0], pool[-1]  # a special number meets one of the others only
    found, expected = multiplied(tmp_path, a, b, 32, layout).double(), summed(a, b)
    assert torch.equal(found.isnan(), expected.isnan())
    assert torch.equal(found[expected.isinf()], expected[expected.isinf()])
    is_finite = expected.isfinite()
    bound = 4 * 64 * 2**-24 * summed(a.abs(), b.abs())
    assert ((found - expected).abs() <= bound)[is_finite].all()
    if name == "denormal":  # small multiples of 2^-24
        assert torch.equal(found, expected)


@pytest.mark.parametrize("sign", [1, -1])
def test_infinity_times_each_number(sign: int, tmp_path: Path) -> None:
    """All finite numbers, also those with one bit only, of which no part must be zero."""
    x = torch.arange(2**16).to(torch.uint16).view(FP16).reshape(32, 2048)
    x = x.where(x.isfinite(), 1.0)
    infinity = torch.zeros(32, 32).fill_diagonal_(sign * float("inf")).half()
    found = multiplied(tmp_path, infinity, x)
    torch.testing.assert_close(found, sign * float("inf") * x.float(), equal_nan=True)


def test_sums_of_integers_are_exact(tmp_path: Path) -> None:
    """Parts are multiples of one half, so sums below 2^22 are."""
    a, b = torch.randint(0, 33, (32, 2048)).half(), torch.randint(0, 33, (2048, 32)).half()
    a[0], b[:, 0] = 1.0, 1.0
    found, expected = multiplied(tmp_path, a, b, 64).double(), a.double() @ b.double()
    assert expected.max() < 2**22
    assert torch.equal(found, expected)


@pytest.mark.parametrize("step", [256, 32])
def test_the_error_is_that_of_four_sums(step: int, tmp_path: Path) -> None:
    a, b = torch.randn(32, 256).half(), torch.randn(256, 64).half()
    x, y = a.double(), b.double()
    bound = 4 * 256 * 2**-24 * (x.abs() @ y.abs())
    assert ((multiplied(tmp_path, a, b, step).double() - x @ y).abs() <= bound).all()


def test_sums_of_fp16_are_rounded_once_for_each_product(tmp_path: Path) -> None:
    """The FMA of fp16 comes first. Without it, the sum of f32 becomes the type of the result."""
    sizes = (1, 32, 32, 64)
    assert units_in(compiled_product(FP16, sizes, XEON, total=FP16)) == ["vfmadd"]
    kernel = compiled_product(FP16, sizes, f"{XEON};-avx512fp16", total=FP16)
    assert units_in(kernel) == ["tdpbf16ps"]
    a, b, c = (torch.randint(-20, 21, shape).half() for shape in ((32, 64), (64, 32), (32, 32)))
    expected = (a.double() @ b.double() + c.double()).half()
    assert not torch.equal(expected.double(), a.double() @ b.double() + c.double())
    run_here(kernel, tmp_path, 1, (a, b, c))
    assert torch.equal(c, expected)
