# SPDX-License-Identifier: Apache-2.0
"""`divide_vectors` on the CPU: quotients and remainders are those without the pass, also at the ends of the range."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl

import triton_ext as tx
from support import mutants

PIPELINE = tx.Pipeline().at_end("llvm", tx.passes.llvm.divide_vectors())
ENDS = [-(2**31) + 1, -(2**31) + 2, -(2**24) - 1, -3, -1, 1, 2, 3, 2**24 + 1, 33554431, 33554432, 2**31 - 2, 2**31 - 1]


@triton.jit
def divide(a, b, quotient, remainder, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(a + i), tl.load(b + i)
    tl.store(quotient + i, x // y)
    tl.store(remainder + i, x % y)


def operands() -> tuple[torch.Tensor, torch.Tensor]:
    """Returns every pair of `ENDS`, and random pairs of all magnitudes, as tensors of i32."""
    generator = torch.Generator().manual_seed(1)
    ends = torch.tensor(ENDS, dtype=torch.int32)
    pairs = torch.cartesian_prod(ends, ends)
    shift = torch.randint(0, 31, (8192 - len(pairs), 2), generator=generator)
    random = torch.randint(1, 2**31 - 1, shift.shape, generator=generator) >> shift
    sign = 1 - 2 * torch.randint(0, 2, shift.shape, generator=generator)
    both = torch.cat([pairs, ((random | 1) * sign).to(torch.int32)])
    return both[:, 0].contiguous(), both[:, 1].contiguous()


def ran() -> tuple[torch.Tensor, torch.Tensor]:
    a, b = operands()
    quotient, remainder = torch.empty_like(a), torch.empty_like(a)
    divide[(len(a) // 1024,)](a, b, quotient, remainder, BLOCK=1024)
    return quotient, remainder


def expected() -> tuple[torch.Tensor, torch.Tensor]:
    a, b = (x.to(torch.int64) for x in operands())
    quotient = torch.div(a, b, rounding_mode="trunc")
    return quotient.to(torch.int32), (a - quotient * b).to(torch.int32)


def test_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_DEFAULT_BACKEND", "cpu")
    for pipeline in (tx.Pipeline(), PIPELINE):
        with pipeline:
            found = ran()
        for x, y in zip(found, expected(), strict=True):
            assert torch.equal(x, y)


def test_it_divides_doubles() -> None:
    signature = "*i32, *i32, *i32, *i32, 1024"
    compiled = tx.trace(divide, target="cpu:native", signature=signature, pipeline=PIPELINE)
    (stage,) = (stage for stage in compiled.stages if stage.name == "llvm")
    assert "sdiv" not in str(stage.output)
    assert "fdiv" in str(stage.output)


@pytest.mark.slow
@pytest.mark.parametrize(
    "mutation",
    [
        ("type->getScalarSizeInBits() <= 32", "type->getScalarSizeInBits() <= 64"),
        (
            "builder.CreateSub(lhs, builder.CreateMul(quotient, rhs))",
            "builder.CreateSub(rhs, builder.CreateMul(quotient, rhs))",
        ),
        ("builder.CreateUIToFP(value, doubles)", "builder.CreateSIToFP(value, doubles)"),
    ],
)
def test_the_lit_tests_notice_a_bug(mutation: tuple[str, str], tmp_path: Path) -> None:
    assert not mutants.lit_passes("passes/divide_vectors", mutation, tmp_path)
