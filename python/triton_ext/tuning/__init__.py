# SPDX-License-Identifier: Apache-2.0
"""Autotuning over configurations and pipelines.

`autotune` is `triton.autotune` with a second dimension, the pipelines; `sweep` and `product` make pipelines to try.
"""

from __future__ import annotations

from .candidates import Candidate, product, sweep
from .decorator import autotune
from .job import TensorSpec
from .on_ray import RayExecutor
from .report import Report, Row, TuningError
from .tuner import Autotuner

__all__ = [
    "Autotuner",
    "Candidate",
    "RayExecutor",
    "Report",
    "Row",
    "TensorSpec",
    "TuningError",
    "autotune",
    "product",
    "sweep",
]
