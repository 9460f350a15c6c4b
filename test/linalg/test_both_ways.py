# SPDX-License-Identifier: Apache-2.0
"""The page that compares both ways to linalg is right, and counts what it says."""

from __future__ import annotations

import pytest

from support import ROOT
from support.linalg import ways_page
from support.linalg.ways_page import Accesses

MODULE = f"""
    %1 = bufferization.to_tensor %0 : memref<8xf32> to tensor<8xf32>
    %3 = bufferization.to_tensor %2 : memref<{2**63 - 1}xf32> to tensor<{2**63 - 1}xf32>
    %4 = linalg_ext.gather dimension_map = [0] ins(%3, %index)
    scf.for %i = %c0 to %n step %c1 : i32 {{
      %5 = memref.load %memory[%c0] : memref<1xf32>
      bufferization.materialize_in_destination %t in writable %7
    }}
    %8 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %b) -> (tensor<8xf32>) {{
      bufferization.materialize_in_destination %t in writable %7
    }}
    bufferization.materialize_in_destination %t in writable %7
"""


def test_accesses_are_counted() -> None:
    """A loop of the kernel, over an i32, is not one over rows."""
    assert ways_page.count(MODULE) == Accesses(blocks=3, rows=1, elements=2)


@pytest.mark.slow
def test_rows_are_views_in_both_ways() -> None:
    first, second = ways_page.compare("embedding")
    assert first == second == Accesses(blocks=2, rows=1, elements=0)


@pytest.mark.slow
def test_the_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "reference" / ways_page.PAGE).read_text() == ways_page.page(), "run make docs"
