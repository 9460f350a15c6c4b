# SPDX-License-Identifier: Apache-2.0
"""Autotuning over configurations and pipelines.

`autotune` is `triton.autotune` with a second dimension, `sweep` and `product` make the pipelines to try.
"""

from __future__ import annotations

from .candidates import Candidate, product, sweep
from .decorator import autotune
from .jobs import TensorSpec
from .report import Report, Row, TuningError
from .tuner import Autotuner

__all__ = ["Autotuner", "Candidate", "Report", "Row", "TensorSpec", "TuningError", "autotune", "product", "sweep"]
