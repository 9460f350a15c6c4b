# SPDX-License-Identifier: Apache-2.0
"""Products of scaled elements on the CPU: every code of each format with every scale, on the units of each CPU."""

from __future__ import annotations

from pathlib import Path

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget

from support import mutants

torch = pytest.importorskip("torch")
CPUDriver = pytest.importorskip("triton_ext.backends.cpu.driver").CPUDriver
dots = pytest.importorskip("support.cpu.dots")

FLOAT4 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
FLOAT8 = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
FORMATS = ("e2m1", "e4m3", "e5m2", "bf16", "fp16")
#: The columns of a product; one scale is for 32 elements.
GROUP = 32


@triton.jit
def scaled(x, scales, identity, out, FORMAT: tl.constexpr, ROWS: tl.constexpr, IS_LEFT: tl.constexpr):  # noqa: PLR0917
    """Multiplies elements, a row for each scale, by an identity matrix of bf16, from either side."""
    size: tl.constexpr = 32
    row, column = tl.arange(0, ROWS), tl.arange(0, size)
    along = tl.arange(0, size // 2 if FORMAT == "e2m1" else size)
    length: tl.constexpr = size // 2 if FORMAT == "e2m1" else size
    one = tl.load(identity + column[:, None] * size + column[None, :])
    factors = tl.load(scales + row[:, None] + tl.arange(0, 1)[None, :])
    if IS_LEFT:
        product = tl.dot_scaled(tl.load(x + row[:, None] * length + along[None, :]), factors, FORMAT, one, None, "bf16")
        tl.store(out + row[:, None] * size + column[None, :], product)
    else:
        product = tl.dot_scaled(one, None, "bf16", tl.load(x + row[None, :] * length + along[:, None]), factors, FORMAT)
        tl.store(out + row[None, :] * size + column[:, None], product)


def batches(kind: str) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Returns batches of 32 elements as a kernel gets them, and as f32."""
    if kind == "e2m1":
        codes = torch.arange(16).repeat(2)
        return [((codes[::2] | codes[1::2] << 4).to(torch.uint8), FLOAT4[codes])]
    if kind in FLOAT8:
        bytes_ = torch.arange(256).to(torch.uint8).view(-1, GROUP)
        return [(batch, batch.view(FLOAT8[kind]).float()) for batch in bytes_]
    numbers = torch.randint(-(2**15), 2**15, (GROUP,), generator=torch.Generator().manual_seed(0)).to(torch.int16)
    numbers = numbers.view(torch.bfloat16 if kind == "bf16" else torch.float16)
    numbers = numbers.where(numbers.isfinite(), 1.0)
    return [(numbers, numbers.float())]


@pytest.mark.slow
@pytest.mark.parametrize("is_left", [True, False], ids=["left", "right"])
@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("arch", [arch for arch in ("haswell", "cooperlake", "sapphirerapids") if arch in dots.HERE])
def test_every_code_with_every_scale(arch: str, kind: str, is_left: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton.runtime.driver, "_active", CPUDriver())
    monkeypatch.setattr(CPUDriver, "get_current_target", lambda _: GPUTarget("cpu", arch, 1))
    scales = torch.arange(256).to(torch.uint8)
    factors = torch.exp2(scales.double() - 127).float()  # 2^-127 is subnormal
    factors[255] = torch.nan
    one = torch.eye(GROUP)
    for elements, values in batches(kind):
        out = torch.full((256, GROUP), -1.0)
        scaled[(1,)](elements.repeat(256, 1), scales, one.bfloat16(), out, FORMAT=kind, ROWS=256, IS_LEFT=is_left)
        # A row with an infinite or undefined element has no finite sum.
        expected = (values * factors[:, None]) @ one
        is_subnormal = expected.abs() < 2.0**-126
        assert torch.allclose(out.where(~is_subnormal, 0.0), expected.where(~is_subnormal, 0.0), 0, 0, equal_nan=True)
        # Units for bf16 may take subnormal numbers for 0.
        allowed = out == expected if arch == "haswell" or kind == "fp16" else (out == expected) | (out == 0)
        assert allowed[is_subnormal].all()


BUGS = {
    "a scale of 0 is 0": mutants.Mutation("ExpandDotScaled.cpp", "replace(0, 0x00400000)", "replace(0, 0)"),
    "a scale of 255 is a number": mutants.Mutation("ExpandDotScaled.cpp", "0x7FC00000", "0x7F000000"),
    "0.5 is 0": mutants.Mutation("ExpandDotScaled.cpp", "integer(wide, 0x3F000000)", "integer(wide, 0)"),
    "the high element comes first": mutants.Mutation(
        "ExpandDotScaled.cpp",
        "tt::JoinOp::create(b, loc, packed, high)",
        "tt::JoinOp::create(b, loc, high, packed)",
    ),
    "elements of fp16 become bf16": mutants.Mutation(
        "ExpandDotScaled.cpp", "left.significantBits() <= bitsOfBF16", "left.significantBits() <= 11"
    ),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/expand_dot_scaled", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_a_bug_is_noticed(bug: str, libraries: Path, tmp_path: Path) -> None:
    """By the test above, or by the lit tests: whether bf16 is used depends on the machine."""
    done = mutants.run_tests(Path(__file__), "every_code and haswell", libraries, bug, tmp_path / "cache")
    passed = done.returncode == 0 and mutants.lit_passes("passes/expand_dot_scaled", libraries, bug)
    assert passed == (not bug), done.stdout[-3000:]
