# SPDX-License-Identifier: Apache-2.0
"""What the host checks when a kernel is launched, which kernels are not checked, and `static`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.tools.tensor_descriptor import TensorDescriptor
from triton_ext.sanitize._at_launch import Facts

import triton_ext as tx

pytestmark = pytest.mark.usefixtures("on_native_backend")


@triton.jit
def copy_first(pair, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(pair[1] + i, tl.load(pair[0] + i), mask=i < n)


def aligned(size: int) -> torch.Tensor:
    memory = torch.zeros(size + 16)
    return memory[-memory.data_ptr() // 4 % 16 :][:size]


def test_parts_of_a_tuple() -> None:
    x, o = aligned(65), aligned(64)
    with tx.sanitize("hints") as report:
        kernel = copy_first[(1,)]((x[:64], o), 32, B=64)
        assert not report.findings
        for n in (32, 48):
            kernel[(2, 3, 1)]((x[1:], o), n, 64)
    (one,) = report.findings
    assert (one.check, one.argument, one.lane, one.lanes, one.programs) == ("hints", "pair[0]", -1, 12, 6)
    assert one.values == {"pair[0]": x[1:].data_ptr()}
    assert "not a multiple of 16" in one.message


def test_an_empty_grid_runs_nothing() -> None:
    x, o = aligned(65), aligned(64)
    with tx.sanitize("hints", raises=True) as report:
        kernel = copy_first[(1,)]((x[:64], o), 32, B=64)
        kernel[(2, 0, 1)]((x[1:], o), 33, 64)
    assert not report.findings


def test_a_launch_raises() -> None:
    x, o = aligned(65), aligned(64)
    with tx.sanitize("hints", raises=True):
        kernel = copy_first[(1,)]((x[:64], o), 32, B=64)
        with pytest.raises(tx.sanitize.SanitizerError, match="n is not a multiple of 16"):
            kernel[(1, 1, 1)]((x[:64], o), 31, 64)
        kernel[(1, 1, 1)]((x[:64], o), 64, 64)


@triton.jit
def load_box(desc, other, out, BLOCK: tl.constexpr):
    v = desc.load([0, 0])
    v += other.load([0, 0])
    tl.store(out + tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :], v)


def wrong(rows: int, checks: str = "bounds", kernel: Any = load_box) -> list[Any]:
    """Returns what is wrong in a launch on a GPU with a descriptor of a tensor of 12 rows."""
    box = "tensordesc<fp32[16, 16]>"
    source = triton.compiler.ASTSource(
        kernel, {"desc": box, "other": box, "out": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 16}
    )
    with tx.sanitize(checks):
        compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32))
    right = TensorDescriptor(torch.zeros(16, 16), [16, 16], [16, 1], [16, 16])
    given = TensorDescriptor(torch.zeros(12, 16), [rows, 16], [16, 1], [16, 16])
    return list(Facts(compiled).wrong((1, 1, 1), (right, given, torch.zeros(256), 16)))


@pytest.mark.slow
def test_descriptors_of_the_hardware() -> None:
    """A GPU reads the shape of a descriptor that the host has made, and the kernel cannot check it."""
    assert wrong(12) == wrong(13, "hints") == []
    (one,) = wrong(13)
    lines = [text.strip() for text in Path(__file__).read_text().splitlines()]
    line = lines.index("v += other.load([0, 0])") + 1
    assert (one.check, one.argument, one.line, one.distance, one.severity) == ("bounds", "other", line, 4, "error")
    assert (one.program, one.lane, one.lanes, one.coordinates) == ((0, 0, 0), 12 * 16, 16, (12, 0))
    assert one.suggestion == "make the descriptor with the shape of the tensor"


@triton.jit
def load_from_memory(desc, other, out, BLOCK: tl.constexpr):
    v = other.load([tl.load(out).to(tl.int32), 0])
    tl.store(out + tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :], v + desc.load([0, 0]))


@triton.jit
def load_elsewhere(desc, other, out, BLOCK: tl.constexpr):
    v = other.load([-4, 0])
    tl.store(out + tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :], v + desc.load([0, 0]))


@triton.jit
def load_one_of_two(desc, other, out, BLOCK: tl.constexpr):
    chosen = desc
    if tl.load(out) > 0:
        chosen = other
    v = chosen.load([0, 0])
    tl.store(out + tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :], v)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [load_from_memory, load_one_of_two], ids=["from memory", "one of two"])
def test_what_programs_may_read_of_a_descriptor(kernel: Any) -> None:
    """Where nobody knows, the finding is that they may read there."""
    (one,) = wrong(13, kernel=kernel)
    assert (one.argument, one.distance, one.lane) == ("other", 64, None)
    assert "reaches 64 bytes behind the memory" in one.message


@pytest.mark.slow
def test_what_programs_do_not_read_of_a_descriptor() -> None:
    assert wrong(13, kernel=load_elsewhere) == []


@triton.jit
def twice(x):
    tl.store(x, tl.load(x) * 2)


@pytest.mark.slow
def test_a_kernel_of_ir_is_not_checked(tmp_path: Path) -> None:
    """It runs, and a warning says that nothing is checked."""
    x = aligned(1) + 1
    kernel = twice[(1,)](x)
    file = tmp_path / "twice.ttir"
    file.write_text(kernel.asm["ttir"])
    with tx.sanitize("all") as report:
        with pytest.warns(UserWarning, match="begins after the stage 'ttir'"):
            again = triton.compile(str(file), target=triton.runtime.driver.active.get_current_target())
        again[(1, 1, 1)](x)
    assert x[0] == 4
    assert not report.findings


@pytest.mark.slow
def test_a_target_that_another_compiler_gets() -> None:
    """Such a kernel has no launch of Triton's, and so no slot: it is compiled without checks."""
    linalg = pytest.importorskip("triton_ext.linalg")
    plain = linalg.compile(twice, "*fp32")
    with tx.sanitize("all"):
        assert linalg.compile(twice, "*fp32").replace(" attributes {probe.lowered}", "") == plain


@triton.jit
def total(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v, mask=i < n)
    tl.store(out, tl.sum(tl.where(i < n, v, 0.0), axis=0))


@pytest.mark.slow
def test_without_the_static_part() -> None:
    """What is proved is checked, too, with the same result; without corners, each lane is compared."""
    x, out = torch.ones(60), torch.zeros(64)
    for n, wanted in ((60, []), (62, [("bounds", 2)])):
        for static, corners in ((True, True), (False, True), (False, False)):
            with tx.sanitize("bounds,lanes", action="suppress", static=static, corners=corners) as report:
                total[(1,)](x, out, n, B=64)
            assert [(one.check, one.lanes) for one in report.findings] == wanted
            verdicts = {(one.check, one.verdict, one.why) for one in report.accesses}
            assert (("lanes", "proved", "no lane that is off has an effect") in verdicts) == static
            assert (("bounds", "checked", "by the corners of the tile") in verdicts) == corners
            assert (("bounds", "checked", "lane by lane") in verdicts) != corners
