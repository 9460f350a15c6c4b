# SPDX-License-Identifier: Apache-2.0
"""Every operation of ``tt`` is in the table of the documentation, and the table is right."""

from __future__ import annotations

import pytest

from support import ROOT
from support.linalg import coverage_page as table


@pytest.mark.slow
def test_every_operation_has_a_case() -> None:
    assert {case.name for case in table.cases()} == table.operations_of_triton()


@pytest.mark.slow
def test_the_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "reference" / table.PAGE).read_text() == table.page(), "run make docs"


@pytest.mark.slow
def test_functions_become_functions() -> None:
    """The page once said that ``func`` becomes an addition, which was in its body, and ``call`` nothing."""
    made = {case.name: case.operations for case in table.cases()}
    assert {name: made[name] for name in ("func", "call", "return")} == {
        name: (f"func.{name}",) for name in ("func", "call", "return")
    }
    assert made["get_program_id"] == ("tt.get_program_id",)
