# SPDX-License-Identifier: Apache-2.0
"""Random kernels convert to linalg, or are refused with the line of the cause; none ends the process."""

from __future__ import annotations

import pytest

from support.linalg import random_kernels

pytestmark = pytest.mark.usefixtures("stock")


@pytest.mark.slow
def test_random_kernels() -> None:
    """Runs the first kernels of ``random_kernels.py --kernels 1000``; stock mlir-opt accepts those that convert."""
    outcomes = list(random_kernels.check_all(60, jobs=1))
    assert [outcome for outcome in outcomes if not outcome.is_located] == []
    assert sum(not outcome.why for outcome in outcomes) > 40


@pytest.mark.slow
def test_a_random_kernel_that_cannot_be_converted() -> None:
    """The kernels of the test above all convert, so this one has other seeds."""
    refused = [outcome for outcome in random_kernels.check(range(110, 120)) if outcome.why]
    assert [(outcome.seed, outcome.is_located) for outcome in refused] == [(116, True)]
    assert "tt.elementwise_inline_asm" in refused[0].why


def test_stock_says_which_module_is_no_good() -> None:
    good = "module {\n  func.func @f() {\n    return\n  }\n}\n"
    unknown = good.replace("return", "ttg.barrier all\n    return")
    invalid = good.replace("return", "%0 = arith.constant 1 : i32\n    %1 = math.sqrt %0 : i32\n    return")
    refused = random_kernels.refused_by_stock([good, unknown, good, "", invalid, good])
    assert list(refused) == [1, 4]
    assert "Dialect `ttg' not found" in refused[1]
    assert random_kernels.refused_by_stock([good, good]) == {}
