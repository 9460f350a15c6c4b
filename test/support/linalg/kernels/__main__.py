# SPDX-License-Identifier: Apache-2.0
"""Runs all cases in the interpreter and prints how many there are."""

from __future__ import annotations

import sys

from support.linalg.kernels import CASES, NOT_INTERPRETED, check

ran = [name for name in CASES if name not in NOT_INTERPRETED]
for name in ran:
    try:
        check(name, seed=0)
    except Exception as error:  # the error names every case that fails
        sys.exit(f"{name}: {error}")
print(len(ran))
