# SPDX-License-Identifier: Apache-2.0
"""The lit tests of `divide_vectors` notice bugs in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import mutants


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
