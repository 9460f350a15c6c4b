# SPDX-License-Identifier: Apache-2.0
"""Runs all cases and saves their results in the file that is named on the command line."""

from __future__ import annotations

import sys

import numpy as np

from support.cpu.interpreter_cases import CASES, results

np.seterr(all="ignore")  # wrapping integers are what is wanted
np.savez(sys.argv[1], **{f"{name} {i}": array for name in CASES for i, array in enumerate(results(name))})
