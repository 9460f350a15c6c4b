# SPDX-License-Identifier: Apache-2.0
"""Random kernels convert to linalg, or are refused with the line that cannot be; none ends the process."""

from __future__ import annotations

import linalg_random


def test_random_kernels() -> None:
    """A few of those that ``linalg_random.py --kernels 1000`` goes through."""
    outcomes = list(linalg_random.check_all(60, jobs=1))
    assert [outcome for outcome in outcomes if not outcome.is_located] == []
    assert sum(not outcome.why for outcome in outcomes) > 40
