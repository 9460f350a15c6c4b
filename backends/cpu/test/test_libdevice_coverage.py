# SPDX-License-Identifier: Apache-2.0
"""Every function of Triton's `libdevice` compiles for the CPU, with each type that it takes."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from support import ROOT, modules
from support.cpu import libdevice_page
from support.cpu.libdevice_references import overloads

pytestmark = pytest.mark.keeps_kernels

TYPES = {"int32": np.int32, "uint32": np.uint32, "int64": np.int64, "uint64": np.uint64, "fp32": np.float32,
         "fp64": np.float64}  # fmt: skip


OVERLOADS = overloads()
KERNEL = """
@triton.jit
def kernel_{number}(a, b, c, d, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x, y, z, w = tl.load(a + i), tl.load(b + i), tl.load(c + i), tl.load(d + i)
    tl.store(out + i, libdevice.{name}({operands}))
    tl.store(out + BLOCK, libdevice.{name}({scalars}))
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """A module with a kernel for each function and each type. It is a file, because Triton reads their source."""
    path = tmp_path_factory.mktemp("libdevice") / "libdevice_all_kernels.py"
    text = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n"
    for number, (name, operands, _) in enumerate(OVERLOADS):
        arity = len(operands)
        scalars = ", ".join(f"tl.load({pointer})" for pointer in "abcd"[:arity])
        text += KERNEL.format(number=number, name=name, operands=", ".join("xyzw"[:arity]), scalars=scalars)
    path.write_text(text)
    return modules.imported(path)


def test_triton_declares_as_many_as_we_know() -> None:
    assert len(OVERLOADS) == 313


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(OVERLOADS)), ids=[f"{name}-{'-'.join(o)}" for name, o, _ in OVERLOADS])
def test_it_compiles(kernels: ModuleType, number: int) -> None:
    """A scalar has the result that a lane of a vector has, but for the last bits."""
    _, operands, result = OVERLOADS[number]
    values = [np.full(16, 3, TYPES[kind]) for kind in operands]
    out = np.zeros(17, TYPES[result])
    getattr(kernels, f"kernel_{number}")[(1,)](*[*values, *values, *values, *values][:4], out, BLOCK=16)
    np.testing.assert_array_equal(out[:16], out[0])
    if np.issubdtype(out.dtype, np.floating):  # vector code may differ from the C library's, which scalars call
        np.testing.assert_allclose(out[16], out[0], rtol=1e-6)
    else:
        assert out[16] == out[0]


def test_the_measured_errors_are_within_the_bounds() -> None:
    bounds = libdevice_page.bounds()
    pairs = [
        (name, bound, error)
        for name, errors in libdevice_page.measured().items()
        for bound, error in zip(bounds[name], errors, strict=True)
        if error and bound != "exact"
    ]
    assert len(pairs) > 60
    # An error has three digits behind the point.
    assert not [pair for pair in pairs if float(pair[2]) > float(pair[1]) + 0.0005]


def test_the_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "reference" / libdevice_page.PAGE).read_text() == libdevice_page.page(), "run make docs"
