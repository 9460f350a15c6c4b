# SPDX-License-Identifier: Apache-2.0
"""JSON as every reader takes it: without the NaN and Infinity that Python writes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def dumps(data: Any) -> str:
    """Returns `data` as JSON that ends with a newline. A float that JSON lacks becomes a text such as ``nan``."""
    return json.dumps(_finite(data), indent=1, default=str, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return value
