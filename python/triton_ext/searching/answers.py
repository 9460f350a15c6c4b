# SPDX-License-Identifier: Apache-2.0
"""Reads what workers answered: their result, or how they failed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..tuning.outcome import Outcome
from ..tuning.resilient import worker_error
from .task import Measured


def measured_of(result: Any) -> Measured:
    """Returns the measurement, or one that says why there is none."""
    return result if isinstance(result, Measured) else Measured(outcome_of(result))


def outcome_of(result: Any) -> Outcome:
    """Returns the outcome for a job whose worker returned nothing else."""
    if isinstance(result, Outcome):
        return replace(result, error=None)
    return worker_error(result if isinstance(result, Exception) else RuntimeError("the worker did not answer"))
