# SPDX-License-Identifier: Apache-2.0
"""Writes what each input computes in the interpreter: ``python -m support.linalg.shared_inputs FILE``."""

from __future__ import annotations

import sys

import torch

from support.linalg.shared_inputs import INPUTS, NUMBERS, run

torch.save({name: [run(name, numbers) for numbers in NUMBERS] for name in INPUTS}, sys.argv[1])
