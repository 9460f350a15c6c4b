# SPDX-License-Identifier: Apache-2.0
"""Random kernels convert to linalg, or are refused with the line that cannot be; none ends the process."""

from __future__ import annotations

import linalg_random
import pytest

pytestmark = pytest.mark.usefixtures("stock")


def test_random_kernels() -> None:
    """A few of those that ``linalg_random.py --kernels 1000`` goes through; stock mlir-opt takes what converts."""
    outcomes = list(linalg_random.check_all(60, jobs=1))
    assert [outcome for outcome in outcomes if not outcome.is_located] == []
    assert sum(not outcome.why for outcome in outcomes) > 40


def test_a_random_kernel_that_cannot_be_converted() -> None:
    """Those of the test above all convert."""
    refused = [outcome for outcome in linalg_random.check(range(110, 120)) if outcome.why]
    assert [(outcome.seed, outcome.is_located) for outcome in refused] == [(116, True)]
    assert "tt.elementwise_inline_asm" in refused[0].why


def test_stock_says_which_module_is_no_good() -> None:
    good = "module {\n  func.func @f() {\n    return\n  }\n}\n"
    unknown = good.replace("return", "ttg.barrier all\n    return")
    invalid = good.replace("return", "%0 = arith.constant 1 : i32\n    %1 = math.sqrt %0 : i32\n    return")
    refused = linalg_random.refused_by_stock([good, unknown, good, "", invalid, good])
    assert list(refused) == [1, 4]
    assert "Dialect `ttg' not found" in refused[1]
    assert linalg_random.refused_by_stock([good, good]) == {}
