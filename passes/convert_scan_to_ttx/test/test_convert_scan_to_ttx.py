# SPDX-License-Identifier: Apache-2.0
"""The lit tests of `convert_scan_to_ttx` find bugs of it; test/linalg/test_ttx.py executes what it makes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants

bug = partial(mutants.Mutation, "ConvertScanToTtx.cpp")

BUGS = {
    "scans from the end are converted": bug("reverse || !scan.getReverse()", "true"),
    "flags are lost": bug("add.getFastmath() != arith::FastMathFlags::none", "false"),
    "a sum is of anything": bug(
        "(a == before && b == element) || (a == element && b == before)", "a != before || b != before"
    ),
    "an accumulator is lost": bug("scan.isCarried() || scan.getInputs().size() != 1", "false"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/convert_scan_to_ttx", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/convert_scan_to_ttx", libraries, bug) == (not bug)
